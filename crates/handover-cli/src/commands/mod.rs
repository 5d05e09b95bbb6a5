//! One file per command: its arguments, whose doc comments are the help text, and its implementation.

mod answer;
mod assemble;
mod brief;
mod chain;
mod completions;
mod config;
mod coverage;
mod data;
mod debrief;
mod demo;
mod doctor;
mod error;
mod event;
mod export;
mod gc;
mod group;
mod hook;
mod host;
mod import;
pub(crate) mod init;
mod journal;
mod learn;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod note;
#[cfg(feature = "service")]
mod open;
mod package;
mod persona;
mod probe;
mod project;
mod prove;
mod reasoning;
mod receipt;
mod redact;
#[cfg(feature = "dashboard")]
mod report;
mod request;
mod run;
mod search;
#[cfg(feature = "service")]
mod serve;
mod session;
mod setup;
mod skill_output;
mod spawn;
mod specialize;
mod stack;
mod stats;
mod status;
mod store;
mod strategy;
mod template;
#[cfg(feature = "service")]
mod token;
mod tokens;
mod trust;
mod uat;
mod undo;
mod watch;
mod where_to_look;
mod why;

use std::ffi::OsString;

use clap::{Args, Subcommand};
use handover_model::RecordState;

pub(crate) use hook::HookArgs;

use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input::Stdin;

/// The exit code of a command, or the error that ended it.
pub(crate) type Outcome = Result<Exit, CommandError>;

