//! Which commits were reverted, by what the messages of others say.

use std::collections::HashMap;

/// Abbreviated ids have at least so many characters.
pub(crate) const LEAST: usize = 7;

/// How the first line of a message that takes another commit back starts, in lower case.
const SUBJECTS: &[&str] = &["revert", "reverts", "reverted", "reapply", "back out", "backed out"];

/// What a message takes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A commit by the first digits of its id, in lower case.
    Id(String),
    /// The newest older commit with this subject; see [`subject_of`].
    Subject(String),
    /// The newest older commit whose subject ends with this number of a pull request.
    Number(String),
}

/// What a commit takes back, by its message. Ids say it best; then the pull request, then the subject in quotation marks.
pub(crate) fn targets(message: &str) -> Vec<Target> {
    let ids: Vec<Target> = ids(message).into_iter().map(Target::Id).collect();
    if !ids.is_empty() {
        return ids;
    }
    let first = message.trim_start().lines().next().unwrap_or_default();
    let Some(rest) = after_word(first) else { return Vec::new() };
    let number = message.lines().skip(1).find_map(|line| {
        let reference = line.trim().strip_prefix("Reverts ")?.split_whitespace().next()?;
        let number = reference.split_once('#')?.1.trim_end_matches(['.', ',']);
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.to_owned())
    });
    if let Some(number) = number.filter(|number| !number.is_empty()) {
        return vec![Target::Number(number)];
    }
    let quoted = rest.trim_start_matches([':', ' ']).strip_prefix('"');
    // The quoted subject may have quotation marks itself.
    let quoted = quoted.and_then(|quoted| Some(&quoted[..quoted.rfind('"')?]));
    match quoted.filter(|quoted| !quoted.is_empty()) {
        Some(quoted) => vec![Target::Subject(subject_of(quoted))],
        None => Vec::new(),
    }
}

/// The ids that a message says it reverts: git's own words, or an id right behind the verb.
fn ids(message: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for sentence in ["This reverts commit ", "This reverts commits ", "Reverts commit "] {
        for rest in message.split(sentence).skip(1) {
            ids.extend(listed(rest));
        }
    }
    let first = message.trim_start().lines().next().unwrap_or_default();
    if ids.is_empty()
        && let Some(rest) = after_word(first)
    {
        let rest = rest.trim_start_matches([':', ' ']);
        let rest = rest.strip_prefix("commit ").unwrap_or(rest);
        ids.extend(listed(rest.strip_prefix("changeset ").unwrap_or(rest)));
    }
    ids.dedup();
    ids
}

/// The ids that a list starts with: `1a2b3c4, 2b3c4d5 and 3c4d5e6`.
fn listed(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for word in text.split([' ', '\n', '\r']).filter(|word| !word.is_empty()) {
        let hex = word.trim_end_matches(['.', ',', ';', ':', ')', '"']);
        let is_id = hex.len() >= LEAST
            && hex.len() <= 40
            && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
            && hex.bytes().any(|byte| byte.is_ascii_digit());
        if is_id {
            ids.push(hex.to_ascii_lowercase());
        } else if !matches!(word, "and" | "&" | "-" | "*" | "commit") {
            break;
        }
        if word.ends_with('.') {
            break;
        }
    }
    ids
}

/// What follows the verb that a subject starts with; branch names in brackets may precede it.
fn after_word(subject: &str) -> Option<&str> {
    let subject = match subject.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?.1.trim_start(),
        None => subject,
    };
    let lower = subject.to_ascii_lowercase();
    let follows = |word: &&str| {
        let next = lower.strip_prefix(*word).map(|rest| rest.chars().next());
        next.is_some_and(|next| next.is_none_or(|c| !c.is_alphanumeric()))
    };
    let word = SUBJECTS.iter().find(|word| follows(word))?;
    subject.get(word.len()..)
}

/// A subject as it is compared: without the number of a pull request at its end.
pub(crate) fn subject_of(subject: &str) -> String {
    let subject = subject.trim();
    without_number(subject).map_or(subject, |(subject, _)| subject).to_owned()
}

