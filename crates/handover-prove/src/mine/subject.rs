//! The first line of a message: what it asks for, without what names the commit, its kind or its issue, and without
//! how it was done.

use super::wording::{among, is_form_of, without_references};

/// What a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// It says what is wrong.
    Bug,
    /// It says what should be.
    Change,
}

/// What is left of the first line of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) text: String,
    pub(super) ask: Ask,
}

/// Verbs with which a subject begins that says what should be.
const ORDERS: &str = "accept allow auto-detect avoid check close compare complete correct count deserialize \
    detect differentiate disallow display distinguish do don't emit enforce ensure escape \
    evolve exclude exit expand fail generate get give handle hide honor honour ignore \
    include keep land leave let limit maintain make mention normalize omit parse preserve \
    prevent print propagate quote raise recognize recurse reject report represent require \
    reset resolve respect restore retain return round serialize set show skip sort split \
    stop strip support tolerate treat trim truncate un-deprecate validate wait warn";

/// Words in front of such a verb.
const MANNERS: &str =
    "always correctly eagerly never only optionally properly recursively temporarily";

/// Verbs with which a subject begins that says how something was done, or that is about no bug.
const HOW: &str = "adapt add adjust also annotate apply backport bind bump cache call catch change clean \
    cleanup clear consider convert copy cull defer delete derive disable document drop eval \
    extract flush implement import improve incorporate inline instantiate introduce lock \
    manage merge move optimize pass pop port post prefer pull put rebase record redesign \
    refactor register remove rename replace reuse revert rework rewrite run save \
    save/restore simplify speed speedup store switch test transform tweak update upgrade use \
    wrap";

/// Kinds of commits in front of a colon.
const KINDS: &str = "bug bugfix chore chores feat fix fixes hotfix perf refactor";

/// Beginnings of a subject that say no more than that something was fixed.
const FIXES: &[&str] = &[
    "fixed",
    "fixes for",
    "fixes",
    "fixing",
    "fix for",
    "fix",
    "bugfix",
    "bug fix",
    "bug",
    "resolves",
    "resolved",
    "issue",
    "properly fix",
];

/// Where a subject turns to the fix after it began with something else.
const FIXES_TOO: &[&str] = &[" to fix ", " and fix ", ", fix ", " & fix "];

/// Where a subject turns from what was wrong to what was done.
const TURNS: &[&str] =
    &[" using ", " via ", " instead of ", " rather than ", "; ", ". ", " so that "];

/// Verbs with which a subject begins that may say with what: `Escape names with shlex.quote()`.
const DOINGS: &str = "compare escape normalize parse print quote resolve round serialize deserialize sort split \
    strip trim truncate validate";

/// Words in front of ` with ` that look like something done and are none.
const STATES: &str = "interacting interfering string thing working";

/// What was done besides.
const BESIDES: &str = "add added adds also cleanup improve introduce refactor refactored update";

/// Clauses in which the words of turns describe the circumstances.
const CIRCUMSTANCES: &[&str] = &[" when ", " while ", " if "];

/// Words of subjects that describe something wrong without saying that it was fixed.
const SURELY: &str = "broken crash crashes fails hangs incorrect incorrectly lost missing must panics \
    regression should shouldn't twice wrong wrongly";

/// Words that name nothing.
const VAGUE: &str = "a an and another argument at bad behavior behaviour bug bugs case cases check \
    checks code comments corner edge few file files fix fixes for from handling in issue issues it its logic \
    minor more nitpicks of on or other pr problem problems review several small some \
    speculative stuff test tests the things this to various which with";

/// With fewer words that name something, a subject alone is no task.
const LEAST_WORDS: usize = 3;

impl Subject {
    /// Reads a first line; none if it does not say what was wrong or what should be.
    pub(super) fn of(line: &str) -> Option<Self> {
        // `[3.2.x] Fixed #123 -- x`
        let line = match line.split_once(" -- ") {
            Some((before, rest)) if before.contains("ix") => format!("Fix: {rest}"),
            Some((_, rest)) => rest.to_owned(),
            None => line.to_owned(),
        };
        let (scope, line) = without_names(line.trim());
        let text = without_slips(&without_references(line));
        let (fixed, after_colon, text) = without_fix(&text);
        let text = before_turn(&text);
        // `Document and fix x`
        let (fixed, text) = match FIXES_TOO.iter().find_map(|fix| text.split_once(fix)) {
            Some((before, rest)) if !fixed && says_how(before) => (true, rest.to_owned()),
            _ => (fixed, text),
        };
        let text = text
            .trim_matches([' ', '.', ':', ',', ';', '-'])
            .trim_end_matches([' ', '('])
            .to_owned();
        if says_what_to_use(&text) {
            return None;
        }
        // `Fix return values` begins with a noun, `Fix: return values` with a verb.
        let is_noun = fixed && !after_colon;
        let ask = if is_noun { Some(Ask::Bug) } else { asked(&text, fixed) }?;
        let text = match text.split_once(" now ") {
            Some((before, after)) => format!("{before} {after}"),
            None => text,
        };
        let text = if scope.is_empty() { text } else { format!("{scope}: {text}") };
        (text.split_whitespace().count() >= 2).then_some(Self { text, ask })
    }

