//! The flags of parties, and the parties that they ask for.

use handover_engine::party::Parties;
use handover_engine::persona::parse_list;
use handover_model::PartyPhase;

use crate::app::App;
use crate::error::CommandError;

/// Who takes part in a run besides those who do the work.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Parties")]
pub(crate) struct PartyArgs {
    /// Several personas look at each story before the work begins
    #[arg(long)]
    party_kickoff: bool,

    /// Several personas review instead of one
    #[arg(long, conflicts_with = "skip_review")]
    party_review: bool,

    /// Several personas say what to do about a failure
    #[arg(long)]
    party_failure: bool,

    /// Several personas look back on the epic
    #[arg(long)]
    party_retro: bool,

    /// All of these
    #[arg(long)]
    party_all: bool,

    /// Who takes part, such as `winston,murat` [default: party.agents]
    #[arg(long, value_name = "LIST")]
    party_agents: Option<String>,

    /// One process plays them all
    #[arg(long)]
    party_solo: bool,
}

impl PartyArgs {
    fn asks_for(&self, phase: PartyPhase) -> bool {
        self.party_all
            || match phase {
                PartyPhase::Kickoff => self.party_kickoff,
                PartyPhase::Review => self.party_review,
                PartyPhase::Failure => self.party_failure,
                PartyPhase::Retro => self.party_retro,
            }
    }

    /// The parties of a run, by flags and configuration.
    pub(super) fn parties(&self, app: &App) -> Result<Parties, CommandError> {
        let config = app.config()?;
        let asked_for = self.party_agents.as_deref().map(parse_list).transpose()?;
        let wanted =
            |phase: &&PartyPhase| self.asks_for(**phase) || config.party.phases.contains(phase);
        let phases: Vec<PartyPhase> = PartyPhase::ALL.iter().filter(wanted).copied().collect();
        if phases.is_empty() && (asked_for.is_some() || self.party_solo) {
            let flag = if self.party_solo { "--party-solo" } else { "--party-agents" };
            return Err(CommandError::invalid(format!("`{flag}` needs a party"))
                .hinted("Add `--party-review`, `--party-all` or another of `--party-…`."));
        }
        let personas = app.personas()?;
        let solo = self.party_solo || config.party.solo;
        let mut parties = Parties::new(config.runs.analysis);
        for phase in phases {
            let who = personas.party(phase, asked_for.as_deref())?;
            parties.invite(phase, who, solo, &config.party, config.runs.profile);
        }
        Ok(parties)
    }
}