/// A subject and the number of the pull request at its end: `Add it (#12)`.
fn without_number(subject: &str) -> Option<(&str, &str)> {
    let (rest, number) = subject.trim_end().strip_suffix(')')?.rsplit_once("(#")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| (rest.trim_end(), number))
}

/// The commits of a history, newest first, and what each takes back.
#[derive(Debug, Default)]
pub(crate) struct Reverts {
    commits: Vec<Seen>,
}

#[derive(Debug)]
struct Seen {
    id: String,
    subject: String,
    targets: Vec<Target>,
}

impl Reverts {
    /// Takes the next older commit.
    pub(crate) fn see(&mut self, id: String, subject: &str, targets: Vec<Target>) {
        self.commits.push(Seen { id, subject: subject.trim().to_owned(), targets });
    }

    /// The same by its whole message.
    pub(crate) fn see_message(&mut self, id: &str, message: &str) {
        let subject = message.trim_start().lines().next().unwrap_or_default();
        self.see(id.to_owned(), subject, targets(message));
    }

    /// Who reverted which commit, by ids. A revert that was reverted itself does not count. Commits that were not
    /// seen are known by their whole ids.
    pub(crate) fn resolve(&self) -> HashMap<String, String> {
        let mut places = Places::of(&self.commits);
        let mut by: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, commit) in self.commits.iter().enumerate() {
            for target in &commit.targets {
                match (places.find(target, at), target) {
                    (Some(found), _) => by.entry(&self.commits[found].id).or_default().push(at),
                    (None, Target::Id(id)) if id.len() == 40 => by.entry(id).or_default().push(at),
                    (None, _) => {}
                }
            }
        }
        let mut counts = HashMap::new();
        let found = by.iter().filter_map(|(id, reverts)| {
            let at = reverts.iter().find(|at| self.counts(**at, &by, &mut counts))?;
            Some(((*id).to_owned(), self.commits[*at].id.clone()))
        });
        found.collect()
    }

    /// Whether a commit was not reverted itself.
    fn counts(
        &self,
        at: usize,
        by: &HashMap<&str, Vec<usize>>,
        known: &mut HashMap<usize, bool>,
    ) -> bool {
        if let Some(known) = known.get(&at) {
            return *known;
        }
        // Messages that take each other back end here.
        known.insert(at, true);
        let reverts = by.get(self.commits[at].id.as_str()).map_or(&[][..], Vec::as_slice);
        let counts = !reverts.iter().any(|at| self.counts(*at, by, known));
        known.insert(at, counts);
        counts
    }
}

/// Where commits are in a history.
struct Places<'c> {
    /// Sorted.
    ids: Vec<(&'c str, usize)>,
    subjects: HashMap<String, Vec<usize>>,
    numbers: HashMap<&'c str, Vec<usize>>,
}

impl<'c> Places<'c> {
    fn of(commits: &'c [Seen]) -> Self {
        let mut ids: Vec<(&str, usize)> =
            commits.iter().enumerate().map(|(at, commit)| (commit.id.as_str(), at)).collect();
        ids.sort_unstable();
        let (mut subjects, mut numbers): (HashMap<_, Vec<_>>, HashMap<_, Vec<_>>) =
            Default::default();
        for (at, commit) in commits.iter().enumerate().rev() {
            subjects.entry(subject_of(&commit.subject)).or_default().push(at);
            if let Some((_, number)) = without_number(&commit.subject) {
                numbers.entry(number).or_default().push(at);
            }
        }
        Self { ids, subjects, numbers }
    }