    /// Whether it is enough to work on.
    pub(super) fn says_enough(&self) -> bool {
        let words = self.text.split_whitespace().map(str::to_lowercase);
        words.filter(|word| !among(VAGUE, word)).count() >= LEAST_WORDS
    }
}

/// A subject without what a tracker, a merge or a tool put in front of it, and the part of the code that it names.
fn without_names(line: &str) -> (&str, &str) {
    let mut line = line;
    loop {
        let rest = match line.chars().next() {
            Some('[') => line.split_once(']').map(|(_, rest)| rest),
            // `:bug: Fix x`
            Some(':') => line[1..].split_once(": ").map(|(_, rest)| rest),
            _ => line.strip_prefix("fixup!"),
        };
        match rest {
            Some(rest) => line = rest.trim_start(),
            None => break,
        }
    }
    // `fix(parser): x` and `parser: x`
    let Some((kind, rest)) = line.split_once(": ") else { return ("", line) };
    let word = kind.split('(').next().unwrap_or_default();
    if among(KINDS, &word.to_lowercase()) {
        return ("", &line[word.len()..]);
    }
    match kind.len() <= 30 && !kind.contains([' ', '#']) {
        true => (kind, rest),
        false => ("", line),
    }
}

/// Without words that are there twice, and without for how long: `Skip the cache for now`.
fn without_slips(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    words.dedup_by(|word, before| word == before && word.chars().all(char::is_alphabetic));
    let text = words.join(" ");
    text.trim_end_matches('.').strip_suffix(" for now").map_or_else(|| text.clone(), str::to_owned)
}

/// Whether a text says that something was fixed, whether a colon follows, and the rest.
fn without_fix(text: &str) -> (bool, bool, String) {
    let (mut fixed, mut colon) = (false, false);
    let mut text = text.trim_start();
    loop {
        // `fix(parser): x` has lost its first word already.
        if let Some((scope, rest)) = text.strip_prefix('(').and_then(|rest| rest.split_once("): "))
            && !scope.contains(' ')
        {
            text = rest;
            (fixed, colon) = (true, true);
        }
        if let Some(rest) = text.strip_prefix([':', '-', ';']) {
            text = rest.trim_start();
            (fixed, colon) = (true, true);
            continue;
        }
        let starts = |fix: &&&str| {
            text.get(..fix.len()).is_some_and(|start| start.eq_ignore_ascii_case(fix))
                && text[fix.len()..].starts_with([' ', ':', ';'])
        };
        // `Bug in the parser` describes one.
        let Some(fix) = FIXES.iter().find(starts) else { break };
        let rest = text[fix.len()..].trim_start();
        if *fix == "bug" && !rest.starts_with([':', '-'])
            || *fix == "issue" && !rest.starts_with([':', '-'])
        {
            fixed = true;
            break;
        }
        text = rest;
        fixed = true;
        colon = false;
    }
    (fixed, colon, text.to_owned())
}

/// The text before it says what was done.
fn before_turn(text: &str) -> String {
    let mut end = text.len();
    let mut cut = |at: usize| end = end.min(at);
    let describes = |at: usize| CIRCUMSTANCES.iter().any(|word| text[..at + 1].contains(word));
    for turn in TURNS {
        let is_clause = matches!(*turn, "; " | ". ");
        if let Some(at) = text.find(turn).filter(|at| is_clause || !describes(*at)) {
            cut(at);
        }
    }
    for (at, _) in text.match_indices(" by ") {
        // `by default` and `by the user` are no turns.
        let next = text[at + 4..].split_whitespace().next().unwrap_or_default();
        if next.ends_with("ing") && !describes(at) {
            cut(at);
        }
    }
    for (at, _) in text.match_indices(" with ") {
        // `with many=True` and `crash with json.loads` say when it happens.
        let name = text[at + 6..].split_whitespace().next().unwrap_or_default();
        if is_callable(name) && says_what_is_done(&text[..at]) && !describes(at) {
            cut(at);
        }
    }
    for (at, _) in text.match_indices(" to ") {
        let next = text[at + 4..].split_whitespace().next().unwrap_or_default();
        if among(HOW, next) {
            cut(at);
        }
    }
    for join in [", ", " and ", " & "] {
        for (at, _) in text.match_indices(join) {
            let next = text[at + join.len()..]
                .trim_start_matches("and ")
                .split_whitespace()
                .next()
                .unwrap_or_default();
            if among(BESIDES, next) {
                cut(at);
            }
        }
    }
    text[..end].to_owned()
}

