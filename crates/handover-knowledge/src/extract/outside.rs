//! Whether an agent has read something from outside: what it says afterwards is no longer its own alone.

use crate::transcripts::ToolUse;

/// Tools that fetch, by parts of their names in lower case.
const FETCHING: &[&str] =
    &["browser", "fetch", "mcp__", "search_query", "web_search", "websearch", "webfetch"];

/// Whether a tool brings text from elsewhere.
pub(super) fn is_outside(tool: &ToolUse) -> bool {
    let name = tool.name.to_ascii_lowercase();
    let command = || {
        let input = tool.input.to_ascii_lowercase();
        let fetches =
            ["curl ", "wget ", "gh api", "gh issue", "gh pr"].iter().any(|one| input.contains(one));
        fetches && !input.contains("localhost") && !input.contains("127.0.0.1")
    };
    let ours = name.starts_with("mcp__handover");
    FETCHING.iter().any(|one| name.contains(one)) && !ours || command()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_fetch_are_known() {
        let tool = |name: &str, input: &str| {
            is_outside(&ToolUse {
                id: String::new(),
                name: name.to_owned(),
                input: input.to_owned(),
            })
        };
        assert!(
            tool("WebFetch", "") && tool("google_web_search", "") && tool("mcp__github__get", "")
        );
        assert!(tool("Bash", r#"{"command":"curl https://example.com"}"#));
        assert!(!tool("Bash", r#"{"command":"curl http://localhost:80"}"#));
        assert!(!tool("Read", "") && !tool("mcp__handover__search", ""));
    }
}
