//! `handover package …`

mod add;
mod decide;
mod import;
mod list;
mod scan;
mod show;
mod state;
mod update;
mod validate;

pub(crate) use scan::register_found;

use clap::{Args, Subcommand};
use handover_context::package_file::{Draft, Facts, Placement};
use handover_context::shape;
use handover_model::{Package, PackageKind, Priority, RecordState, Role};
use handover_store::Registered;
use serde_json::Value;

use super::{Outcome, with_state};
use crate::app::App;
use crate::error::CommandError;

/// Register, import, list, update, check and retire context packages
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PackageCommand {
    Add(add::AddArgs),
    Import(import::ImportArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Update(update::UpdateArgs),
    Scan(scan::ScanArgs),
    Validate(validate::ValidateArgs),
    Retire(state::RetireArgs),
    Restore(state::RestoreArgs),
    Confirm(decide::ConfirmArgs),
    Reject(decide::RejectArgs),
}

impl PackageCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Add(args) => add::run(app, args),
            Self::Import(args) => import::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Update(args) => update::run(app, args),
            Self::Scan(args) => scan::run(app, args),
            Self::Validate(args) => validate::run(app, args),
            Self::Retire(args) => state::retire(app, args),
            Self::Restore(args) => state::restore(app, args),
            Self::Confirm(args) => decide::confirm(app, args),
            Self::Reject(args) => decide::reject(app, args),
        }
    }
}

/// Properties of a package; the file's front matter provides the defaults.
#[derive(Debug, Clone, Args)]
pub(crate) struct FactArgs {
    /// Kind: research, failures, decisions, handoff or investigation
    #[arg(long)]
    kind: Option<PackageKind>,

    /// Role that wrote it
    #[arg(long, value_name = "ROLE")]
    producer: Option<Role>,

    /// Role that it is for; repeatable [default: every role]
    #[arg(long, value_name = "ROLE")]
    consumer: Vec<Role>,

    /// Priority: low, medium, high or critical
    #[arg(long)]
    priority: Option<Priority>,

    /// Summary that other agents see, at most 400 characters
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = crate::input::argument)]
    summary: Option<String>,

    /// Share it with every group of the session
    #[arg(long)]
    global: bool,
}

impl FactArgs {
    fn facts(self, app: &App) -> Result<Facts, CommandError> {
        app.check_roles(self.producer.iter().chain(&self.consumer))?;
        let flag = app.common.group.as_deref();
        let placement = match (self.global, flag) {
            (true, Some(group)) => {
                return Err(CommandError::invalid(format!(
                    "`--global` cannot be used with `--group {group}`"
                ))
                .hinted("Pass only one of them."));
            }
            (true, None) => Some(Placement::Global),
            (false, Some(group)) => Some(Placement::parse(group)?),
            (false, None) => None,
        };
        Ok(Facts {
            kind: self.kind,
            producer: self.producer,
            consumers: (!self.consumer.is_empty()).then_some(self.consumer),
            priority: self.priority,
            summary: self.summary,
            placement,
            default_group: app.default_group()?,
            ..Facts::default()
        })
    }
}

/// Registers a draft and prints the package.
fn register(app: &App, draft: &Draft) -> Result<Registered, CommandError> {
    for warning in &draft.warnings {
        app.ui.warn(warning);
    }
    let project = app.project_of(&draft.package.session)?;
    let registered = app.by_hand(&project)?.register(&draft.package)?;
    let package = &registered.package;
    let value = shape::registered(&registered, draft.package.body.redactions());
    app.ui.answer("package", &value, |ui| {
        let word = match (registered.created, package.supersedes) {
            (false, _) if package.state == RecordState::Retired => "Unchanged (retired)".to_owned(),
            (false, _) => "Unchanged".to_owned(),
            (true, Some(former)) => {
                format!("Registered (version {}, supersedes {former})", package.version)
            }
            (true, None) => "Registered".to_owned(),
        };
        ui.line(format_args!("{word} package {}: {}", package.id, package.path))?;
        let summary = handover_text::cut::cut(&package.summary, 100);
        let (priority, kind, tokens) = (package.priority, package.kind, package.tokens);
        ui.line(format_args!("  [{priority}] {kind} · {tokens} tokens · {summary}"))
    })?;
    Ok(registered)
}

fn with_created(registered: &Registered) -> Value {
    let mut value = serde_json::to_value(&registered.package).unwrap_or_default();
    value["created"] = registered.created.into();
    value
}

/// A row of `package list`.
fn row(p: &Package) -> Vec<String> {
    vec![
        p.id.to_string(),
        format!("v{}", p.version),
        p.priority.to_string(),
        p.kind.to_string(),
        p.group.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
        p.path.clone(),
        handover_text::cut::cut(&with_state(p.state, &p.summary), 60),
    ]
}

const HEADER: [&str; 7] = ["id", "ver", "priority", "kind", "group", "path", "summary"];