/// Whether a text is about something that is done, so that `with` leads to the means: `sanitizing of strings` and
/// `Escape strings`, but not `crash`.
fn says_what_is_done(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split_whitespace();
    let begins = words.next().is_some_and(|word| among(DOINGS, word));
    let last = words.next_back().unwrap_or_default();
    begins || last.len() > 5 && last.ends_with("ing") && !among(STATES, last)
}

/// Whether a text demands a certain means: `x should use y()`.
fn says_what_to_use(text: &str) -> bool {
    text.match_indices(" should ").any(|(at, should)| {
        let after = text[at + should.len()..].split_whitespace();
        let mut words = after.skip_while(|word| among(MANNERS, word) || *word == "now");
        let uses = words.next().is_some_and(|word| matches!(word, "use" | "call"));
        uses && words.find(|word| !matches!(*word, "a" | "an" | "the")).is_some_and(is_code)
    })
}

/// Whether a word names something in code that can be called: `json.loads`, `quote()`.
fn is_callable(word: &str) -> bool {
    let name = word.trim_matches(['`', '"', '\'', ',', ';', ':', '.']);
    let parts = name.strip_suffix("()").unwrap_or(name).split('.');
    let is_name = |part: &str| {
        part.chars().all(|c| c.is_alphanumeric() || c == '_')
            && part.starts_with(|c: char| c.is_alphabetic() || c == '_')
    };
    (name.ends_with("()") || name.contains('.')) && parts.into_iter().all(is_name)
}

/// Whether a word can only be a name in code.
fn is_code(word: &str) -> bool {
    let hump = |pair: &[char]| pair[0].is_lowercase() && pair[1].is_uppercase();
    let chars: Vec<char> = word.chars().collect();
    word.starts_with('`') || word.contains('_') || is_callable(word) || chars.windows(2).any(hump)
}

/// What a text asks for; none if it says how something was done, or nothing of either kind.
fn asked(text: &str, fixed: bool) -> Option<Ask> {
    let lower = text.to_lowercase();
    let mut words =
        lower.split([' ', ',']).filter(|word| !word.is_empty() && !among(MANNERS, word));
    let first = words.next()?;
    if says_how(first) {
        return None;
    }
    // `Do not copy x` and `x now uses y`, too.
    let is_negative = matches!(first, "do" | "don't");
    let done = words.clone().find(|word| is_negative && *word != "not");
    let after_now = words.clone().skip_while(|word| *word != "now").nth(1);
    if done.into_iter().chain(after_now).any(says_how) {
        return None;
    }
    // `Make x use y` is how.
    if first == "make" && words.clone().any(|word| word == "use" || word == "kind") {
        return None;
    }
    let is_order = among(ORDERS, first) || words.clone().any(|word| word == "now");
    // `A value that is empty raises an error`: what it does from now on.
    let says_what_it_does =
        !fixed && words.clone().any(|word| word == "raises" || word == "returns");
    if is_order || says_what_it_does {
        return Some(Ask::Change);
    }
    // `Empty lists are skipped` could be either.
    let is_bug = words.any(|word| among(SURELY, word));
    (fixed || is_bug).then_some(Ask::Bug)
}

