//! The rest of a message: what it tells about the problem. Messages tell mostly what was done, so a sentence stays only if
//! it describes something that is wrong, or leads to one that does.

use super::wording::{
    among, has_phrase, has_problem, is_form_of, is_reference, plain, sentences, without_references,
};

/// Verbs with which a sentence begins that says what was done.
const DONE: &str = "accept add address adjust allow avoid call change check convert copy cover create defer \
    delete disable do document don't drop enable ensure expand extend extract fix follow \
    handle ignore implement include introduce keep let make merge move note omit parse pass \
    prefer prevent raise record refactor reject remove rename replace reset respect restore \
    return reuse revert rewrite run set simplify skip split stop store strip switch test \
    treat try update use validate wrap";

/// Other beginnings of such sentences.
const BEGINNINGS: &str = "accidental|and|also|always|as suggested|by|done|essentially|explicitly|fixes|for each|\
    for that|for this|hence|i|i'm|i've|in order to|instead|it now|it's an|just|now|only|\
    original commit|properly|rather than|rebased|same|so|solution|still|such|the actual|\
    the fix|the new|the remedy|the solution|then|therefore|these changes|this|thus|to|we now|\
    with that|with this|work around|workaround";

/// Words of such sentences, anywhere.
const ANYWHERE: &str = "added|also been|are now|by using|changed to|changelog|commit fixes|fix makes|has been|have been|\
    i'm|i've|implementation|in order to|instead|is deferred|is now|is replaced|is updated|\
    it is necessary|it's necessary|meant to|merge|moved|moving|need to|needs to|new test|new tests|news|\
    now|patch|preempt|prefer|rather than|replaced|should be|so that|so set|so we|switched|test|\
    tests|the fix|this change|this commit|this patch|to address|to avoid|to fix|to handle|\
    to make|to prevent|to use|tradeoff|unit test|unit tests|was fixed|was solved|we can|we have to|we must|we try|\
    will be able|will now|would be better";

/// Lines that tools add, or that say where something was said.
const TOOLS: &str = "---------|= |[pre-commit|acked-by|backport|change-id|cherry picked|close #|closes|\
    co-authored-by|fix #|fixed #|fixes #|for more information, see|git-svn-id|h/t|http|\
    pr-url|ref |ref: |refs |related |relates |resolve #|resolves|reverts |reviewed-by|see #|\
    see also|see http|see merge request|signed-off-by|tested-by|this fixes|this reverts";

/// What a session or a report of an error has.
const SESSIONS: &[&str] = &[">>> ", "$ ", "Traceback", "Error", "panicked", "error:", "warning:"];

/// The paragraphs that are left.
pub(super) fn told(rest: &str, subject: &str) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut leads = false;
    for paragraph in own_paragraphs(rest, subject) {
        if is_example(&paragraph) {
            let text = paragraph.join("\n");
            if leads || SESSIONS.iter().any(|sign| text.contains(sign)) {
                told.push(text);
            }
            continue;
        }
        let kept = problem(&paragraph.join(" "));
        leads = kept.ends_with(':');
        // What is left of `Fix #12` says nothing.
        if kept.split_whitespace().count() > 2 {
            told.push(kept);
        }
    }
    // What leads to an example that was left out leads nowhere.
    while told.last().is_some_and(|last| last.ends_with(':')) {
        told.pop();
    }
    told
}

/// The paragraphs that belong to the subject, without lists and what tools wrote. A merge that was made one commit
/// names each in a line that begins with `*`: what follows is about that one.
fn own_paragraphs<'a>(rest: &'a str, subject: &str) -> Vec<Vec<&'a str>> {
    let (mut all, mut paragraph): (Vec<Vec<&str>>, Vec<&str>) = (Vec::new(), Vec::new());
    let (mut is_ours, mut in_list, mut in_fence) = (true, false, false);
    for line in rest.lines() {
        let start = line.trim_start();
        if start.starts_with("```") {
            in_fence = !in_fence;
            continue;
        }
        if line.trim().is_empty() {
            in_list = false;
            all.push(std::mem::take(&mut paragraph));
            continue;
        }
        if let Some(title) = line.strip_prefix("* ") {
            is_ours = is_like(title, subject);
            in_list = true;
            continue;
        }
        in_list |= is_item(start);
        let is_of_a_tool = {
            let lower = start.to_lowercase();
            TOOLS.split('|').any(|tool| lower.starts_with(tool))
                || lower.contains("@users.noreply")
                || is_references(start)
        };
        // Code is no example of what is wrong.
        if is_ours && !in_list && !in_fence && !is_of_a_tool {
            paragraph.push(line);
        }
    }
    all.push(paragraph);
    all.retain(|paragraph| !paragraph.is_empty());
    all
}

/// Whether a line is `#12` or `GH-12 and #13`.
fn is_references(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.clone().any(is_reference) && words.all(|word| is_reference(word) || word.len() < 4)
}

/// Whether a line is an item of a list, which is mostly one of changes.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "+ ", "\u{2022} "].iter().any(|mark| line.starts_with(mark))
        || number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "))
}

/// Whether the title of a merged commit is the subject.
fn is_like(title: &str, subject: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
        words.map(str::to_lowercase).collect()
    };
    let (title, subject) = (words(title), words(subject));
    let shared = title.iter().filter(|word| subject.contains(word)).count();
    shared * 3 >= subject.len().max(title.len()) * 2
}

fn is_example(paragraph: &[&str]) -> bool {
    let indented = |line: &&&str| {
        line.starts_with("    ")
            || line.starts_with('\t')
            || line.starts_with(">>>")
            || line.starts_with("$ ")
    };
    paragraph.iter().filter(indented).count() * 2 > paragraph.len()
}

