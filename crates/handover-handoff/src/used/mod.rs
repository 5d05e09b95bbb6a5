//! What became of each item of a brief, by what its agent did afterwards. Pure: texts in, a judgement out.
//!
//! An item was **opened** if a tool read its file, **named** if the agent wrote its path or id, and **echoed** if
//! the agent wrote words or numbers that it can only have from this item, or from it and one other: not from its task,
//! not from the rest of the brief, and not from what a tool showed it before.

mod tools;
mod words;

use std::collections::{HashMap, HashSet};

use handover_model::{ItemKind, Trace, TraceStep as Step, Use};
use handover_text::sentences::sentences;

use tools::{reads, texts};
use words::{NAME, telling};

/// How much of a sentence's telling words must return if no name or number is among them.
const SHARE: f64 = 0.5;

/// How many of them at least.
const WORDS: u32 = 2;

/// How many items may share a word that gives them away: what an agent decided is often in its reasoning and in a
/// package. A word of more items says nothing about any of them.
const OWNERS: usize = 2;

/// An item of a brief, as its agent saw it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BriefItem {
    /// Its id, as an agent may write it: `package 7`, `n_1f09`.
    pub names: Vec<String>,
    /// Its file, or the file that it was learned from.
    pub path: Option<String>,
    /// What the brief says of it.
    pub text: String,
}

impl BriefItem {
    /// An item with its id; numbers are only names together with the kind.
    pub fn new(kind: ItemKind, id: &str, path: Option<String>, text: String) -> Self {
        let is_number = id.bytes().all(|byte| byte.is_ascii_digit());
        let names = match is_number {
            true => {
                vec![format!("{kind} {id}"), format!("{kind} #{id}"), format!("{kind} show {id}")]
            }
            // Lists show the last six characters.
            false if id.len() >= 6 => vec![id.to_owned()],
            false => Vec::new(),
        };
        Self { names, path, text }
    }
}

/// Judges every item. `around` is what the brief says besides them.
pub fn judge(items: &[BriefItem], brief: &str, around: &str, trace: &Trace) -> Vec<Use> {
    let mut judge = Judge::new(items, brief, around, trace);
    for step in trace.steps() {
        judge.see(step);
    }
    judge.found
}

struct Judge<'a> {
    items: &'a [BriefItem],
    found: Vec<Use>,
    /// What the agent was given besides its brief, and the same in small letters.
    task: String,
    lowered: String,
    /// The names of files that only one item has and everybody would recognize.
    files: Vec<Option<&'a str>>,
    /// The sentences of the items: which item, and what its telling words weigh together.
    sentences: Vec<(usize, u32)>,
    /// In which sentences a telling word is.
    index: HashMap<String, Vec<(usize, u32)>>,
    /// The telling words that tools have shown.
    shown: HashSet<String>,
    /// The calls that failed.
    failed: HashSet<&'a str>,
}

impl<'a> Judge<'a> {
    fn new(items: &'a [BriefItem], brief: &str, around: &str, trace: &'a Trace) -> Self {
        let told = trace.steps().iter().filter_map(|step| match step {
            Step::Given(text) => Some(without(text, brief)),
            Step::Said(_) | Step::Called(_) | Step::Shown { .. } => None,
        });
        let task = told.collect::<Vec<_>>().join("\n");
        let failed = trace.steps().iter().filter_map(|step| match step {
            Step::Shown { call, failed: true, .. } => Some(call.as_str()),
            Step::Given(_) | Step::Said(_) | Step::Called(_) | Step::Shown { .. } => None,
        });
        let mut judge = Self {
            items,
            found: vec![Use::Unused; items.len()],
            files: files(items, &task.to_lowercase()),
            sentences: Vec::new(),
            index: HashMap::new(),
            shown: HashSet::new(),
            failed: failed.collect(),
            lowered: task.to_lowercase(),
            task,
        };
        judge.learn(around);
        judge
    }

    /// Indexes the words that give an item away.
    fn learn(&mut self, around: &str) {
        let mut known: HashSet<String> = telling(&self.task).into_keys().collect();
        known.extend(telling(around).into_keys());
        let mut owners: HashMap<String, usize> = HashMap::new();
        for item in self.items {
            for word in telling(&item.text).into_keys() {
                *owners.entry(word).or_default() += 1;
            }
        }
        for (at, item) in self.items.iter().enumerate() {
            for sentence in sentences(&item.text) {
                let mut own = telling(sentence);
                own.retain(|word, _| {
                    !known.contains(word) && owners.get(word).is_some_and(|count| *count <= OWNERS)
                });
                let number = self.sentences.len();
                self.sentences.push((at, own.values().sum()));
                for (word, weight) in own {
                    self.index.entry(word).or_default().push((number, weight));
                }
            }
        }
    }

