//! Assembles the block and makes it fit.
//!
//! Everything that could be included is a line with its cost. Lines are dropped in a predetermined order, so
//! that equal input produces equal bytes; the whole text is counted, not the sum of its lines.

use std::collections::BTreeMap;
use std::fmt::Write;

use handover_model::Role;
use handover_text::Redactor;
use handover_text::quote::{quote_code, quote_inline};
use handover_text::tokens::{self, Tokenizer};

use super::body::{Body, Kind, Section};
use super::select::Selected;
use super::templates::Source;
use crate::stack::View;

/// The heading of the block, which agents' instructions refer to.
pub(super) const HEADING: &str = "## SPECIALIZATION GUIDANCE (Advisory)";

const ADVICE: &str = "Guidance about the technology only: your task, your role and the project's own rules come first.";

const ADVICE_TRIMMED: &str = "advice";

/// What a template keeps of a section before higher-ranked templates lose anything.
const KEPT_APPLY: usize = 3;
const KEPT_AVOID: usize = 2;
const KEPT_CHECKLIST: usize = 3;

/// The tokens a template needs to be worthwhile, and the tokens of the frame.
const WORTH: u64 = 210;
const FRAME: u64 = 80;

/// The order of sections for a role, and whether it receives code.
struct Focus {
    order: &'static [Section],
    code: bool,
}

impl Focus {
    /// Testers, reviewers and investigators look for problems and write no implementation.
    fn of(role: &Role) -> Self {
        use Section::{Apply, Avoid, Checklist, Reference};
        match role.as_str() {
            "tech_lead" => Self { order: &[Avoid, Checklist, Apply], code: false },
            "investigator" => Self { order: &[Avoid, Apply, Checklist], code: false },
            "qa_expert" => Self { order: &[Apply, Checklist, Avoid], code: false },
            "requirements_engineer" | "project_manager" => {
                Self { order: &[Apply, Avoid, Checklist], code: false }
            }
            _ => Self { order: &[Apply, Avoid, Checklist, Reference], code: true },
        }
    }
}

const fn heading(section: Section) -> &'static str {
    match section {
        Section::Profile => "",
        Section::Apply => "### Patterns to Apply",
        Section::Avoid => "### Patterns to Avoid",
        Section::Checklist => "### Verification Checklist",
        Section::Reference => "### Reference",
    }
}

/// A line of the block.
struct Line {
    /// The template, by position in the selection.
    template: usize,
    section: Section,
    /// `**Rust: Errors**`
    label: String,
    kind: Kind,
    text: String,
    tokens: u64,
    /// How many bullets of the same template and section precede it.
    before: usize,
    kept: bool,
}

pub(super) struct Block {
    pub(super) text: String,
    pub(super) tokens: u64,
    /// What was left out, in words.
    pub(super) trimmed: Vec<String>,
    /// Which of the selected templates are included.
    pub(super) used: Vec<bool>,
    /// Problems in templates.
    pub(super) notes: Vec<String>,
    /// Secrets removed, by rule.
    pub(super) redactions: BTreeMap<String, u64>,
}

impl Block {
    /// Whether only the identity is left.
    fn is_bare(&self) -> bool {
        self.trimmed.first().is_some_and(|word| word == ADVICE_TRIMMED)
    }
}

/// The input of a block.
pub(super) struct Parts<'a> {
    pub(super) role: &'a Role,
    pub(super) identity: &'a str,
    pub(super) selected: &'a [Selected<'a>],
    pub(super) view: &'a View,
    pub(super) tokenizer: Tokenizer,
    pub(super) budget: u64,
    pub(super) redactor: &'a Redactor,
}

/// Composes the block within its budget.
pub(super) fn compose(parts: &Parts<'_>) -> Block {
    let mut block = Block {
        text: String::new(),
        tokens: 0,
        trimmed: Vec::new(),
        used: Vec::new(),
        notes: Vec::new(),
        redactions: BTreeMap::new(),
    };
    let focus = Focus::of(parts.role);
    let mut lines = lines(parts, &focus, &mut block);
    let victims = victims(&lines, parts);
    let mut gone = 0;
    loop {
        block.text = render(parts, &focus, &lines);
        block.tokens = tokens::count(parts.tokenizer, &block.text);
        let Some(mut excess) = block.tokens.checked_sub(parts.budget).filter(|e| *e > 0) else {
            break;
        };
        if gone == victims.len() {
            bare(parts, &mut block);
            break;
        }
        while excess > 0
            && let Some(&victim) = victims.get(gone)
        {
            lines[victim].kept = false;
            excess = excess.saturating_sub(lines[victim].tokens);
            gone += 1;
        }
    }
    give_back(parts, &focus, &mut lines, &victims[..gone], &mut block);
    report(parts, &lines, &mut block);
    block
}

