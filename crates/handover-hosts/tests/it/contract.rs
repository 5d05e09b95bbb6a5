//! What must hold for every registered host, whatever its protocol.

use std::path::Path;

use handover_hosts::settings::{Scope, SettingsFolders, is_our_command};
use handover_hosts::{Action, Answer, HookEvent, HookHost, Registry};
use serde_json::json;

fn hosts() -> impl Iterator<Item = &'static dyn HookHost> {
    Registry::built_in().iter()
}

#[test]
fn names_are_unique_and_titles_are_not_empty() {
    let mut names: Vec<_> = hosts().map(HookHost::name).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(hosts().all(|host| !host.title().is_empty() && !host.general_kinds().is_empty()));
}

#[test]
fn what_a_host_starts_can_be_told_from_what_a_person_starts() {
    let mut marks: Vec<&str> = Vec::new();
    for host in hosts() {
        assert!(!host.processes().is_empty() && !host.loads().is_empty(), "{}", host.name());
        marks.extend(host.marks());
    }
    assert!(hosts().all(|host| !host.marks().is_empty()));
    let count = marks.len();
    marks.sort_unstable();
    marks.dedup();
    assert_eq!(marks.len(), count, "a variable tells which host it was");
}

#[test]
fn a_brief_can_reach_the_subagents_of_every_host() {
    for host in hosts() {
        let can = host.capabilities();
        assert!(can.rewrites_prompt || can.injects_at_start || can.holds_back, "{}", host.name());
    }
}

#[test]
fn settings_survive_installing_and_uninstalling() {
    for host in hosts() {
        let (settings, name) = (host.settings(), host.name());
        let command = format!("/opt/handover hook {name}");
        assert!(is_our_command(name, &command));
        let with = settings.install("", &command).unwrap();
        assert_eq!(settings.registered(&with).unwrap(), settings.events(), "{name}");
        assert_eq!(settings.commands(&with).unwrap(), [command.as_str()], "{name}");
        assert_eq!(settings.install(&with, &command).unwrap(), with, "{name}: twice is once");
        let without = settings.uninstall(&with).unwrap().unwrap_or_default();
        assert_eq!(settings.registered(&without).unwrap(), [""; 0], "{name}");
    }
}

#[test]
fn settings_are_in_a_file_per_host_and_scope() {
    let folders = SettingsFolders {
        project: Some(Path::new("/project")),
        home: Some(Path::new("/home/me")),
        variables: &|_| None,
    };
    let mut paths = Vec::new();
    for host in hosts() {
        for scope in Scope::ALL {
            let Some(path) = host.settings().path(scope, folders) else { continue };
            let root = if scope == Scope::Project { "/project" } else { "/home/me" };
            assert!(path.starts_with(root), "{} {scope}: {}", host.name(), path.display());
            paths.push(path);
        }
    }
    let count = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), count, "two hosts share a file");
}

#[test]
fn nothing_is_written_when_there_is_nothing_to_say() {
    let events = [
        HookEvent::SubagentStarted,
        HookEvent::Other,
        HookEvent::FileRead("a".into()),
        HookEvent::CommandPassed("make".to_owned()),
    ];
    for host in hosts() {
        for event in &events {
            assert_eq!(host.write(event, &Answer::default()), None, "{event:?}");
            let wrong = Answer::from(Action::Rewrite(json!({})));
            assert_eq!(host.write(event, &wrong), None, "{event:?}");
        }
    }
}

#[test]
fn a_notice_reaches_the_user_at_every_event() {
    for host in hosts() {
        let answer = Answer { notice: Some("look".to_owned()), ..Answer::default() };
        let written = host.write(&HookEvent::Other, &answer).unwrap();
        assert!(written.contains("look"), "{}: {written}", host.name());
    }
}

#[test]
fn a_probe_stays_inside_its_folders() {
    let home = Path::new("/tmp/probe/home");
    for host in hosts() {
        for (path, text) in
            host.probes(home, "http://127.0.0.1:1").iter().flat_map(|one| &one.files)
        {
            assert!(path.starts_with(home), "{}", path.display());
            assert!(!text.is_empty());
        }
        let Some(setup) = host.probes(home, "http://127.0.0.1:1").pop() else { continue };
        let folders = SettingsFolders {
            project: Some(Path::new("/tmp/probe/project")),
            home: Some(home),
            variables: &|name| {
                let found = setup.variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.to_str().unwrap().to_owned())
            },
        };
        let path = host.settings().path(setup.scope, folders).unwrap();
        assert!(path.starts_with("/tmp/probe"), "{}", path.display());
    }
}

#[test]
fn every_schema_is_named_after_its_host() {
    for host in hosts() {
        for (name, schema) in host.schemas() {
            assert!(name.starts_with(&format!("{}-", host.name())), "{name}");
            assert!(schema["properties"].is_object(), "{name}");
        }
    }
}