    /// The commit that a target stands for, seen from the one at this place. A subject stands for each commit
    /// once.
    fn find(&mut self, target: &Target, from: usize) -> Option<usize> {
        let list = match target {
            Target::Id(start) => {
                let at = self.ids.partition_point(|(id, _)| *id < start.as_str());
                let (id, at) = self.ids.get(at)?;
                return id.starts_with(start.as_str()).then_some(*at);
            }
            Target::Subject(subject) => self.subjects.get_mut(subject)?,
            Target::Number(number) => self.numbers.get_mut(number.as_str())?,
        };
        // Oldest first.
        let at = list.iter().rposition(|at| *at > from)?;
        Some(list.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Vec<Target> {
        vec![Target::Id(text.to_owned())]
    }

    #[test]
    fn messages_say_what_they_take_back() {
        let long = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(targets(&format!("Revert \"x\"\n\nThis reverts commit {long}.")), id(long));
        assert_eq!(targets("Slow\n\nThis reverts commit 1A2B3C4d, too slow"), id("1a2b3c4d"));
        let two = targets("Undo\n\nThis reverts commits 1a2b3c4 and 2b3c4d5.");
        assert_eq!(two, [id("1a2b3c4"), id("2b3c4d5")].concat());
        assert_eq!(targets("Revert 1a2b3c4: it is slow"), id("1a2b3c4"));
        assert_eq!(targets("revert: commit 1a2b3c4"), id("1a2b3c4"));
        let subject = vec![Target::Subject("Add \"a\" cache".to_owned())];
        assert_eq!(targets("Revert \"Add \"a\" cache (#12)\" (#13)"), subject);
        assert_eq!(targets("[2.x] Reverted \"Add \"a\" cache\"."), subject);
        assert_eq!(
            targets("Revert \"Add it\" (#13)\n\nReverts some/project#12"),
            [Target::Number("12".to_owned())]
        );
        for message in [
            "Reverting is possible",
            "Revert the cache",
            "This partially reverts commit 1a2b3c4",
            "Add a button \"Revert\"",
            "Revert \"\"",
            "This reverts commit é.",
            "",
        ] {
            assert_eq!(targets(message), [], "{message}");
        }
    }

    /// Which of these commits, newest first, were reverted by which.
    fn resolved(commits: &[(&str, &str)]) -> Vec<(char, char)> {
        let mut reverts = Reverts::default();
        for (id, message) in commits {
            reverts.see_message(&id.repeat(40), message);
        }
        let first = |text: &str| text.chars().next().unwrap();
        let found = reverts.resolve();
        let mut found: Vec<_> = found.iter().map(|(of, by)| (first(of), first(by))).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_reverted_revert_does_not_count() {
        let (first, second) = ("This reverts commit 11111111.", "This reverts commit 22222222.");
        assert_eq!(resolved(&[("2", first), ("1", "Add it")]), [('1', '2')]);
        // The order does not matter: ids are unambiguous.
        assert_eq!(resolved(&[("1", "Add it"), ("2", first)]), [('1', '2')]);
        let reapplied = [("3", second), ("2", first), ("1", "Add it")];
        assert_eq!(resolved(&reapplied), [('2', '3')]);
        let again = [("4", first), ("3", second), ("2", first), ("1", "Add it")];
        assert_eq!(resolved(&again), [('1', '4'), ('2', '3')]);
        let merge = format!("This reverts commit {}.", "9".repeat(40));
        assert_eq!(resolved(&[("2", merge.as_str())]), [('9', '2')]);
        assert_eq!(resolved(&[("2", second)]), []);
    }

    #[test]
    fn a_subject_stands_for_the_newest_older_commit() {
        let history = [
            ("d", "Add it (#3)"),
            ("c", "Revert \"Add it\" (#2)"),
            ("b", "Add it (#1)"),
            ("a", "Add it"),
            ("9", "Revert it\n\nReverts a/b#7."),
            ("8", "Add that (#7)"),
        ];
        assert_eq!(resolved(&history), [('8', '9'), ('b', 'c')]);
        let reapplied =
            [("3", "Revert \"Revert \"Add it\"\""), ("2", "Revert \"Add it\""), ("1", "Add it")];
        assert_eq!(resolved(&reapplied), [('2', '3')]);
    }

    proptest::proptest! {
        #[test]
        fn any_message_is_survived(message in "\\PC*", verb in "(Revert|Back out|\\[x\\] Reverted) ") {
            targets(&message);
            targets(&format!("{verb}{message}"));
        }
    }
}
