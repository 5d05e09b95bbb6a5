//! `handover brief`

use handover_handoff::{Brief, Handoff, HandoffRequest, Prepared, Recorded};
use handover_model::{Fate, ReceiptId, ReceiptState, TestingMode};
use handover_store::NewReceipt;

use super::Outcome;
use super::assemble::{self, AssembleArgs};
use super::request::{RequestArgs, on_or_off};
use super::specialize::{self, SpecializeArgs};
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui;

/// Write an agent's whole prompt: context, specialization, role, task
///
/// Prints exactly the text to hand over. One receipt covers all of it; `handover receipt verify`
/// proves later that a prompt is this one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BriefArgs {
    #[command(flatten)]
    pub(crate) request: RequestArgs,

    #[command(flatten)]
    pub(crate) parts: PartArgs,

    /// Mark the receipt delivered once the text is written
    #[arg(long)]
    deliver: bool,

    /// Print one part by itself, as `assemble` or `specialize` does
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
}

/// A part of a brief that can stand alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    Context,
    Specialization,
}

/// Which parts a brief has, and for what.
#[derive(Debug, clap::Args)]
pub(crate) struct PartArgs {
    /// Amount of testing in the workflow: full, minimal or disabled
    #[arg(long, value_name = "MODE")]
    testing_mode: Option<TestingMode>,

    /// Component that the agent works in [default: the group's component, else the whole project]
    #[arg(long, value_name = "PATH")]
    component: Option<String>,

    /// Context from other agents: on or off
    #[arg(long, value_name = "on|off", value_parser = on_or_off, default_value = "on",
        action = clap::ArgAction::Set)]
    context: bool,

    /// Advice for the project's technology: on or off
    #[arg(long, value_name = "on|off", value_parser = on_or_off, default_value = "on",
        action = clap::ArgAction::Set)]
    specialization: bool,
}

impl PartArgs {
    /// What `specialize` is asked for by the same flags.
    fn specialization_of(
        self,
        app: &App,
        request: RequestArgs,
    ) -> Result<SpecializeArgs, CommandError> {
        Ok(SpecializeArgs {
            task: request.task(app)?,
            role: request.role,
            model: request.model,
            testing_mode: self.testing_mode,
            component: self.component,
            budget: None,
        })
    }

    /// Adds the parts to a request.
    pub(crate) fn with(&self, request: HandoffRequest) -> HandoffRequest {
        HandoffRequest {
            testing_mode: self.testing_mode,
            component: self.component.clone(),
            context: self.context,
            specialization: self.specialization,
            ..request
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  handover brief --role developer --group login --task \"Refresh tokens in parallel\"
  handover brief --role qa_expert --task-file story.md --model opus --deliver | claude -p
  handover brief --role developer --task \"Refresh tokens\" --only context";

pub(crate) fn run(app: &App, args: BriefArgs) -> Outcome {
    let BriefArgs { request, parts, deliver, only } = args;
    match only {
        Some(Part::Context) => {
            assemble::run(app, AssembleArgs { request, explain: false, deliver })
        }
        Some(Part::Specialization) => specialize::run(app, parts.specialization_of(app, request)?),
        None => whole(app, &request, &parts, deliver),
    }
}

fn whole(app: &App, request: &RequestArgs, parts: &PartArgs, deliver: bool) -> Outcome {
    app.answer_within_a_second();
    let task = request.task(app)?;
    let request = parts.with(request.request(app, app.session()?, task)?);
    // A store that cannot be read: a person should hear of it instead of getting less context.
    app.store()?;
    let handoffs = app.handoffs()?;
    if !deliver {
        let (brief, recorded) = handoffs.draft(&request)?;
        warn_unless_stored(app, &brief.receipt.id, &recorded);
        print(app, &brief, ReceiptState::Assembled)?;
        return Ok(Exit::Done);
    }
    let Prepared { brief, handoff, .. } = handoffs.prepare(&request)?;
    warn_unless_stored(app, &brief.receipt.id, &handoff.recorded);
    warn_of_guard(app, &handoff);
    match print(app, &brief, ReceiptState::Delivered) {
        Ok(()) if !handoff.in_store() => {}
        Ok(()) => handoffs.started(&brief.receipt.id, None, app.now())?,
        Err(error) => {
            handoffs.not_started(&handoff, &error.message, app.now());
            return Err(error);
        }
    }
    Ok(Exit::Done)
}

fn print(app: &App, brief: &Brief, state: ReceiptState) -> Result<(), CommandError> {
    warn_about(app, brief);
    note_delivered(app, &brief.receipt);
    match app.ui.is_json() {
        true => app.ui.document(&brief.document(state)),
        false => app.ui.bytes(brief.text.as_bytes()),
    }
}

/// Says where a receipt is that the store could not take.
pub(crate) fn warn_unless_stored(app: &App, receipt: &ReceiptId, recorded: &Recorded) {
    match recorded {
        Recorded::Store => {}
        Recorded::Spool { folder, reason } => app.ui.warn(format_args!(
            "{reason}; receipt {receipt} waits in {} and is imported later",
            folder.path().display()
        )),
        Recorded::Nowhere { reason } => app.ui.warn(format_args!(
            "{reason}; receipt {receipt} is not recorded anywhere (see `handover doctor`)"
        )),
    }
}

/// Says that something is missing because this role has had it, and how to see it.
pub(crate) fn note_delivered(app: &App, receipt: &NewReceipt) {
    let count = receipt.left_out_counts.get(Fate::DeliveredAlready.as_str()).copied().unwrap_or(0);
    if count > 0 {
        app.ui.note(format_args!(
            "{} left out: {} got {} before. `--iteration {}` gives everything again; `handover receipt list --role {}` \
             shows what it had.",
            ui::count(count, "item"),
            receipt.role,
            if count == 1 { "it" } else { "them" },
            receipt.iteration + 1,
            receipt.role
        ));
    }
}

/// Prints what a strict guard would have refused.
pub(crate) fn warn_of_guard(app: &App, handoff: &Handoff) {
    for warning in &handoff.warnings {
        app.ui.warn(format_args!("guard: {warning}"));
    }
}

/// Prints what is degraded, and why.
pub(crate) fn warn_about(app: &App, made: &Brief) {
    use handover_model::Provision::Degraded;
    let provided = &made.receipt.provided;
    for (part, provision) in
        [("context", &provided.context), ("specialization", &provided.specialization)]
    {
        if let Degraded { reason } = provision {
            app.ui.warn(format_args!("the {part} is degraded: {reason}"));
        }
    }
    for note in made.specialization.iter().flat_map(|made| &made.notes) {
        app.ui.warn(note);
    }
}