    fn see(&mut self, step: &'a Step) {
        match step {
            Step::Given(_) => {}
            Step::Said(text) => self.wrote(text),
            Step::Called(call) => {
                if !self.failed.contains(call.id.as_str()) {
                    for read in reads(call) {
                        self.opened(&read);
                    }
                }
                for text in texts(call) {
                    self.wrote(&text);
                }
            }
            Step::Shown { text, .. } => self.shown.extend(telling(text).into_keys()),
        }
    }

    fn raise(&mut self, at: usize, used: Use) {
        self.found[at] = self.found[at].max(used);
    }

    fn opened(&mut self, read: &str) {
        for (at, item) in self.items.iter().enumerate() {
            let file = item.path.as_deref().is_some_and(|path| mentions(read, path));
            if file || item.names.iter().any(|name| mentions(read, name)) {
                self.raise(at, Use::Opened);
            }
        }
    }

    fn wrote(&mut self, text: &str) {
        for at in 0..self.items.len() {
            if self.found[at] < Use::Named && self.names(at, text) {
                self.raise(at, Use::Named);
            }
        }
        for line in text.lines() {
            self.echoes(line);
        }
    }

    /// Whether a text has the path or the id of an item, which the task does not have.
    fn names(&self, at: usize, text: &str) -> bool {
        let item = &self.items[at];
        let path = item.path.as_deref().into_iter().chain(self.files[at]);
        let mut names = item.names.iter().map(String::as_str).chain(path);
        names.any(|name| mentions(text, name) && !mentions(&self.lowered, &name.to_lowercase()))
    }

    /// Finds the sentences of items whose words are in a line that the agent wrote.
    fn echoes(&mut self, line: &str) {
        let mut matched: HashMap<usize, (u32, u32)> = HashMap::new();
        for word in telling(line).into_keys().filter(|word| !self.shown.contains(word)) {
            for (sentence, weight) in self.index.get(&word).into_iter().flatten() {
                let (sum, most) = matched.entry(*sentence).or_default();
                *sum += weight;
                *most = (*most).max(*weight);
            }
        }
        for (sentence, (sum, most)) in matched {
            let (at, whole) = self.sentences[sentence];
            let share = f64::from(sum) / f64::from(whole.max(1));
            if most >= NAME || sum >= WORDS && share >= SHARE {
                self.raise(at, Use::Echoed);
            }
        }
    }
}

/// What was said besides the brief.
fn without(text: &str, brief: &str) -> String {
    let brief = brief.trim();
    if !brief.is_empty() && text.contains(brief) {
        return text.replace(brief, "\n");
    }
    // A program may have changed it on the way.
    const START: &str = "## Context for ";
    const END: &str = "<!-- handover:receipt ";
    match (text.find(START), text.rfind(END)) {
        (Some(start), Some(end)) if start < end => {
            format!("{}\n{}", &text[..start], &text[end + END.len()..])
        }
        _ => text.to_owned(),
    }
}

/// The file names that can be meant by themselves.
fn files<'a>(items: &'a [BriefItem], task: &str) -> Vec<Option<&'a str>> {
    let name = |item: &'a BriefItem| {
        item.path.as_deref().map(|path| path.rsplit('/').next().unwrap_or(path))
    };
    let all: Vec<Option<&str>> = items.iter().map(name).collect();
    let paths: Vec<Option<&str>> = items.iter().map(|item| item.path.as_deref()).collect();
    let is_own = |at: usize, name: &str| {
        let same = |(other, path): (usize, &Option<&str>)| {
            *path == Some(name) && paths[other] != paths[at]
        };
        let usual = name.len() < 8 || words::is_usual(name) || mentions(task, &name.to_lowercase());
        !usual && !all.iter().enumerate().any(same)
    };
    all.iter().enumerate().map(|(at, name)| name.filter(|name| is_own(at, name))).collect()
}

/// Whether a text has a name that does not go on before or behind; a path may be the end of a longer one.
fn mentions(text: &str, name: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + name.len()..].chars();
        let next = after.next();
        let goes_on =
            next.is_some_and(inside) || next == Some('.') && after.next().is_some_and(inside);
        !before.is_some_and(|c| inside(c) || c == '.') && !goes_on
    })
}

#[cfg(test)]
mod tests {
    use handover_model::ToolCall;

    use super::*;

    const BRIEF: &str = "## Context for developer\n\n<!-- handover:receipt r_1 -->";

    fn note(text: &str) -> BriefItem {
        BriefItem::new(ItemKind::Note, "n_1", None, text.to_owned())
    }

    fn file(path: &str) -> BriefItem {
        BriefItem::new(ItemKind::Package, "7", Some(path.to_owned()), String::new())
    }

