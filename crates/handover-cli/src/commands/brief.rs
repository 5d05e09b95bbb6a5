//! `handover brief`

use handover_context::assemble::deliver;
use handover_context::brief::{Brief, Request, Setting, brief};
use handover_context::shape;
use handover_model::{ReceiptState, TestingMode};

use super::Outcome;
use super::request::{RequestArgs, on_or_off};
use super::stack::stack_of;
use crate::app::App;
use crate::error::Exit;

/// Make the whole prompt of an agent: context, specialization, role, task
///
/// Prints exactly the text to hand over. One receipt covers all of it: `handover receipt verify`
/// proves later that a prompt is this one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BriefArgs {
    #[command(flatten)]
    pub(crate) request: RequestArgs,

    #[command(flatten)]
    pub(crate) parts: PartArgs,

    /// Count the text as delivered once it is written
    #[arg(long)]
    deliver: bool,
}

/// Which parts a brief has.
#[derive(Debug, clap::Args)]
pub(crate) struct PartArgs {
    /// How much testing the workflow does: full, minimal or disabled
    #[arg(long, value_name = "MODE")]
    testing_mode: Option<TestingMode>,

    /// The part of the project that the agent works in [default: the group's, else all of it]
    #[arg(long, value_name = "PATH")]
    component: Option<String>,

    /// What other agents found out: on or off
    #[arg(long, value_name = "on|off", value_parser = on_or_off, default_value = "on",
        action = clap::ArgAction::Set)]
    context: bool,

    /// What holds for the project's technology: on or off
    #[arg(long, value_name = "on|off", value_parser = on_or_off, default_value = "on",
        action = clap::ArgAction::Set)]
    specialization: bool,
}

impl PartArgs {
    /// The request of a whole brief.
    pub(crate) fn with(&self, spawn: handover_context::assemble::Request) -> Request {
        Request {
            spawn,
            testing_mode: self.testing_mode,
            component: self.component.clone(),
            context: self.context,
            specialization: self.specialization,
            about: None,
            role_text: None,
            count_attempt: false,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  handover brief --role developer --group login --task \"Refresh tokens in parallel\"
  handover brief --role qa_expert --task-file story.md --model opus --deliver | claude -p";

pub(crate) fn run(app: &App, args: BriefArgs) -> Outcome {
    let task = args.request.task(app)?;
    let mut spawn = args.request.request(app, app.session()?, app.group()?, task)?;
    spawn.deliver = args.deliver;
    let setting = Setting {
        store: Ok(app.store()?),
        redactor: app.redactor()?,
        config: app.config()?,
        stack: &stack_of(app)?,
        templates: &app.templates(),
        places: Some(app.places()?),
    };
    let made = brief(setting, &args.parts.with(spawn))?;
    warn_about(app, &made);
    if app.ui.is_json() {
        let state = if args.deliver { ReceiptState::Delivered } else { ReceiptState::Assembled };
        app.ui.document(&shape::brief(&made, state))?;
    } else {
        app.ui.bytes(made.text.as_bytes())?;
    }
    if args.deliver {
        deliver(app.store()?, app.redactor()?, &made.receipt.id, None, app.now())?;
    }
    Ok(Exit::Done)
}

/// What the caller should know of a brief that is not as it should be.
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
