//! Parses the body of a template: sections, groups, bullets, and the guards that apply to each.

use super::guard::{Guard, Mark, mark};

/// The parsed text of a template.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Body {
    /// `# Title`
    pub(super) title: Option<String>,
    /// The content, in order.
    pub(super) pieces: Vec<Piece>,
    /// Problems, by line.
    pub(super) problems: Vec<Problem>,
    /// The guards by index; `None` if it cannot be evaluated.
    pub(super) guards: Vec<Option<Guard>>,
    guard_lines: Vec<usize>,
}

/// A problem in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line of the file.
    pub line: usize,
    /// The rule that is violated.
    pub rule: Rule,
    /// A description for the author.
    pub message: String,
}

/// The rules for templates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The file can be read.
    File,
    /// The header is valid.
    Header,
    /// Sections are known and not empty.
    Section,
    /// Guards can be evaluated, and each end has a beginning.
    Guard,
    /// Required templates exist.
    Requires,
    /// The template is not too long.
    Size,
}

impl Rule {
    /// The text form in JSON and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Header => "header",
            Self::Section => "section",
            Self::Guard => "guard",
            Self::Requires => "requires",
            Self::Size => "size",
        }
    }
}

/// The sections of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Profile,
    Apply,
    Avoid,
    Checklist,
    Reference,
}

impl Section {
    /// The section of a heading, in any spelling.
    fn of(heading: &str) -> Option<Self> {
        match heading.trim().to_lowercase().as_str() {
            "profile" | "specialist profile" => Some(Self::Profile),
            "patterns to apply" | "patterns to follow" => Some(Self::Apply),
            "patterns to avoid" => Some(Self::Avoid),
            "checklist" | "verification checklist" => Some(Self::Checklist),
            "reference" | "code patterns (reference)" | "code patterns" => Some(Self::Reference),
            _ => None,
        }
    }

    /// The name used when part of it is left out.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Apply => "patterns to apply",
            Self::Avoid => "patterns to avoid",
            Self::Checklist => "checklist",
            Self::Reference => "reference",
        }
    }
}

/// One bullet, line of prose, or code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) section: Section,
    /// The `###` heading above it.
    pub(super) group: Option<String>,
    pub(super) kind: Kind,
    pub(super) text: String,
    /// The guards that must hold, by index.
    pub(super) guards: Vec<usize>,
}

/// The form of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bullet and its nesting level.
    Bullet(usize),
    /// A line of prose.
    Prose,
    /// Code, with the language of its fence.
    Code(String),
}

/// The most pieces of a template that are read.
const MOST_PIECES: usize = 500;

/// A guard in effect.
struct Open {
    number: usize,
    /// A heading of this level or a higher one ends it.
    level: usize,
    /// Whether it directly precedes a deeper heading, whose content it guards.
    before_heading: bool,
}

/// The position of the parser.
#[derive(Default)]
struct Cursor {
    section: Option<Section>,
    group: Option<String>,
    /// The level of the heading above.
    level: usize,
    open: Option<Open>,
    /// Whether the section has content.
    used: bool,
}

impl Cursor {
    fn guards(&self) -> Vec<usize> {
        self.open.iter().map(|open| open.number).collect()
    }
}

