//! The beginning of an experiment. Whatever is wrong with it is said before anything is kept or paid for.

use handover_prove::report::power_in_words;

use super::record::{self, Record, work_folder};
use super::{Lab, ProveArgs, judge, show};
use crate::error::{CommandError, Exit};

impl Lab<'_> {
    /// Checks everything that can be checked, and begins the experiment; none if it was interrupted.
    pub(super) fn begin(&self, args: &ProveArgs) -> Result<Option<Record>, CommandError> {
        let Self { app, plan, .. } = self;
        app.ui.note(show::size(plan));
        app.ui.note(power_in_words(plan));
        let usual = record::usual_cost(app, plan.host)?;
        self.check_budget(usual)?;
        self.program.check(plan.host, &judge::environment(app, plan.host)?)?;
        let asks = !args.yes && !app.ui.is_json() && app.stdin.is_terminal();
        if asks && !app.ui.confirm(&question(plan.trials().len(), usual, plan.max_cost)) {
            return Err(CommandError::new(Exit::Usage, "not_confirmed", "nothing was started"));
        }
        let checked = judge::check_all(self, &[]);
        // Its id is not taken yet.
        let _ = fs_err::remove_dir_all(work_folder(&plan.id)?);
        let checked = checked?;
        if self.cancel.is_cancelled() {
            app.ui.note("Interrupted before the experiment began.");
            return Ok(None);
        }
        let record = Record::create(app, (*plan).clone())?;
        for entry in checked {
            record.add(&entry)?;
        }
        app.ui.note(format_args!("Beginning experiment {}", plan.id));
        Ok(Some(record))
    }

    /// Whether the budget holds a trial of each arm, as far as earlier experiments tell: with less, nothing can be compared.
    fn check_budget(&self, usual_usd: Option<f64>) -> Result<(), CommandError> {
        let (Some(most), Some(usd)) = (self.plan.max_cost, usual_usd) else { return Ok(()) };
        let (arms, trials) = (self.plan.arms.len(), self.plan.trials().len());
        let round = usd * arms as f64;
        if round > most {
            let message = format!(
                "a budget of ${most:.2} does not hold one trial of each of the {arms} arms: an agent of earlier experiments cost ${usd:.2} on average"
            );
            return Err(CommandError::new(Exit::Budget, "budget", message).hinted(format!(
                "One task in every arm takes about ${round:.2}, all of it about ${:.2}.",
                usd * trials as f64
            )));
        }
        let all = usd * trials as f64;
        if all > most {
            self.app.ui.note(format_args!(
                "All trials would cost about ${all:.2}; `--max-cost` ends the experiment before."
            ));
        }
        Ok(())
    }
}

fn question(trials: usize, usual_usd: Option<f64>, max_cost: Option<f64>) -> String {
    let cost = match (max_cost, usual_usd) {
        (Some(most), _) => format!("at most ${most:.2}"),
        (None, Some(usd)) => format!("about ${:.2}, without a limit", usd * trials as f64),
        (None, None) => "at a cost that nothing limits (`--max-cost`)".to_owned(),
    };
    format!("Start up to {trials} agents, {cost}?")
}
