//! What somebody said, without what programs put between their words.

use handover_text::fence::{FenceLine, Fences};

/// Our own brief, and where the task begins in it.
const BRIEF: [&str; 2] = ["<!-- handover:receipt ", "## Context for "];
const TASK: &str = "\n## Your Task\n";

/// Texts that begin like this were written by a program.
const BY_PROGRAMS: &[&str] = &[
    "# AGENTS.md instructions",
    "API Error:",
    "Base directory for this skill:",
    "Caveat: The messages below were generated",
    "This session is being continued from a previous conversation",
    "[Request interrupted by user",
    "[Request cancelled",
];

/// Tags without a dash or an underscore that programs use.
const TAGS: &[&str] = &["context", "image", "instructions", "permissions", "subagent", "system"];

/// The language of the block that an agent ends with. What it says is kept as the agent's debrief.
const DEBRIEF: &str = "handover";

/// Code of more lines is a dump.
const MAX_CODE_LINES: usize = 3;

/// Lines with more characters are no prose, unless they have sentences.
const MAX_LINE_CHARS: usize = 1_200;

/// How notes say who speaks. Nobody can put words into the mouth of another by beginning a line like that.
const SPEAKERS: &[&str] = &["Agent:", "Error:", "Person:", "Task:"];

/// What was said.
pub(super) fn spoken(text: &str) -> String {
    let text = without_brief(text);
    if BY_PROGRAMS.iter().any(|start| text.trim_start().starts_with(start)) {
        return String::new();
    }
    without_speakers(&without_dumps(&without_tags(text)))
}

fn without_speakers(text: &str) -> String {
    let speaks = |line: &str| SPEAKERS.iter().any(|speaker| line.trim_start().starts_with(speaker));
    let lines = text.lines().map(|line| match speaks(line) {
        true => format!("- {line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn without_brief(text: &str) -> &str {
    let is_brief = text.contains(BRIEF[0]) || text.trim_start().starts_with(BRIEF[1]);
    if !is_brief {
        return text;
    }
    text.rfind(TASK).map_or("", |at| &text[at + TASK.len()..])
}

/// Removes `<system-reminder>…</system-reminder>` and its like; an open one reaches to the end.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tagged) = rest.split_at(at);
        out.push_str(before);
        let inner = &tagged[1..];
        let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        let name = &inner[..end.unwrap_or(inner.len())];
        let by_program = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && (name.contains(['-', '_']) || TAGS.contains(&name));
        let after = &inner[name.len()..];
        if !by_program || !after.starts_with(['>', ' ']) {
            out.push('<');
            rest = inner;
            continue;
        }
        let closing = format!("</{name}");
        rest = match after.find(&closing) {
            Some(at) => after[at..].split_once('>').map_or("", |(_, rest)| rest),
            // A word in angle brackets inside of a sentence, not a block.
            None if !before.is_empty() && !before.ends_with('\n') => after,
            None => "",
        };
    }
    out.push_str(rest);
    out
}

/// Removes long code, logs, diffs, stack traces and debriefs.
fn without_dumps(text: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut fences = Fences::default();
    let mut opened = None;
    let mut is_debrief = false;
    for line in text.lines() {
        match fences.line(line) {
            FenceLine::Opens(language) => {
                is_debrief = language.trim() == DEBRIEF;
                opened = Some(out.len());
                out.push(line);
            }
            FenceLine::Inside => out.push(line),
            FenceLine::Closes => {
                out.push(line);
                let start = opened.take().unwrap_or(out.len());
                if is_debrief || out.len() - start > MAX_CODE_LINES + 2 {
                    out.truncate(start);
                }
            }
            FenceLine::Outside | FenceLine::Indented => {
                if !is_output(line) {
                    out.push(line);
                }
            }
        }
    }
    if let Some(start) = opened {
        out.truncate(start);
    }
    out.join("\n").trim().to_owned()
}

/// Whether a line has the form of something that a program printed.
fn is_output(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "@@ ",
        "diff --git",
        "+++ ",
        "--- a/",
        "--- b/",
        "index ",
        "Traceback (most recent",
        "stack backtrace:",
        "npm ERR!",
        "npm error",
        "   Compiling ",
        "    Finished ",
        "running ",
        "test result:",
    ];
    let text = line.trim();
    let trace = (line.starts_with(' ') || line.starts_with('\t'))
        && (text.starts_with("at ") || text.starts_with("File \"") || text.starts_with("from /"));
    let stamp = text.trim_start_matches('[');
    let log = stamp.len() > 20
        && stamp.get(..10).is_some_and(|day| {
            day.bytes().all(|b| b.is_ascii_digit() || b == b'-' || b == b':' || b == b'.')
        });
    let long = text.len() > MAX_LINE_CHARS && !text.contains(". ");
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let marks = text.chars().filter(|c| !c.is_whitespace()).count();
    // Prose consists of letters; numbers in columns, hex dumps and rulers do not.
    let noise = text.len() > 60 && letters * 5 < marks * 3;
    STARTS.iter().any(|start| line.starts_with(start)) || trace || log || long || noise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_add_is_removed() {
        for (text, left) in [
            ("<system-reminder>\nx\n</system-reminder>\nUse WAL", "Use WAL"),
            ("Use <b>WAL</b> and Vec<String>", "Use <b>WAL</b> and Vec<String>"),
            ("<environment_context>\n <cwd>/p</cwd>", ""),
            ("<permissions instructions>x</permissions instructions>", ""),
            ("use <my-component> here", "use > here"),
            ("Caveat: The messages below were generated by the user", ""),
            ("## Context for developer\n\nsecret\n\n## Your Task\n\nDo it", "Do it"),
            ("x\n<!-- handover:receipt r_1 -->\nrules", ""),
        ] {
            assert_eq!(spoken(text), left, "{text}");
        }
    }

    #[test]
    fn dumps_are_removed_and_snippets_stay() {
        let code = |lines: usize| format!("```\n{}```", "let x = 1;\n".repeat(lines));
        assert_eq!(spoken(&format!("a\n{}\nb", code(20))), "a\nb");
        assert_eq!(spoken(&format!("a\n{}\nb", code(2))), format!("a\n{}\nb", code(2)));
        assert_eq!(spoken("a\n```\nopen"), "a");
        assert_eq!(spoken("a\n```handover\nverdict: complete\n```\nb"), "a\nb");
        let trace = "It fails:\n2026-11-17T10:00:00Z INFO started\n    at main (x.js:1)\ndiff --git a b\nwhy?";
        assert_eq!(spoken(trace), "It fails:\nwhy?");
        assert_eq!(spoken(&format!("a\n{}\nb", "0x4f ".repeat(30))), "a\nb");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_survived(text in "(\\PC{0,20}|<[a-z_/-]{0,8}>?|```|\\n){0,20}") {
            spoken(&text);
        }
    }
}
