//! What differs between these programs when one conversation spawns every kind of subagent.

use handover_testkit::{Answer, ModelServer, RealHost, TestEnv};
use serde_json::{Value, json};

/// A field of a call, and its value.
type Field = (&'static str, fn() -> Value);

/// A program with the call that spawns a subagent.
pub(super) struct Program {
    pub(super) name: &'static str,
    pub(super) host: fn(&TestEnv, &ModelServer) -> RealHost,
    /// The tool, and its input for a kind and a task.
    pub(super) call: fn(&str, &str) -> (&'static str, Value),
    /// Its general kind, and one that only reads.
    pub(super) kinds: [&'static str; 2],
    /// What a subagent ends with.
    pub(super) end: fn(&str) -> Answer,
    /// What one of a custom kind ends with.
    pub(super) custom_end: fn(&str) -> Answer,
    /// The file and the text of a custom kind.
    pub(super) custom: (&'static str, &'static str),
    /// The field and the value by which a spawn runs in the background, if there is one.
    pub(super) background: Option<Field>,
}

impl Program {
    pub(super) fn spawn(&self, kind: &str, task: &str) -> Answer {
        let (tool, input) = (self.call)(kind, task);
        Answer::tool(tool, input)
    }
}

pub(super) const COPILOT: Program = Program {
    name: "copilot",
    host: RealHost::copilot,
    call: |kind, task| {
        let input = json!({"description": "work", "prompt": task, "agent_type": kind, "name": "worker",
            "mode": "sync"});
        ("task", input)
    },
    kinds: ["general-purpose", "explore"],
    end: Answer::text,
    custom_end: Answer::text,
    custom: (
        ".github/agents/token-smith.agent.md",
        "---\nname: token-smith\ndescription: Makes tokens.\n---\nYou make tokens.\n",
    ),
    background: Some(("mode", || "background".into())),
};

pub(super) const GEMINI: Program = Program {
    name: "gemini",
    host: RealHost::gemini,
    call: |kind, task| ("invoke_agent", json!({"agent_name": kind, "prompt": task})),
    kinds: ["generalist", "codebase_investigator"],
    end: |text| {
        // Each kind has a form of its own for its result.
        let findings =
            json!({"SummaryOfFindings": text, "ExplorationTrace": [], "RelevantLocations": []});
        Answer::tool("complete_task", json!({"result": {"response": text}, "report": findings}))
    },
    custom_end: |text| Answer::tool("complete_task", json!({"result": text})),
    // It finds custom kinds in the home folder only when nobody is asked.
    custom: (
        "../home/.gemini/agents/token-smith.md",
        "---\nname: token-smith\ndescription: Makes tokens.\n---\nYou make tokens.\n",
    ),
    background: None,
};

pub(super) const OPENCODE: Program = Program {
    name: "opencode",
    host: RealHost::opencode,
    call: |kind, task| {
        ("task", json!({"description": "work", "prompt": task, "subagent_type": kind}))
    },
    kinds: ["general", "explore"],
    end: Answer::text,
    custom_end: Answer::text,
    custom: (
        ".opencode/agent/token-smith.md",
        "---\ndescription: Makes tokens.\nmode: subagent\n---\nYou make tokens.\n",
    ),
    background: None,
};

pub(super) const QWEN: Program = Program {
    name: "qwen",
    host: RealHost::qwen,
    call: |kind, task| {
        let input = json!({"description": "work", "prompt": task, "run_in_background": false,
            "subagent_type": kind});
        ("agent", input)
    },
    kinds: ["general-purpose", "Explore"],
    end: Answer::text,
    custom_end: Answer::text,
    custom: (
        ".qwen/agents/token-smith.md",
        "---\nname: token-smith\ndescription: Makes tokens.\n---\nYou make tokens.\n",
    ),
    background: Some(("run_in_background", || true.into())),
};
