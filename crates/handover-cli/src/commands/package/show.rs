//! `handover package show`

use handover_context::package_file::{FileState, file_state};
use handover_context::shape;
use handover_model::{Delivery, ItemKind, PackageId, RecordState, Use};
use handover_store::Store;
use handover_text::redactions;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show a package: its versions, deliveries, and whether its file has changed
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package show 3\n  handover package show docs/oauth.md --json"
)]
pub(crate) struct ShowArgs {
    /// Package: its number, the path of its file, or `latest`
    id: String,

    /// Include the registered text
    #[arg(long)]
    body: bool,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let store = app.store()?;
    let id = app.find_package(&args.id)?;
    let package = app.package(id)?;
    let history = store.package_history(id)?;
    let deliveries = store.package_deliveries(id)?;
    let state = file_state(app.places()?, &package);
    let answer = shape::package(store, app.places()?, id, args.body)?;
    let body = answer["body"].as_str();
    let redacted = redactions(&store.package_body(id)?);
    app.ui.answer("package", &answer, |ui| {
        ui.line(format_args!("Package    {} (version {})", package.id, package.version))?;
        ui.line(format_args!(
            "File       {}{}",
            package.path,
            match state {
                FileState::Current => "",
                FileState::Changed => "  (changed since it was registered)",
                FileState::Vanished => "  (missing)",
                FileState::Elsewhere => "  (on another machine; --body prints its text)",
            }
        ))?;
        ui.line(format_args!("Kind       {} [{}]", package.kind, package.priority))?;
        ui.line(format_args!("Session    {}", package.session))?;
        ui.line(format_args!("From       {}", package.producer))?;
        let consumers: Vec<&str> = package.consumers.iter().map(|role| role.as_str()).collect();
        ui.line(format_args!(
            "For        {}",
            if consumers.is_empty() { "everyone".to_owned() } else { consumers.join(", ") }
        ))?;
        let group = package.group.as_ref().map_or("–", |group| group.as_str());
        ui.line(format_args!("Group      {group} ({})", package.scope))?;
        ui.line(format_args!(
            "Size       {} bytes, {} tokens",
            package.size_bytes, package.tokens
        ))?;
        if redacted > 0 {
            ui.line(format_args!("Redacted   {redacted} when it was stored"))?;
        }
        ui.line(format_args!("Summary    {}", package.summary))?;
        if package.state == RecordState::Retired {
            let reason = package.reason.as_ref().map(|reason| format!(": {reason}"));
            ui.line(format_args!("State      retired{}", reason.unwrap_or_default()))?;
        }
        if let Some(by) = package.superseded_by {
            ui.line(format_args!("Superseded by {by}"))?;
        }
        if history.len() > 1 {
            let chain: Vec<String> =
                history.iter().map(|p| format!("v{} = {}", p.version, p.id)).collect();
            ui.line(format_args!("Versions   {}", chain.join(", ")))?;
        }
        for delivery in &deliveries {
            let used = used(store, delivery, package.id);
            ui.line(format_args!(
                "Delivered  {} to {} (attempt {}), {}{}",
                ui.time(delivery.delivered_at),
                delivery.role,
                delivery.iteration + 1,
                delivery.state,
                used.map(|used| format!(", {used}")).unwrap_or_default()
            ))?;
        }
        match body {
            Some(body) => ui.line(format_args!("\n{body}")),
            None => Ok(()),
        }
    })?;
    Ok(Exit::Done)
}

/// What the agent did with the package, as far as its conversation tells.
fn used(store: &dyn Store, delivery: &Delivery, package: PackageId) -> Option<Use> {
    let (receipt, id) = (store.receipt(&delivery.receipt).ok()?, package.to_string());
    let is_it = |kind: ItemKind, item: &str| kind == ItemKind::Package && item == id;
    receipt.items.iter().find(|item| is_it(item.kind, &item.id))?.used
}