/// What a paragraph says about what was wrong. Up to the first sentence that says what was done, one that describes a
/// problem takes the others along; after it, each must describe one.
fn problem(text: &str) -> String {
    let all = sentences(text);
    let done = all.iter().position(|sentence| says_what_was_done(sentence)).unwrap_or(all.len());
    let describes = |sentence: &str| {
        let plain = plain(sentence);
        has_problem(&plain) || plain.starts_with(" when ") || plain.starts_with(" if ")
    };
    let together = all[..done].iter().any(|sentence| describes(sentence));
    let kept = all.iter().enumerate().filter(|(at, sentence)| match *at < done {
        true => together,
        false => !says_what_was_done(sentence) && describes(sentence),
    });
    let kept: Vec<String> = kept.map(|(_, sentence)| without_references(sentence)).collect();
    kept.join(" ").trim_end_matches(';').to_owned()
}

/// Whether any clause says so: what stands before `; restore the source` is about the fix, too.
fn says_what_was_done(sentence: &str) -> bool {
    sentence.split("; ").any(|clause| {
        let plain = plain(clause);
        let first = plain.split_whitespace().next().unwrap_or_default();
        // `If there is none, return x`
        let main = match among("as because for if in since when", first) {
            true => clause.split_once(", ").and_then(|(_, main)| main.split(' ').next()),
            false => None,
        };
        DONE.split(' ').any(|verb| is_form_of(first, verb) || main == Some(verb))
            || BEGINNINGS.split('|').any(|start| plain.starts_with(&format!(" {start} ")))
            || has_phrase(&plain, ANYWHERE)
            // What leans on a reference cannot stand without it.
            || clause.split_whitespace().any(|word| is_reference(word) && !word.contains(['(', ')']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of real commits, cut where that changes nothing.
    #[test]
    fn what_was_done_is_left_out() {
        for (rest, kept) in [
            // click 7d05a59b
            (
                "Record parameter source on the context immediately after consume_value(), before process_value() runs. In \
                 8.4.0, set_parameter_source() was deferred until after type conversion (0f71fe7, #3403), so \
                 get_parameter_source() returned None.\n\nWhen several options share one parameter name, the losing option \
                 still sets a provisional source before process_value(); restore the previous source if arbitration rejects it.",
                &[][..],
            ),
            // click 18d29196
            (
                "In order to ensure that hooks are never called with `UNSET`, it is necessary to intercept it.\n\n\
                 `process_value()` is updated to check before calling `type_cast_value` and to skip the call entirely.",
                &[],
            ),
            // click 1c20dc6e
            (
                "Several options may have defaults of `UNSET`. The normalization is now deferred until all have been parsed.\n\n\
                 A new test exercises this, and fails without it.\n\nresolves #3071",
                &[],
            ),
            // click 91de59c6
            (
                "- [pre-commit.ci lite] apply automatic fixes\n- added required test in test_options\n- Fixed Missing indentaion\n\n\
                 Co-authored-by: Stephen Rosen <1300022+sirosen@users.noreply.github.com>",
                &[],
            ),
            // attrs 0bf0678a
            (
                "* [pre-commit.ci] auto fixes from pre-commit.com hooks\n\nfor more information, see https://pre-commit.ci\n\n* fix flake8 issue",
                &[],
            ),
            // click b7e5fd4c
            ("Fix regression introduced in 8.4.0 by #3126 and properly fix #3043 and #3502", &[]),
            // click 598c6d76
            (
                "isolate() captures current env variable values, overwrites them, yields, then restores them. Unfortunately the \
                 capturing code was broken.",
                &[
                    "isolate() captures current env variable values, overwrites them, yields, then restores them. Unfortunately the capturing code was broken.",
                ],
            ),
            // click 25a88794
            (
                "If a default isn't given, return () for multiple or nargs=-1, or return None for nargs > 1.",
                &[],
            ),
            // attrs c9150d27
            (
                "The change prevents reading any values from the cache. We get an `AttributeError` raised for all attributes.\n\n\
                 To address this I've made a change so that `__setstate__` will still be able to handle values pickled as `tuple`s.",
                &[
                    "The change prevents reading any values from the cache. We get an `AttributeError` raised for all attributes.",
                ],
            ),
        ] {
            assert_eq!(told(rest, "Fix the subject of the message"), kept, "{rest}");
        }
    }

    #[test]
    fn a_merged_commit_of_another_title_is_not_ours() {
        // marshmallow 12146245
        let rest = "* Fix treatment of dotted keys when unknown=INCLUDE\n\nDotted keys are currently unpacked into nested dicts.\n\n\
                    * Replace set_value(allow_dotted=False) with setitem\n\nThis results in a difficult expression, which cannot be read.";
        let subject = "Fix treatment of dotted keys when unknown=INCLUDE (#1745)";
        assert_eq!(told(rest, subject), ["Dotted keys are currently unpacked into nested dicts."]);
    }

    #[test]
    fn sessions_are_examples_and_new_code_is_not() {
        let code = "Counts are wrong.\n\n    def count(self):\n        return self.total\n";
        assert_eq!(told(code, ""), ["Counts are wrong."]);
        let session = "Replaced the cached value.\n\n    >>> count()\n    41\n";
        assert_eq!(told(session, ""), ["    >>> count()\n    41"]);
        let fenced = "Counts are wrong if you call\n\n```\nfixed_count()\n```\n";
        assert_eq!(told(fenced, ""), ["Counts are wrong if you call"]);
    }
}