/// Dropping single lines also drops their headings: restore lines that fit again, last dropped first.
fn give_back(
    parts: &Parts<'_>,
    focus: &Focus,
    lines: &mut [Line],
    gone: &[usize],
    block: &mut Block,
) {
    for &line in gone.iter().rev() {
        if block.is_bare() || block.tokens + lines[line].tokens > parts.budget {
            return;
        }
        lines[line].kept = true;
        let text = render(parts, focus, lines);
        let tokens = tokens::count(parts.tokenizer, &text);
        if tokens > parts.budget {
            lines[line].kept = false;
            return;
        }
        (block.text, block.tokens) = (text, tokens);
    }
}

/// Only the identity is left: without its frame, and if even that is too long, nothing.
fn bare(parts: &Parts<'_>, block: &mut Block) {
    let forms = [
        format!("{HEADING}\n\n**{}**\n", parts.identity),
        format!("{}\n", parts.identity),
        String::new(),
    ];
    block.trimmed.push(ADVICE_TRIMMED.to_owned());
    for text in forms {
        let count = tokens::count(parts.tokenizer, &text);
        if count <= parts.budget {
            if text.is_empty() {
                block.trimmed.push("identity".to_owned());
            }
            (block.text, block.tokens) = (text, count);
            return;
        }
    }
}

/// Everything that could be included, in the order of templates.
fn lines(parts: &Parts<'_>, focus: &Focus, block: &mut Block) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (number, selected) in parts.selected.iter().enumerate() {
        let template = selected.template;
        let (name, trusted) = (&template.header.name, template.source == Source::BuiltIn);
        let body = template.body();
        for problem in &body.problems {
            block
                .notes
                .push(format!("template {name}, line {}: {}", problem.line, problem.message));
        }
        let mut clean = |text: &str| -> String {
            if trusted {
                return text.to_owned();
            }
            let clean = parts.redactor.clean(text);
            for (rule, count) in clean.redactions_by_rule() {
                *block.redactions.entry(rule.clone()).or_default() += u64::from(*count);
            }
            clean.as_str().to_owned()
        };
        let inline = |text: &str| if trusted { text.to_owned() } else { quote_inline(text) };
        let title = inline(&clean(body.title.as_deref().unwrap_or(name)));
        let shown = open_guards(&body, parts.view);
        let mut bullets: BTreeMap<Section, usize> = BTreeMap::new();
        for piece in &body.pieces {
            let is_code = matches!(piece.kind, Kind::Code(_));
            let is_in = piece.section == Section::Profile || focus.order.contains(&piece.section);
            if !is_in || is_code && !focus.code || piece.guards.iter().any(|guard| !shown[*guard]) {
                continue;
            }
            let label = match &piece.group {
                Some(group) => format!("**{title}: {}**", inline(&clean(group))),
                None if parts.selected.len() > 1 => format!("**{title}**"),
                None => String::new(),
            };
            let words = clean(&piece.text);
            let text = match (&piece.kind, piece.section) {
                (Kind::Code(language), _) => quote_code(&words, language),
                (Kind::Bullet(_), Section::Checklist) => format!("- [ ] {}", inline(&words)),
                (Kind::Bullet(depth), _) => format!("{}- {}", "  ".repeat(*depth), inline(&words)),
                (Kind::Prose, _) => inline(&words),
            };
            let cost = tokens::count(parts.tokenizer, &format!("{text}\n"));
            let before = *bullets.get(&piece.section).unwrap_or(&0);
            if matches!(piece.kind, Kind::Bullet(_)) {
                bullets.insert(piece.section, before + 1);
            }
            lines.push(Line {
                template: number,
                section: piece.section,
                label,
                kind: piece.kind.clone(),
                text,
                tokens: cost,
                before,
                kept: true,
            });
        }
    }
    lines
}

