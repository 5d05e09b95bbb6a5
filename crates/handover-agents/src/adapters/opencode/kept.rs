//! What opencode keeps of a conversation: a row for each of its agents in the table `session` of `opencode.db`, with what
//! that has used so far. Its output only counts the first of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Databases, Environment, Total, Usage};

const COLUMNS: &[&str] = &[
    "id",
    "parent_id",
    "tokens_input",
    "tokens_cache_read",
    "tokens_cache_write",
    "tokens_output",
    "tokens_reasoning",
    "cost",
];

/// An agent of any conversation.
struct Agent {
    id: String,
    parent: String,
    used: Total,
}

/// What all agents of a conversation have used since its beginning; none if it was not kept.
pub(super) fn used(
    databases: &dyn Databases,
    environment: &Environment,
    conversation: &str,
) -> Option<Total> {
    let data = match environment.get("XDG_DATA_HOME") {
        Some(data) => PathBuf::from(data),
        None => Path::new(environment.get("HOME")?).join(".local/share"),
    };
    let mut agents: Vec<Agent> = Vec::new();
    let database = data.join("opencode/opencode.db");
    databases.rows(&database, "session", COLUMNS, &mut |row| agents.extend(agent(row)))?;
    let mut ours = BTreeSet::from([conversation]);
    // They are in the order of their ids, which says nothing about who spawned whom.
    while let Some(next) =
        agents.iter().find(|agent| ours.contains(&*agent.parent) && !ours.contains(&*agent.id))
    {
        ours.insert(&next.id);
    }
    let used = agents.iter().filter(|agent| ours.contains(&*agent.id)).map(|agent| agent.used);
    used.reduce(|sum, one| sum + one)
}

fn agent(row: &[Value]) -> Option<Agent> {
    let [id, parent, input, read, write, output, reasoning, cost] = row else { return None };
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let usage = Usage {
        input: count(input) + count(read) + count(write),
        cached_input: count(read),
        output: count(output) + count(reasoning),
    };
    Some(Agent {
        id: id.as_str()?.to_owned(),
        parent: parent.as_str().unwrap_or_default().to_owned(),
        used: Total { usage, cost_usd: cost.as_f64() },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A database with a conversation, its subagent and that one's, and another conversation.
    #[derive(Debug)]
    struct Kept;

    impl Databases for Kept {
        fn rows(
            &self,
            database: &Path,
            table: &str,
            columns: &[&str],
            each: &mut dyn FnMut(&[Value]),
        ) -> Option<()> {
            assert_eq!((table, columns), ("session", COLUMNS));
            (database == Path::new("/home/.local/share/opencode/opencode.db")).then_some(())?;
            for (id, parent, tokens) in [
                ("a", json!("b"), 1),
                ("b", json!("c"), 10),
                ("c", Value::Null, 100),
                ("d", Value::Null, 1_000),
            ] {
                let tokens = json!(tokens);
                let of = [&tokens; 5].map(Clone::clone);
                let mut row = vec![json!(id), parent];
                row.extend(of);
                row.push(json!(0.5));
                each(&row);
            }
            Some(())
        }
    }

    #[test]
    fn a_conversation_is_all_of_its_agents() {
        let mut environment = Environment::default();
        assert_eq!(used(&Kept, &environment, "c"), None, "it is unknown where they are");
        environment.set("HOME", "/home");
        let usage = Usage { input: 333, cached_input: 111, output: 222 };
        let total = Total { usage, cost_usd: Some(1.5) };
        assert_eq!(used(&Kept, &environment, "c"), Some(total));
        assert_eq!(used(&Kept, &environment, "e"), None);
        environment.set("XDG_DATA_HOME", "/elsewhere");
        assert_eq!(used(&Kept, &environment, "c"), None);
    }
}