// Hidden ones are members of a group (`data`, `project`, `run`) or part of another (`brief --only`), which help
// lists instead.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    Init(init::InitArgs),
    #[command(subcommand)]
    Session(session::SessionCommand),
    #[command(subcommand)]
    Group(group::GroupCommand),
    #[command(subcommand)]
    Package(package::PackageCommand),
    #[command(subcommand)]
    Reasoning(reasoning::ReasoningCommand),
    #[command(subcommand)]
    SkillOutput(skill_output::SkillOutputCommand),
    #[command(subcommand)]
    Error(error::ErrorCommand),
    #[command(subcommand)]
    Strategy(strategy::StrategyCommand),
    Learn(learn::LearnArgs),
    #[command(subcommand)]
    Note(note::NoteCommand),
    #[command(subcommand)]
    Event(event::EventCommand),
    Search(search::SearchArgs),
    Where(where_to_look::WhereArgs),
    Why(why::WhyArgs),
    Assemble(assemble::AssembleArgs),
    #[command(hide = true)]
    Specialize(specialize::SpecializeArgs),
    Brief(brief::BriefArgs),
    Spawn(Box<spawn::SpawnArgs>),
    Debrief(debrief::DebriefArgs),
    #[command(hide = true)]
    Stack(stack::StackArgs),
    #[command(subcommand, hide = true)]
    Template(template::TemplateCommand),
    #[command(subcommand, hide = true)]
    Persona(persona::PersonaCommand),
    #[command(subcommand)]
    Receipt(receipt::ReceiptCommand),
    Coverage(coverage::CoverageArgs),
    Run(Box<run::RunCommand>),
    #[command(hide = true)]
    Chain(Box<chain::ChainArgs>),
    #[command(hide = true)]
    Uat(Box<uat::UatArgs>),
    Prove(Box<prove::ProveCommand>),
    Status(status::StatusArgs),
    #[command(hide = true)]
    Journal(journal::JournalArgs),
    #[command(hide = true)]
    Answer(answer::AnswerArgs),
    #[cfg(feature = "dashboard")]
    Report(report::ReportArgs),
    Stats(stats::StatsArgs),
    Undo(undo::UndoArgs),
    #[command(hide = true)]
    Gc(gc::GcArgs),
    Redact(redact::RedactArgs),
    Tokens(tokens::TokensArgs),
    Hook(hook::HookArgs),
    #[command(subcommand)]
    Host(host::HostCommand),
    #[command(subcommand)]
    Config(config::ConfigCommand),
    Trust(trust::TrustArgs),
    Untrust(trust::UntrustArgs),
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArgs),
    #[command(subcommand, hide = true)]
    Store(store::StoreCommand),
    #[command(hide = true)]
    Export(export::ExportArgs),
    #[command(hide = true)]
    Import(import::ImportArgs),
    #[cfg(feature = "service")]
    Serve(serve::ServeArgs),
    #[cfg(feature = "service")]
    Open(open::OpenArgs),
    Watch(watch::WatchArgs),
    #[cfg(feature = "service")]
    #[command(subcommand)]
    Token(token::TokenCommand),
    #[command(subcommand)]
    Data(data::DataCommand),
    #[command(subcommand)]
    Project(project::ProjectCommand),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    #[command(hide = true)]
    DemoAgent(demo::DemoAgentArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// The command line itself, for commands that run or describe others. It is passed in, because the parser
/// depends on the commands.
#[derive(Clone, Copy)]
pub(crate) struct CommandLine {
    pub(crate) run: fn(Vec<OsString>, Stdin) -> Exit,
    pub(crate) describe: fn() -> clap::Command,
}

/// A command's name and how its arguments are added.
type NamedArgs = (&'static str, fn(clap::Command) -> clap::Command);

/// A text of a record in a listing, marked if the record is retired.
fn with_state(state: RecordState, text: &str) -> String {
    match state {
        RecordState::Live => text.to_owned(),
        RecordState::Retired => format!("[retired] {text}"),
    }
}

impl Command {
    /// The commands that every agent waits for.
    pub(crate) const AWAITED: [NamedArgs; 3] = [
        ("assemble", assemble::AssembleArgs::augment_args),
        ("brief", brief::BriefArgs::augment_args),
        ("spawn", spawn::SpawnArgs::augment_args),
    ];

    pub(crate) fn run(self, app: &App, line: CommandLine) -> Outcome {
        let (fills_store, started) = (self.fills_store(), app.now());
        let outcome = self.dispatch(app, line)?;
        if fills_store {
            doctor::repair::back_up_daily(app, started);
        }
        Ok(outcome)
    }

    /// The command itself, if it was called as a member of a group.
    #[expect(clippy::wildcard_enum_match_arm, reason = "every other command stands alone")]
    pub(crate) fn itself(self) -> Self {
        match self {
            Self::Data(member) => member.into(),
            Self::Project(member) => member.into(),
            alone => alone,
        }
    }

    /// Whether it only prints what people read, possibly a lot of it.
    pub(crate) fn is_paged(&self) -> bool {
        use config::ConfigCommand;
        use note::NoteCommand;
        use package::PackageCommand;
        matches!(
            self,
            Self::Reasoning(
                reasoning::ReasoningCommand::List(_) | reasoning::ReasoningCommand::Timeline(_),
            ) | Self::Package(PackageCommand::List(_) | PackageCommand::Show(_))
                | Self::Note(NoteCommand::List(_) | NoteCommand::Show(_))
                | Self::Config(ConfigCommand::Show(_))
                | Self::Receipt(_)
                | Self::Template(_)
                | Self::Persona(_)
                | Self::Journal(_)
                | Self::Search(_)
                | Self::Where(_)
                | Self::Why(_)
                | Self::Stats(_)
                | Self::Status(_)
                | Self::Session(session::SessionCommand::List(_))
                | Self::Error(error::ErrorCommand::List(_))
                | Self::Strategy(strategy::StrategyCommand::List(_))
                | Self::Event(event::EventCommand::List(_))
        )
    }

    /// Whether it may leave something behind that is worth a copy. Hooks are not among them: an agent
    /// program waits for each.
    fn fills_store(&self) -> bool {
        matches!(
            self,
            Self::Session(_)
                | Self::Package(_)
                | Self::Reasoning(_)
                | Self::Debrief(_)
                | Self::Run(_)
                | Self::Import(_)
                | Self::Learn(_)
                | Self::Note(_)
        )
    }

    fn dispatch(self, app: &App, line: CommandLine) -> Outcome {
        match self {
            Self::Init(args) => init::run(app, args),
            Self::Session(command) => command.run(app),
            Self::Group(command) => command.run(app),
            Self::Package(command) => command.run(app),
            Self::Reasoning(command) => command.run(app),
            Self::SkillOutput(command) => command.run(app),
            Self::Error(command) => command.run(app),
            Self::Strategy(command) => command.run(app),
            Self::Learn(args) => learn::run(app, args),
            Self::Note(command) => command.run(app),
            Self::Event(command) => command.run(app),
            Self::Assemble(args) => assemble::run(app, args),
            Self::Specialize(args) => specialize::run(app, args),
            Self::Brief(args) => brief::run(app, args),
            Self::Spawn(args) => spawn::run(app, *args),
            Self::Debrief(args) => debrief::run(app, args),
            Self::Stack(args) => stack::run(app, args),
            Self::Template(command) => command.run(app),
            Self::Persona(command) => command.run(app),
            Self::Receipt(command) => command.run(app),
            Self::Coverage(args) => coverage::run(app, &args),
            Self::Search(args) => search::run(app, args),
            Self::Where(args) => where_to_look::run(app, args),
            Self::Why(args) => why::run(app, args),
            Self::Run(command) => run::run_or_abandon(app, *command),
            Self::Chain(args) => chain::run(app, *args),
            Self::Uat(args) => uat::run(app, *args),
            Self::Prove(command) => prove::run(app, *command),
            Self::Status(args) => status::run(app, args),
            Self::Journal(args) => journal::run(app, args),
            Self::Answer(args) => answer::run(app, args),
            #[cfg(feature = "dashboard")]
            Self::Report(args) => report::run(app, args),
            Self::Stats(args) => stats::run(app, args),
            Self::Undo(args) => undo::run(app, args),
            Self::Gc(args) => gc::run(app, args),
            Self::Redact(args) => redact::run(app, args),
            Self::Tokens(args) => tokens::run(app, args),
            Self::Hook(args) => hook::run(app, args),
            Self::Host(command) => command.run(app),
            Self::Config(command) => command.run(app),
            Self::Trust(args) => trust::run(app, args),
            Self::Untrust(args) => trust::untrust(app, args),
            #[cfg(feature = "mcp")]
            Self::Mcp(args) => mcp::run(app, args),
            Self::Store(command) => command.run(app),
            Self::Export(args) => export::run(app, args),
            Self::Import(args) => import::run(app, args),
            #[cfg(feature = "service")]
            Self::Serve(args) => serve::run(app, args),
            #[cfg(feature = "service")]
            Self::Open(args) => open::run(app, line, args),
            Self::Watch(args) => watch::run(app, args),
            #[cfg(feature = "service")]
            Self::Token(command) => command.run(app),
            group @ (Self::Data(_) | Self::Project(_)) => group.itself().dispatch(app, line),
            Self::Doctor(args) => doctor::run(app, args),
            Self::Demo(args) => demo::run(app, line, args),
            Self::DemoAgent(args) => demo::run_agent(app, args),
            Self::Completions(args) => completions::run(app, line, args),
            Self::Man(args) => man::run(app, line, args),
        }
    }
}