/// Which guards hold; a guard that cannot be evaluated does not.
fn open_guards(body: &Body, view: &View) -> Vec<bool> {
    body.guards.iter().map(|guard| guard.as_ref().is_some_and(|guard| guard.holds(view))).collect()
}

/// The order in which lines are dropped: code, explanations, the bullets of the least important templates
/// from their ends, check lists last.
fn victims(lines: &[Line], parts: &Parts<'_>) -> Vec<usize> {
    // What the role needs is dropped last, then what is shown first.
    let mut ranks: Vec<usize> = (0..parts.selected.len()).collect();
    ranks.sort_by_key(|&number| {
        let one = &parts.selected[number];
        (!one.added, one.aside, number)
    });
    let most = usize::try_from(parts.budget.saturating_sub(FRAME) / WORTH).unwrap_or(usize::MAX);
    let (best, rest) = ranks.split_at(most.max(1).min(ranks.len()));
    let mut order: Vec<usize> = Vec::new();
    let mut gone = vec![false; lines.len()];
    let mut go = |templates: &[usize], choose: &dyn Fn(&Line) -> bool| {
        for template in templates.iter().rev() {
            for (at, line) in lines.iter().enumerate().rev() {
                if line.template == *template && !gone[at] && choose(line) {
                    gone[at] = true;
                    order.push(at);
                }
            }
        }
    };
    let is_bullet = |line: &Line| matches!(line.kind, Kind::Bullet(_));
    go(&ranks, &|line| line.section == Section::Reference || matches!(line.kind, Kind::Code(_)));
    go(&ranks, &|line| line.section == Section::Profile || line.kind == Kind::Prose);
    go(rest, &|_| true);
    go(best, &|line| match line.section {
        Section::Apply => is_bullet(line) && line.before >= KEPT_APPLY,
        Section::Avoid => is_bullet(line) && line.before >= KEPT_AVOID,
        Section::Profile | Section::Checklist | Section::Reference => false,
    });
    go(best, &|line| line.section == Section::Checklist && line.before >= KEPT_CHECKLIST);
    go(best, &|line| line.section != Section::Checklist);
    go(best, &|_| true);
    order
}

fn render(parts: &Parts<'_>, focus: &Focus, lines: &[Line]) -> String {
    let mut text = format!("{HEADING}\n\n");
    if lines.iter().any(|line| line.kept) {
        let _ = write!(text, "{ADVICE}\n\n");
    }
    let _ = writeln!(text, "**{}**", parts.identity);
    let kept = |section: Section| lines.iter().filter(move |l| l.kept && l.section == section);
    let mut profile = kept(Section::Profile).peekable();
    if profile.peek().is_some() {
        text.push('\n');
    }
    for line in profile {
        text.push_str(&line.text);
        text.push('\n');
    }
    for section in focus.order {
        let mut label = "";
        let mut first = true;
        for line in kept(*section) {
            if first {
                let _ = write!(text, "\n{}\n\n", heading(*section));
            }
            // All check lists form one list.
            if line.label != label && *section != Section::Checklist {
                let _ = writeln!(text, "{}{}", if first { "" } else { "\n" }, line.label);
                label = &line.label;
            }
            text.push_str(&line.text);
            text.push('\n');
            first = false;
        }
    }
    text
}

/// Describes what was dropped.
fn report(parts: &Parts<'_>, lines: &[Line], block: &mut Block) {
    let bare = block.is_bare();
    for (number, selected) in parts.selected.iter().enumerate() {
        let name = &selected.template.header.name;
        let own = || lines.iter().filter(|line| line.template == number);
        let kept = own().filter(|line| line.kept && !bare).count();
        block.used.push(kept > 0);
        if kept == 0 && own().next().is_some() {
            block.trimmed.push(name.clone());
            continue;
        }
        for section in [
            Section::Profile,
            Section::Apply,
            Section::Avoid,
            Section::Checklist,
            Section::Reference,
        ] {
            let all = own().filter(|line| line.section == section).count();
            let gone = own().filter(|line| line.section == section && !line.kept).count();
            match gone {
                0 => {}
                _ if gone == all => block.trimmed.push(format!("{name}: {}", section.name())),
                _ => block.trimmed.push(format!("{name}: {} ({gone} of {all})", section.name())),
            }
        }
    }
}
