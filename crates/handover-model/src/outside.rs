//! Which tools bring text from outside: what an agent says after it used one is no longer its own alone.

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

#[cfg(test)]
mod tests {
    use super::reads_outside;

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
