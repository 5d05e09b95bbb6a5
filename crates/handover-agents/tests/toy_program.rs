//! An agent program the crate does not know, added using public interfaces only.

#![expect(clippy::unwrap_used, reason = "these are tests")]

use std::ffi::OsString;
use std::path::Path;

use handover_agents::{
    AgentError, AgentEvent, AgentProgram, CancelToken, Capabilities, Captured, Ended, Failure,
    Invocation, Outcome, OutputReader, Registry, Report, SpawnId, Usage,
};
use handover_model::{AdmittedPrompt, FailureClass, Host, Profile, ReceiptId};

const TOY: Host = Host::from_static("toy");

struct Toy;

impl AgentProgram for Toy {
    fn host(&self) -> Host {
        TOY
    }

    fn default_program(&self) -> &'static str {
        "toy-agent"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["TOY_*"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { resumable: true, reports_result: true, ..Capabilities::default() }
    }

    fn args(&self, invocation: &Invocation) -> Vec<OsString> {
        let mut args = invocation.args.clone();
        args.push(format!("--may={}", invocation.profile).into());
        args.extend(invocation.resume.iter().map(|chat| format!("--chat={chat}").into()));
        args
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::<ToyReader>::default()
    }
}

/// `chat ID`, `say TEXT`, `tokens N`, `done` and `error MESSAGE`, one per line.
#[derive(Default)]
struct ToyReader {
    report: Report,
    done: bool,
}

impl OutputReader for ToyReader {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "chat" => {
                self.report.host_session = Some(rest.to_owned());
                on_event(AgentEvent::Started { session: Some(rest.to_owned()), model: None });
            }
            "say" => {
                rest.clone_into(&mut self.report.last_text);
                on_event(AgentEvent::Text(rest.to_owned()));
            }
            "tokens" => {
                let output = rest.parse().unwrap_or_default();
                self.report.usage = Usage { output, ..Usage::default() };
            }
            "done" => self.done = true,
            "error" => {
                let message = rest.to_owned();
                self.report.error = Some(Failure { class: FailureClass::Quota, message });
            }
            _ => {
                self.report.unknown_lines += 1;
                on_event(AgentEvent::Raw(line.to_owned()));
            }
        }
    }

    fn report(self: Box<Self>, _ended: Ended, _stdout: &Captured, _stderr: &Captured) -> Report {
        let answer = self.done.then(|| self.report.last_text.clone());
        Report { answer, ..self.report }
    }
}

fn registry() -> Registry {
    Registry::built_in().clone().with(&Toy)
}

/// A run of the toy, implemented by a shell script that sees the arguments as `$@`.
fn run(script: &str, change: impl FnOnce(&mut Invocation)) -> (Outcome, Vec<AgentEvent>) {
    let folder = tempfile::tempdir().unwrap();
    let mut invocation = Invocation::new(TOY, SpawnId::new("toy-1").unwrap(), folder.path());
    invocation.program = "/bin/sh".into();
    invocation.args = vec!["-c".into(), script.into(), "toy".into()];
    let vars = [("PATH", "/bin:/usr/bin"), ("TOY_KEY", "secret"), ("OTHER_KEY", "hidden")];
    let vars = vars.map(|(name, value)| (name.into(), value.into()));
    invocation.environment = registry().environment(vars, TOY, &[]);
    let receipt = ReceiptId::new("r_toy").unwrap();
    invocation.prompt = Some(AdmittedPrompt::admit_unchecked("Play.".to_owned(), receipt));
    change(&mut invocation);
    let mut events = Vec::new();
    let cancel = CancelToken::default();
    let outcome = registry().run(&invocation, None, &mut |event| events.push(event), &cancel);
    (outcome.unwrap(), events)
}

#[test]
fn runs_with_its_own_arguments_environment_and_reader() {
    let script =
        r#"echo chat c-1; echo say "$@ $TOY_KEY${OTHER_KEY:-}"; echo hm; echo tokens 7; echo done"#;
    let (outcome, events) = run(script, |invocation| {
        invocation.profile = Profile::Edit;
        invocation.resume = Some("c-0".to_owned());
    });
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.final_text, "--may=edit --chat=c-0 secret");
    assert_eq!(outcome.report.host_session.as_deref(), Some("c-1"));
    assert_eq!((outcome.report.usage.output, outcome.report.unknown_lines), (7, 1));
    assert!(events.contains(&AgentEvent::Raw("hm".to_owned())), "{events:?}");
}

#[test]
fn ending_without_the_promised_result_is_a_failure() {
    let (outcome, _) = run("echo say half", |_| {});
    assert_eq!(outcome.failure.unwrap().class, FailureClass::NoResult);
    assert_eq!(outcome.final_text, "half");
    let (outcome, _) = run("echo error empty purse; exit 4", |_| {});
    let failure = outcome.failure.unwrap();
    assert_eq!((failure.class, failure.message.as_str()), (FailureClass::Quota, "empty purse"));
}

#[test]
fn reads_its_prompt_on_standard_input_and_does_not_start_without() {
    let (outcome, _) = run("read -r prompt; echo \"say $prompt\"; echo done", |_| {});
    assert_eq!(outcome.final_text, "Play.");
    let invocation = Invocation::new(TOY, SpawnId::new("toy-2").unwrap(), "/");
    let refused = registry().run(&invocation, None, &mut |_| {}, &CancelToken::default());
    assert!(matches!(refused.unwrap_err(), AgentError::NoPrompt { .. }));
}

#[test]
fn recorded_output_is_read_like_a_run() {
    let mut events = Vec::new();
    let (report, failure) = registry()
        .replay(TOY, "say hello\ndone\n", Ended::Exited(0), &mut |event| events.push(event))
        .unwrap();
    assert_eq!((report.answer.as_deref(), failure), (Some("hello"), None));
    assert_eq!(events, [AgentEvent::Text("hello".to_owned())]);
}

#[test]
fn is_known_only_where_it_is_registered() {
    let names: Vec<String> = registry().hosts().iter().map(Host::to_string).collect();
    assert_eq!(names.last().map(String::as_str), Some("toy"));
    assert_eq!(registry().parse("toy").unwrap(), TOY);
    assert!(registry().find(TOY).unwrap().capabilities().resumable);

    let error = Registry::built_in().parse("toy").unwrap_err();
    assert!(error.to_string().starts_with("unknown host `toy`; use claude, "), "{error}");
    let invocation = Invocation::new(TOY, SpawnId::new("x").unwrap(), Path::new("/"));
    let error = handover_agents::run(&invocation, None, &mut |_| {}, &CancelToken::default());
    assert!(matches!(error.unwrap_err(), AgentError::UnknownHost { .. }));
    assert_eq!(handover_agents::default_program(TOY), "");
}

#[test]
fn a_program_of_the_same_name_replaces_the_first() {
    let twice = registry().with(&Toy);
    assert_eq!(twice.hosts().iter().filter(|host| **host == TOY).count(), 1);
}
