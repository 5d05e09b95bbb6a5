//! Which tools bring text from outside: what an agent says after it used one is no longer its own alone.

use crate::{Trace, TraceStep};

/// Tools that fetch, by parts of their names in lower case.
const FETCHING: &[&str] =
    &["browser", "fetch", "mcp__", "search_query", "web_search", "websearch", "webfetch"];

/// Commands that fetch, as they stand in the input of a shell tool.
const COMMANDS: &[&str] = &[
    "curl ",
    "wget ",
    "httpie",
    "lynx ",
    "w3m ",
    "gh api",
    "gh issue",
    "gh pr",
    "git clone",
    "requests.get",
    "urlopen(",
];

/// Whether a tool brings text from outside, by its name and what it was called with. Our own tools do not: what they
/// return has a class of its own.
pub fn reads_outside(tool: &str, input: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    if name.starts_with("mcp__handover") {
        return false;
    }
    let fetches = || {
        let input = input.to_ascii_lowercase();
        COMMANDS.iter().any(|one| input.contains(one))
            && !input.contains("localhost")
            && !input.contains("127.0.0.1")
    };
    FETCHING.iter().any(|one| name.contains(one)) || fetches()
}

/// How a hook begins when it tells an agent the solution of a known error.
pub const KNOWN_FIX: &str = "Handover knows this error";

/// How the class shows in what we answer, without spaces, quotes and the backslashes of JSON inside JSON.
const SHOWN: &[&str] = &["trust:outside", ",outside]", ",outside)"];

/// What showed an agent a text of class `outside` that we keep: one of our own tools or commands, or a hook with a
/// known fix.
pub fn shows_outside(trace: &Trace) -> Option<&str> {
    let mut ours: Vec<(&str, &str)> = Vec::new();
    for step in trace.steps() {
        match step {
            TraceStep::Called(call) if call.name.contains("handover") => {
                ours.push((&call.id, &call.name));
            }
            TraceStep::Called(call) if call.input.contains("handover ") => {
                ours.push((&call.id, "handover"));
            }
            TraceStep::Shown { call, text, .. } => {
                let known = ours.iter().find(|(id, _)| id == call);
                if let Some((_, name)) = known.filter(|_| says_outside(text)) {
                    return Some(name);
                }
            }
            TraceStep::Given(text) => {
                let fix = text.match_indices(KNOWN_FIX).map(|(at, _)| &text[at..]);
                let mut lines = fix.filter_map(|rest| rest.lines().next());
                if lines.any(says_outside) {
                    return Some("known fix");
                }
            }
            TraceStep::Called(_) | TraceStep::Said(_) => {}
        }
    }
    None
}

fn says_outside(text: &str) -> bool {
    let is_said = |c: &char| !c.is_whitespace() && !matches!(c, '"' | '\\');
    let text: String = text.chars().filter(is_said).collect();
    SHOWN.iter().any(|shown| text.contains(shown))
}

#[cfg(test)]
mod tests {
    use super::{reads_outside, shows_outside};
    use crate::{ToolCall, Trace};

    fn called(name: &str, input: &str, shown: &str) -> Trace {
        let mut trace = Trace::default();
        let [id, name, input] = ["1", name, input].map(str::to_owned);
        trace.called(ToolCall { id, name, input });
        trace.shown("1", false, shown);
        trace
    }

    #[test]
    fn our_answers_tell_their_class() {
        let search = "mcp__handover__search";
        for (name, input, shown) in [
            (search, "{}", r#"{"results":[{"type":"note","trust":"outside"}]}"#),
            ("handover_read_package", "{}", r#"[{"text":"{\"trust\": \"outside\"}"}]"#),
            ("Bash", "handover search tokens", "note n_1  a.md  [doc, outside]\n      text"),
        ] {
            assert!(shows_outside(&called(name, input, shown)).is_some(), "{name} {shown}");
        }
        for (name, input, shown) in [
            (search, "{}", r#"{"results":[{"type":"note","trust":"agent"}]}"#),
            ("Read", "src/search.rs", r#"{"trust":"outside"}"#),
        ] {
            assert!(shows_outside(&called(name, input, shown)).is_none(), "{name} {shown}");
        }
        let mut trace = Trace::default();
        trace.given("Handover knows this error: it was seen once (confidence 0.7, agent):\n> x");
        assert_eq!(shows_outside(&trace), None);
        trace.given("Handover knows this error: it was seen once (confidence 0.7, outside):\n> x");
        assert_eq!(shows_outside(&trace), Some("known fix"));
    }

    #[test]
    fn tools_that_fetch_are_known() {
        for (tool, input) in [
            ("WebFetch", ""),
            ("google_web_search", ""),
            ("mcp__github__get", ""),
            ("Bash", r#"{"command":"curl https://example.com"}"#),
            ("shell", "gh issue view 7"),
        ] {
            assert!(reads_outside(tool, input), "{tool} {input}");
        }
        for (tool, input) in [
            ("Bash", r#"{"command":"curl http://localhost:80"}"#),
            ("Bash", "cargo test"),
            ("Read", "src/curl.rs"),
            ("mcp__handover__search", ""),
        ] {
            assert!(!reads_outside(tool, input), "{tool} {input}");
        }
    }
}
