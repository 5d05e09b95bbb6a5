//! The flags of parties, and the parties that they ask for.

use handover_engine::party::Parties;
use handover_engine::persona::parse_list;
use handover_model::PartyPhase;

use crate::app::App;
use crate::error::CommandError;

/// The parties of a run.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Parties")]
pub(crate) struct PartyArgs {
    /// Have several personas discuss each story before work starts
    #[arg(long)]
    party_kickoff: bool,

    /// Have several personas review instead of one
    #[arg(long, conflicts_with = "skip_review")]
    party_review: bool,

    /// Have several personas analyze failures
    #[arg(long)]
    party_failure: bool,

    /// Have several personas hold the retrospective
    #[arg(long)]
    party_retro: bool,

    /// Enable all parties
    #[arg(long)]
    party_all: bool,

    /// Personas that take part, such as `winston,murat` [default: party.agents]
    #[arg(long, value_name = "LIST")]
    party_agents: Option<String>,

    /// Let a single agent play all personas
    #[arg(long)]
    party_solo: bool,
}

impl PartyArgs {
    /// Whether the flags ask for a party.
    pub(super) fn asks_for(&self, phase: PartyPhase) -> bool {
        self.party_all
            || match phase {
                PartyPhase::Kickoff => self.party_kickoff,
                PartyPhase::Review => self.party_review,
                PartyPhase::Failure => self.party_failure,
                PartyPhase::Retro => self.party_retro,
            }
    }

    /// The parties of a run, by flags and configuration. A team looks after its own reviews.
    pub(super) fn parties(&self, app: &App, team: bool) -> Result<Parties, CommandError> {
        let config = app.config()?;
        let asked_for = self.party_agents.as_deref().map(parse_list).transpose()?;
        let wanted =
            |phase: &&PartyPhase| self.asks_for(**phase) || config.party.phases.contains(phase);
        let phases: Vec<PartyPhase> = PartyPhase::ALL.iter().filter(wanted).copied().collect();
        let in_the_way = [PartyPhase::Kickoff, PartyPhase::Review];
        if let Some(phase) = in_the_way.iter().find(|phase| team && phases.contains(phase)) {
            return Err(CommandError::invalid(format!(
                "the `team` pipeline does not support a {phase} party"
            ))
            .hinted("Omit it, or pass `--pipeline story`."));
        }
        if phases.is_empty() && (asked_for.is_some() || self.party_solo) {
            let flag = if self.party_solo { "--party-solo" } else { "--party-agents" };
            return Err(CommandError::invalid(format!("`{flag}` requires a party"))
                .hinted("Add `--party-review`, `--party-all` or another `--party-…` flag."));
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
