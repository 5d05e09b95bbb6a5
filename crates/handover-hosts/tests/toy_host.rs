//! A host the crate does not know, added using public interfaces only: another protocol (lines instead of
//! JSON objects in Claude's form), another settings format, no transcripts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use handover_hosts::decide::spawn::{Outcome, decide, delivery};
use handover_hosts::settings::{
    HookSettings, Scope, SettingsError, SettingsFolders, is_our_command,
};
use handover_hosts::{
    Action, Answer, Capabilities, EventHead, HookCall, HookEvent, HookHost, Registry,
    SubagentSpawn, SubagentStop, TextLimit,
};
use handover_model::{BriefDelivery, Host, HostSessionId};
use serde_json::{Value, json};

const TOY: Host = Host::from_static("toy");

struct Toy;

impl HookHost for Toy {
    fn name(&self) -> Host {
        TOY
    }

    fn title(&self) -> &'static str {
        "Toy"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            rewrites_prompt: true,
            text_limit: Some(TextLimit::Chars(100)),
            ..Capabilities::default()
        }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["helper"]
    }

    fn processes(&self) -> &'static [&'static str] {
        &["toy-agent"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["TOY_AGENT"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["TOY.md"]
    }

    fn recognizes(&self, head: &EventHead) -> bool {
        head.has("toy")
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        let value: Value = serde_json::from_str(text)?;
        let event = match head.text("toy") {
            Some("before-child") => HookEvent::SubagentSpawn(SubagentSpawn {
                kind: "helper".to_owned(),
                prompt: value["args"]["goal"].as_str().unwrap_or_default().to_owned(),
                model: None,
                input: value["args"].as_object().cloned().unwrap_or_default(),
                prompt_field: "goal",
                name_field: "name",
                sealed: false,
            }),
            Some("after-child") => HookEvent::SubagentStopping(SubagentStop {
                transcript: None,
                last_message: value["said"].as_str().map(ToOwned::to_owned),
                held_before: false,
            }),
            _ => HookEvent::Other,
        };
        let conversation = head.text("chat").and_then(|id| HostSessionId::new(id).ok());
        Ok(HookCall { conversation, ..HookCall::new(TOY, event) })
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        match (event, &answer.action) {
            (HookEvent::SubagentSpawn(_), Action::Rewrite(args)) => Some(format!("args {args}")),
            (HookEvent::SubagentSpawn(_), Action::Refuse(reason)) => Some(format!("no {reason}")),
            _ => None,
        }
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &ToySettings
    }
}

/// One line per event: `on EVENT run COMMAND`. There are no settings for the whole user.
struct ToySettings;

impl ToySettings {
    const EVENTS: [&str; 2] = ["before-child", "after-child"];

    fn entry(line: &str) -> Option<(&'static str, &str)> {
        let (event, command) = line.strip_prefix("on ")?.split_once(" run ")?;
        let event = Self::EVENTS.into_iter().find(|known| *known == event)?;
        is_our_command(TOY, command).then_some((event, command))
    }
}

impl HookSettings for ToySettings {
    fn path(&self, scope: Scope, folders: SettingsFolders<'_>) -> Option<PathBuf> {
        match scope {
            Scope::Project => Some(folders.project?.join("toy.conf")),
            Scope::User => None,
        }
    }

    fn events(&self) -> Vec<&'static str> {
        Self::EVENTS.to_vec()
    }

    fn registered(&self, text: &str) -> Result<Vec<&'static str>, SettingsError> {
        Ok(text.lines().filter_map(|line| Some(Self::entry(line)?.0)).collect())
    }

    fn commands(&self, text: &str) -> Result<Vec<String>, SettingsError> {
        let mut commands: Vec<_> =
            text.lines().filter_map(|line| Some(Self::entry(line)?.1.to_owned())).collect();
        commands.dedup();
        Ok(commands)
    }

    fn install(&self, text: &str, command: &str) -> Result<String, SettingsError> {
        if text.contains('\0') {
            let message = "a NUL byte".to_owned();
            return Err(SettingsError::Syntax { format: "toy settings", message });
        }
        let mut text = self.uninstall(text)?.unwrap_or_default();
        for event in Self::EVENTS {
            let _ = writeln!(text, "on {event} run {command}");
        }
        Ok(text)
    }

    fn uninstall(&self, text: &str) -> Result<Option<String>, SettingsError> {
        let others = text.split_inclusive('\n').filter(|line| Self::entry(line.trim()).is_none());
        let rest: String = others.collect();
        Ok((!rest.is_empty()).then_some(rest))
    }
}

