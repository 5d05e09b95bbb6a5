//! Which tool calls read a file, whatever the program calls its tools.

use handover_model::ToolCall;
use serde_json::Value;

/// Tools that read files, in small letters.
const READERS: &[&str] = &[
    "read",
    "view",
    "read_file",
    "readfile",
    "read_many_files",
    "open_file",
    "notebookread",
    "fs_read",
    "grep",
    "rg",
    "search_file_content",
    "grep_search",
];

/// Tools that run commands.
const SHELLS: &[&str] = &[
    "bash",
    "shell",
    "exec_command",
    "run_shell_command",
    "local_shell",
    "container.exec",
    "powershell",
    "terminal",
    "execute",
];

/// Programs that print files.
const PRINTERS: &[&str] = &[
    "cat", "sed", "head", "tail", "less", "more", "bat", "batcat", "nl", "rg", "grep", "awk", "jq",
    "yq", "tac", "xxd", "glow",
];

/// The fields of a call that say what it replaces: the agent did not write that.
const REPLACED: &[&str] = &["old_string", "old_str", "oldString", "old_text"];

/// What a call reads: the paths that a tool reads, and the commands that print files.
pub(super) fn reads(call: &ToolCall) -> Vec<String> {
    let name = call.name.to_ascii_lowercase();
    if READERS.contains(&name.as_str()) {
        return texts(call);
    }
    if SHELLS.contains(&name.as_str()) {
        let texts = texts(call);
        let commands = texts.iter().flat_map(|text| text.split(['\n', ';', '|', '&']));
        return commands.filter(|command| prints(command)).map(str::to_owned).collect();
    }
    // Our own server shows packages.
    if name.contains("handover") && name.contains("package") { texts(call) } else { Vec::new() }
}

/// What the agent wrote in a call.
pub(super) fn texts(call: &ToolCall) -> Vec<String> {
    match serde_json::from_str::<Value>(&call.input) {
        Ok(value) => {
            let mut texts = Vec::new();
            collect(&value, &mut texts);
            texts
        }
        // A patch, or JSON that was cut.
        Err(_) => {
            let text = call.input.replace("\\n", "\n");
            let written = text.lines().filter(|line| !line.starts_with('-'));
            vec![written.collect::<Vec<_>>().join("\n")]
        }
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        // The words of a command.
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            texts.push(words.join(" "));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => {
            let written = fields.iter().filter(|(name, _)| !REPLACED.contains(&name.as_str()));
            written.for_each(|(_, field)| collect(field, texts));
        }
        Value::Number(number) => texts.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Whether a simple command prints files.
fn prints(command: &str) -> bool {
    let mut words = command.split_whitespace().skip_while(|word| {
        matches!(*word, "sudo" | "command" | "time" | "bash" | "sh" | "-c" | "-lc" | "do" | "then")
            || word.contains('=')
    });
    let program = words.next().unwrap_or_default().trim_matches(['"', '\'', '(']);
    let program = program.rsplit('/').next().unwrap_or_default();
    let in_place = program == "sed" && words.clone().any(|word| word.starts_with("-i"));
    PRINTERS.contains(&program) && !in_place
        || program == "handover" && words.next() == Some("package") && words.next() == Some("show")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(name: &str, input: &str) -> Vec<String> {
        let (id, name, input) = (String::new(), name.to_owned(), input.to_owned());
        super::reads(&ToolCall { id, name, input })
    }

    #[test]
    fn the_tools_of_every_program_that_read_files() {
        for (name, input) in [
            ("Read", r#"{"file_path": "/p/a.md"}"#),
            ("view", r#"{"path": "/p/a.md"}"#),
            ("read_file", r#"{"absolute_path": "/p/a.md"}"#),
            ("read", r#"{"filePath": "/p/a.md"}"#),
        ] {
            assert_eq!(reads(name, input), ["/p/a.md"]);
        }
        assert_eq!(reads("shell", r#"{"command": ["bash", "-lc", "cat a.md"]}"#).len(), 1);
        assert_eq!(
            reads("Bash", r#"{"command": "cd x && sed -n 1,9p a.md | wc -l"}"#),
            [" sed -n 1,9p a.md "]
        );
    }

    #[test]
    fn what_changes_or_names_a_file_does_not_read_it() {
        for (name, input) in [
            ("Edit", r#"{"file_path": "a.md", "old_string": "x", "new_string": "y"}"#),
            ("Bash", r#"{"command": "sed -i s/a/b/ a.md"}"#),
            ("Bash", r#"{"command": "git add a.md; ls a.md; echo cat"}"#),
            ("Bash", "not JSON"),
        ] {
            assert!(reads(name, input).is_empty(), "{name} {input}");
        }
    }

    #[test]
    fn what_is_replaced_was_not_written() {
        let texts =
            |input: &str| texts(&ToolCall { input: input.to_owned(), ..ToolCall::default() });
        let mut written = texts(r#"{"old_string": "old", "new_string": "new", "n": 7}"#);
        written.sort();
        assert_eq!(written, ["7", "new"]);
        assert_eq!(texts("*** Begin Patch\n-old\n+new"), ["*** Begin Patch\n+new"]);
    }
}