    fn call(name: &str, input: &str) -> ToolCall {
        ToolCall { id: "t1".to_owned(), name: name.to_owned(), input: input.to_owned() }
    }

    fn trace(task: &str, said: &str) -> Trace {
        let mut trace = Trace::default();
        trace.given(&format!("{BRIEF}\n\n{task}"));
        trace.said(said);
        trace
    }

    #[track_caller]
    fn check(items: &[BriefItem], trace: &Trace, expected: &[Use]) {
        assert_eq!(judge(items, BRIEF, "", trace), expected);
    }

    #[test]
    fn a_file_that_a_tool_read_is_opened_unless_that_failed() {
        let item = [file("docs/a-plan.md")];
        let mut read = trace("do it", "done");
        read.called(call("Read", r#"{"file_path": "/home/ada/p/docs/a-plan.md"}"#));
        check(&item, &read, &[Use::Opened]);
        read.shown("t1", true, "no such file");
        check(&item, &read, &[Use::Named]);
        let mut other = trace("do it", "done");
        other.called(call("Read", r#"{"file_path": "/p/docs/a-plan.md.bak"}"#));
        check(&item, &other, &[Use::Unused]);
    }

    #[test]
    fn a_path_or_id_in_what_it_wrote_is_named() {
        let item = [file("docs/a-plan.md")];
        for said in ["as docs/a-plan.md says", "see `a-plan.md`.", "package 7 has it", "package #7"]
        {
            check(&item, &trace("do it", said), &[Use::Named]);
        }
        for said in ["docs/a-plan.mdx", "other-docs/a-plan2.md", "package 77", "7"] {
            check(&item, &trace("do it", said), &[Use::Unused]);
        }
        // Its task says so already.
        check(&item, &trace("update docs/a-plan.md", "updated docs/a-plan.md"), &[Use::Unused]);
    }

    #[test]
    fn words_that_only_the_item_has_are_an_echo() {
        let item = [note("Answers are sealed before 05:40, when the warehouse imports them.")];
        check(&item, &trace("why so slow?", "It misses the import at 05:40."), &[Use::Echoed]);
        let named = [note("OrderManager was split from CheckoutController.")];
        check(&named, &trace("rename OrderManager", "OrderManager is renamed"), &[Use::Unused]);
        check(&item, &trace("be ready at 05:40", "It is ready at 05:40."), &[Use::Unused]);
        let words = "The warehouse imports what is sealed.";
        check(&item, &trace("why so slow?", words), &[Use::Echoed]);
        check(&item, &trace("why so slow?", "The warehouse is slow."), &[Use::Unused]);
    }

    #[test]
    fn words_of_several_items_of_the_frame_and_of_tools_are_none() {
        let item = note("Set client_max_body_size in the proxy.");
        let said = "client_max_body_size is too small";
        check(std::slice::from_ref(&item), &trace("why?", said), &[Use::Echoed]);
        let mut several = vec![item.clone(), note("The default of client_max_body_size is 1m.")];
        check(&several, &trace("why?", said), &[Use::Echoed, Use::Echoed]);
        several.push(note("Do not raise client_max_body_size."));
        check(&several, &trace("why?", said), &[Use::Unused; 3]);
        let framed = judge(
            std::slice::from_ref(&item),
            BRIEF,
            "nginx: client_max_body_size",
            &trace("why?", said),
        );
        assert_eq!(framed, [Use::Unused]);
        let mut found = Trace::default();
        found.given("why?");
        found.shown("t1", false, "client_max_body_size 10m;");
        found.said(said);
        check(&[item], &found, &[Use::Unused]);
    }

    #[test]
    fn what_it_edits_counts_and_what_it_replaces_does_not() {
        let item = [note("The partner bans clients after 47 seconds, see max_partner_wait.")];
        let edit = |old: &str, new: &str| {
            let mut trace = Trace::default();
            trace.called(call(
                "Edit",
                &format!(r#"{{"old_string": "{old}", "new_string": "{new}"}}"#),
            ));
            trace
        };
        check(&item, &edit("x", "let wait = max_partner_wait;"), &[Use::Echoed]);
        check(&item, &edit("let wait = max_partner_wait;", "x"), &[Use::Unused]);
    }

    #[test]
    fn a_brief_that_the_program_changed_is_no_task() {
        let item = [note("It misses the import at 05:40.")];
        let mut trace = Trace::default();
        trace.given("<x>\n## Context for developer\n> It misses the import at 05:40.\n\n<!-- handover:receipt r_1 -->\nwhy?");
        trace.said("It must be ready at 05:40.");
        check(&item, &trace, &[Use::Echoed]);
    }
}