impl Body {
    /// Parses a body. `first_line` is its first line in the file.
    pub(super) fn parse(text: &str, first_line: usize) -> Self {
        let mut body = Self::default();
        let mut cursor = Cursor { level: 1, ..Cursor::default() };
        let mut lines = text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let at = number + first_line;
            let trimmed = line.trim();
            if body.pieces.len() >= MOST_PIECES {
                body.problem(at, Rule::Size, "the template has too many lines");
                break;
            }
            if let Some((fence, info)) = fence_of(trimmed) {
                let code = code(&mut lines, fence);
                body.say(&mut cursor, Kind::Code(info.to_owned()), code, Vec::new());
            } else if let Some((depth, heading)) = heading_of(trimmed) {
                body.heading(&mut cursor, at, depth, heading);
            } else if trimmed.starts_with("<!--") {
                let mut rest = lines.clone().map(|(_, line)| line.trim());
                let next = rest.find(|line| !line.is_empty()).and_then(heading_of);
                body.comment(&mut cursor, at, trimmed, next.map(|(depth, _)| depth));
            } else if !trimmed.is_empty() && !is_rule(trimmed) {
                body.line(&mut cursor, at, line);
            }
        }
        if body.pieces.is_empty() {
            body.problem(first_line, Rule::Section, "nothing is said in any known section");
        }
        for number in 0..body.guards.len() {
            if body.pieces.iter().all(|piece| !piece.guards.contains(&number)) {
                let line = body.guard_lines[number];
                body.problem(line, Rule::Guard, "the guard ends before anything is said");
            }
        }
        body.problems.sort_by_key(|problem| problem.line);
        body
    }

    fn heading(&mut self, cursor: &mut Cursor, at: usize, depth: usize, heading: &str) {
        match &mut cursor.open {
            Some(open) if open.before_heading => open.before_heading = false,
            Some(open) if depth <= open.level => cursor.open = None,
            Some(_) | None => {}
        }
        cursor.level = depth;
        match depth {
            1 => {
                if self.title.is_none() {
                    self.title = Some(heading.to_owned());
                }
            }
            2 => {
                if cursor.section.is_some() && !cursor.used {
                    self.problem(at, Rule::Section, "the section above has nothing in it");
                }
                (cursor.section, cursor.group, cursor.used) = (Section::of(heading), None, false);
                if cursor.section.is_none() {
                    self.problem(at, Rule::Section, format!("there is no section `{heading}`"));
                }
            }
            _ => cursor.group = Some(heading.to_owned()),
        }
    }

    fn comment(&mut self, cursor: &mut Cursor, at: usize, comment: &str, next: Option<usize>) {
        match mark(comment) {
            Some(Mark::Begin(guard)) => {
                let deeper = next.filter(|depth| *depth > cursor.level);
                let number = self.guard(at, guard);
                let level = deeper.unwrap_or(cursor.level);
                cursor.open = Some(Open { number, level, before_heading: deeper.is_some() });
            }
            Some(Mark::End) if cursor.open.is_none() => {
                self.problem(at, Rule::Guard, "no guard is open here");
            }
            Some(Mark::End) => cursor.open = None,
            None => {}
        }
    }

    /// A line of a section. Text before the first section, such as disclaimers, is ignored.
    fn line(&mut self, cursor: &mut Cursor, at: usize, line: &str) {
        let trimmed = line.trim();
        // A guard at the end of a line only applies to that line.
        let (mut words, mut own) = (trimmed, Vec::new());
        if let Some(start) = trimmed.rfind("<!--")
            && let Some(Mark::Begin(guard)) = mark(&trimmed[start..])
        {
            words = trimmed[..start].trim_end();
            own.push(self.guard(at, guard));
        }
        let indent = line.len() - line.trim_start().len();
        let (kind, words) = match bullet_of(words) {
            Some(words) => (Kind::Bullet((indent / 2).min(2)), words),
            None => (Kind::Prose, words),
        };
        // A bullet may continue on the next line.
        if kind == Kind::Prose
            && indent > 0
            && own.is_empty()
            && let Some(last) = self.pieces.last_mut()
            && Some(last.section) == cursor.section
            && matches!(last.kind, Kind::Bullet(_))
        {
            last.text.push(' ');
            last.text.push_str(words);
            return;
        }
        self.say(cursor, kind, words.to_owned(), own);
    }

    fn say(&mut self, cursor: &mut Cursor, kind: Kind, text: String, own: Vec<usize>) {
        if let Some(section) = cursor.section {
            cursor.used = true;
            let mut guards = cursor.guards();
            guards.extend(own);
            let group = cursor.group.clone();
            self.pieces.push(Piece { section, group, kind, text, guards });
        }
    }

    fn guard(&mut self, line: usize, guard: Result<Guard, String>) -> usize {
        self.guard_lines.push(line);
        match guard {
            Ok(guard) => self.guards.push(Some(guard)),
            Err(message) => {
                self.problem(line, Rule::Guard, message);
                self.guards.push(None);
            }
        }
        self.guards.len() - 1
    }

    fn problem(&mut self, line: usize, rule: Rule, message: impl Into<String>) {
        self.problems.push(Problem { line, rule, message: message.into() });
    }
}

/// The length, mark and language of an opening fence.
fn fence_of(line: &str) -> Option<((char, usize), &str)> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let width = line.chars().take_while(|c| *c == mark).count();
    let info = line[width..].trim();
    (width >= 3 && !(mark == '`' && info.contains('`'))).then_some(((mark, width), info))
}

/// The lines up to the end of a fence.
fn code<'t>(
    lines: &mut impl Iterator<Item = (usize, &'t str)>,
    (mark, width): (char, usize),
) -> String {
    let mut code = String::new();
    for (_, line) in lines {
        let trimmed = line.trim();
        let closes = trimmed.chars().all(|c| c == mark) && trimmed.chars().count() >= width;
        if closes {
            break;
        }
        code.push_str(line);
        code.push('\n');
    }
    code
}

/// The level and text of a heading.
fn heading_of(line: &str) -> Option<(usize, &str)> {
    let depth = line.bytes().take_while(|b| *b == b'#').count();
    let text = line[depth..].strip_prefix([' ', '\t'])?;
    (1..=6).contains(&depth).then(|| (depth, text.trim().trim_end_matches('#').trim_end()))
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|b| b == b'-')
}

/// The text of a bullet, without check box and crosses.
fn bullet_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+'])?.strip_prefix([' ', '\t'])?.trim_start();
    let rest = rest.strip_prefix("[ ]").or_else(|| rest.strip_prefix("[x]")).unwrap_or(rest);
    Some(rest.trim_start().trim_start_matches(['❌', '✅']).trim_start())
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod body_tests;