fn registry() -> Registry {
    Registry::built_in().clone().with(&Toy)
}

#[test]
fn an_event_becomes_an_answer() {
    let registry = registry();
    let event =
        r#"{"toy": "before-child", "chat": "c1", "args": {"goal": "Look around.", "speed": 9}}"#;
    let call = registry.read(TOY, event).unwrap();
    assert_eq!((call.host, call.conversation), (TOY, HostSessionId::new("c1").ok()));
    let HookEvent::SubagentSpawn(spawn) = &call.event else { panic!("{:?}", call.event) };

    let toy = registry.find(call.host).unwrap();
    let method = delivery(toy.capabilities(), false).unwrap();
    let made = Outcome::Made("## Context\n".to_owned());
    let answer = Answer::from(decide(spawn, method, made));
    let written = toy.write(&call.event, &answer).unwrap();
    let args: Value = serde_json::from_str(written.strip_prefix("args ").unwrap()).unwrap();
    assert_eq!(args, json!({"goal": "## Context\n\n## Your Task\n\nLook around.\n", "speed": 9}));

    let refused = Answer::from(decide(spawn, method, Outcome::Refused("not ready".to_owned())));
    assert_eq!(toy.write(&call.event, &refused).as_deref(), Some("no not ready"));
}

#[test]
fn its_events_are_recognized_behind_the_hooks_of_another_host() {
    let event = r#"{"toy": "after-child", "said": "done"}"#;
    let call = registry().read(Host::CLAUDE, event).unwrap();
    assert_eq!(call.host, TOY);
    // Without the toy it is a Claude Code event without a name.
    assert!(Registry::built_in().read(Host::CLAUDE, event).is_err());
    assert!(Registry::built_in().read(TOY, event).is_err());
}

#[test]
fn missing_capabilities_are_not_taken_from_another_host() {
    let toy = registry().find(TOY).unwrap();
    assert!(toy.transcript().is_none());
    let everything = |_: &str| Some("claude-code_9-9-9".to_owned());
    assert_eq!(toy.version(&everything), None);
    assert_eq!(toy.start_folder(&everything), None);
    assert_eq!(toy.probes(Path::new("/home"), "http://127.0.0.1"), []);
    // A version that drops rewritten prompts leaves it no way to deliver a brief.
    assert_eq!(delivery(toy.capabilities(), false), Some(BriefDelivery::Rewrite));
    assert_eq!(delivery(toy.capabilities(), true), None);
    let held = Answer::from(Action::HoldBack("debrief".to_owned()));
    assert_eq!(toy.write(&HookEvent::SubagentStarted, &held), None);
}

#[test]
fn settings_are_installed_and_uninstalled_byte_for_byte() {
    let settings = registry().find(TOY).unwrap().settings();
    let command = "/opt/handover hook toy";
    for before in
        ["", "# mine\r\non before-child run other\nsound off\n", "no newline at the end\n"]
    {
        let with = settings.install(before, command).unwrap();
        assert_eq!(settings.registered(&with).unwrap(), settings.events());
        assert_eq!(settings.commands(&with).unwrap(), [command]);
        assert_eq!(settings.install(&with, command).unwrap(), with, "twice is once");
        let after = settings.uninstall(&with).unwrap();
        assert_eq!(after.as_deref().unwrap_or_default(), before);
    }
    assert_eq!(settings.uninstall("on after-child run handover hook toy\n").unwrap(), None);
    let error = settings.install("\0", command).unwrap_err().to_string();
    assert_eq!(error, "it is not valid toy settings: a NUL byte");
}

#[test]
fn settings_exist_only_at_the_scopes_of_the_host() {
    let settings = registry().find(TOY).unwrap().settings();
    let folders = SettingsFolders {
        project: Some(Path::new("/project")),
        home: Some(Path::new("/home/me")),
        variables: &|_| None,
    };
    assert_eq!(settings.path(Scope::Project, folders).unwrap(), Path::new("/project/toy.conf"));
    assert_eq!(settings.path(Scope::User, folders), None);
}

#[test]
fn a_host_of_the_same_name_replaces_the_first() {
    let twice = registry().with(&Toy);
    let names: Vec<String> = twice.iter().map(|host| host.name().to_string()).collect();
    assert_eq!(names.iter().filter(|name| *name == "toy").count(), 1);
    assert_eq!(names.len(), Registry::built_in().iter().count() + 1);
}