fn says_how(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default().to_lowercase();
    HOW.split(' ').any(|verb| is_form_of(&first, verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Subjects of real commits, and what is left of them.
    #[test]
    fn subjects_say_what_is_wrong_or_what_should_be() {
        let read = |line: &str| {
            Subject::of(line).map_or_else(
                || "-".to_owned(),
                |one| match one.ask {
                    Ask::Bug => format!("bug: {}", one.text),
                    Ask::Change => format!("change: {}", one.text),
                },
            )
        };
        for (line, left) in [
            (
                "Fix dual-option arbitration to respect explicit defaults",
                "bug: dual-option arbitration to respect explicit defaults",
            ),
            ("Fix default handling to defer UNSET normalization", "bug: default handling"),
            ("Fix validators.disabled() to save/restore state on nesting (#1513)", "-"),
            (
                "Fix eagerness of help option generated by `help_option_names` (#2811)",
                "bug: eagerness of help option generated by `help_option_names`",
            ),
            ("Fix pager test race by raising before yield", "bug: pager test race"),
            (
                "Fix Date deserialization when using custom format",
                "bug: Date deserialization when using custom format",
            ),
            (
                "Fix #930: Raise `ValidationError` on strings",
                "change: Raise `ValidationError` on strings",
            ),
            (
                "fix: show custom error message in prompt",
                "change: show custom error message in prompt",
            ),
            ("fix(parser): panic on empty input", "bug: panic on empty input"),
            (
                "Fix return value of `add_completion_class` (#2421)",
                "bug: return value of `add_completion_class`",
            ),
            (
                "Fix #908: `Nested` now defaults to `unknown=RAISE` not `EXCLUDE`",
                "change: `Nested` defaults to `unknown=RAISE` not `EXCLUDE`",
            ),
            (
                "progressbar: fix regression with hidden bars",
                "bug: progressbar: regression with hidden bars",
            ),
            (
                "Restore progressbar iterator interface; add test",
                "change: Restore progressbar iterator interface",
            ),
            (
                "introduce int_types compat to fix python3 type error in _length_hint",
                "bug: python3 type error in _length_hint",
            ),
            (":bug: Fix pass_original on nested many", "bug: pass_original on nested many"),
            ("[3.2.x] Fixed #33 -- Crash of lazy queries.", "bug: Crash of lazy queries"),
            ("Empty slices should be empty", "bug: Empty slices should be empty"),
            // With what it was done; and with what it happens.
            (
                "Document and fix command string sanitizing with `shlex.split`",
                "bug: command string sanitizing",
            ),
            (
                "Escape arguments of the pager with shlex.quote()",
                "change: Escape arguments of the pager",
            ),
            (
                "Fix #906: Raise `ValidationError` on non-iterables with `many=True`",
                "change: Raise `ValidationError` on non-iterables with `many=True`",
            ),
            (
                "Fix version detection when invoking it with `runpy.run_module`",
                "bug: version detection when invoking it with `runpy.run_module`",
            ),
            ("Fix crash of help with `typing.Literal`", "bug: crash of help with `typing.Literal`"),
            (
                "Usage error should use the color of errors",
                "bug: Usage error should use the color of errors",
            ),
            // Slips.
            (
                "Fix speculative speculative empty string check",
                "bug: speculative empty string check",
            ),
            ("Un-deprecate __version__ for now", "change: Un-deprecate __version__"),
            (
                "flag option with duplicate names raises ValueError",
                "change: flag option with duplicate names raises ValueError",
            ),
            // What was done, and nothing else.
            ("use pathlib to resolve symlinks", "-"),
            ("validators.in_ now transforms unhashable options to tuples (#1320)", "-"),
            ("Do not copy __weakref__ from original _cls_dict (#410)", "-"),
            ("convert before validate, also fix two-space thing", "-"),
            ("Pull thread-local into _compat module to fix cloudpickling. (#857)", "-"),
            ("Make from_iso_date and from_iso_datetime method use isoparse from dateutils", "-"),
            ("Defer subcommand context creation until later.", "-"),
            ("Added support for tuple types.  This fixes #239", "-"),
            ("Bug fix #793; use the first defined long name", "-"),
            ("glob expansion on Windows doesn't fail on invalid values", "-"),
            ("`FuncParamType` should use `ValueError` message in `self.fail()` (#3211)", "-"),
            ("FuncParamType should use ValueError message in self.fail()", "-"),
            ("Fix #12: progress bars should always call the `render_finish` hook", "-"),
        ] {
            assert_eq!(read(line), left, "{line}");
        }
    }

    #[test]
    fn a_few_vague_words_are_not_enough() {
        let enough = |line: &str| Subject::of(line).is_some_and(|one| one.says_enough());
        for line in [
            "Fix some issues",
            "Fix PR review issues.",
            "Fix corner case",
            "Fix error message (#2246)",
            "Fix speculative speculative empty string check",
            "Un-deprecate __version__ for now",
        ] {
            assert!(!enough(line), "{line}");
        }
        assert!(enough("Fix colored output on Windows") && enough("Fix panic on empty input"));
    }
}
