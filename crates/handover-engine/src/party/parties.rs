//! Adds parties to a pipeline.

use handover_model::config::PartyConfig;
use handover_model::{PartyPhase, Profile, RunPhase};

use crate::persona::Persona;
use crate::pipeline::{PartyRules, PartyStep, Pipeline, Step, agent_step};

/// The parties of a run, by phase.
#[derive(Debug, Clone, Default)]
pub struct Parties {
    /// Whether a single analyst looks into failures if no party does.
    analysis: bool,
    steps: Vec<(PartyPhase, PartyStep)>,
}

impl Parties {
    /// No parties yet; `analysis` adds a single analyst of failures.
    pub fn new(analysis: bool) -> Self {
        Self { analysis, steps: Vec::new() }
    }

    /// Invites personas to a phase. Their permissions never exceed `profile`.
    pub fn invite(
        &mut self,
        phase: PartyPhase,
        personas: Vec<Persona>,
        solo: bool,
        config: &PartyConfig,
        profile: Profile,
    ) {
        let (of, role) = match phase {
            PartyPhase::Kickoff => (RunPhase::Kickoff, "tech_lead"),
            PartyPhase::Review => (RunPhase::Review, "tech_lead"),
            PartyPhase::Failure => (RunPhase::Analysis, "investigator"),
            PartyPhase::Retro => (RunPhase::Retro, "project_manager"),
        };
        let mut agent = agent_step(of, role, profile);
        agent.optional = matches!(phase, PartyPhase::Kickoff | PartyPhase::Retro);
        let alone = solo || !config.cross_talk || personas.len() < 2;
        let rules = PartyRules::new(config);
        let rounds = if alone { 1 } else { 2 };
        self.steps.push((phase, PartyStep { agent, personas, rounds, solo, rules }));
    }

    /// Whether a phase has a party.
    pub fn has(&self, phase: PartyPhase) -> bool {
        self.steps.iter().any(|(of, _)| *of == phase)
    }

    /// The pipeline with its parties: a kickoff first, a party in place of the single agent of its
    /// phase, and an analysis of failures.
    pub fn join(self, mut pipeline: Pipeline) -> Pipeline {
        if self.analysis {
            let analyst = agent_step(RunPhase::Analysis, "investigator", Profile::ReadOnly);
            pipeline.on_failure = Some(Step::Agent(analyst));
        }
        for (phase, party) in self.steps {
            match phase {
                PartyPhase::Kickoff => {
                    pipeline.steps.insert(0, Step::Party(party));
                    pipeline.after_fix += 1;
                }
                PartyPhase::Failure => pipeline.on_failure = Some(Step::Party(party)),
                PartyPhase::Review => replace(&mut pipeline.steps, &party),
                PartyPhase::Retro => replace(&mut pipeline.closing, &party),
            }
        }
        pipeline
    }
}

fn replace(steps: &mut [Step], party: &PartyStep) {
    for step in steps {
        if matches!(step, Step::Agent(agent) if agent.phase == party.agent.phase) {
            *step = Step::Party(party.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::persona::Personas;

    #[test]
    fn parties_take_their_place() {
        let mut parties = Parties::default();
        let config = PartyConfig::default();
        for phase in PartyPhase::ALL {
            let who = Personas::default().party(*phase, None).unwrap();
            parties.invite(*phase, who, false, &config, Profile::Edit);
        }
        let mut pipeline = Pipeline::story(true, Profile::Edit);
        let retro = agent_step(RunPhase::Retro, "project_manager", Profile::Edit);
        pipeline.closing = vec![Step::Agent(retro), Step::Commit];
        let pipeline = parties.join(pipeline);
        let party = |step: &Step| match step {
            Step::Party(party) => Some((party.agent.phase, party.rounds, party.agent.optional)),
            Step::Agent(_) | Step::Gates | Step::Uat(_) | Step::Commit => None,
        };
        assert_eq!(party(&pipeline.steps[0]), Some((RunPhase::Kickoff, 2, true)));
        assert_eq!(pipeline.steps[pipeline.after_fix], Step::Gates);
        assert_eq!(party(&pipeline.steps[3]), Some((RunPhase::Review, 2, false)));
        assert_eq!(party(&pipeline.closing[0]), Some((RunPhase::Retro, 2, true)));
        assert_eq!(
            pipeline.on_failure.as_ref().and_then(party),
            Some((RunPhase::Analysis, 2, false))
        );
        // A voice has no more rights than a developer, and usually only reads.
        let Step::Party(review) = &pipeline.steps[3] else { panic!() };
        assert_eq!(review.voice("murat", 1).profile, Profile::ReadOnly);
        assert_eq!(review.voice("murat", 1).role.as_str(), "qa_expert");
    }

    #[test]
    fn a_party_of_one_has_one_round() {
        let rounds = |names: &[&str], solo: bool, cross_talk: bool| {
            let mut parties = Parties::new(false);
            let config = PartyConfig { cross_talk, ..PartyConfig::default() };
            let who = names.iter().map(|name| crate::testing::persona(name)).collect();
            parties.invite(PartyPhase::Review, who, solo, &config, Profile::Edit);
            assert!(parties.has(PartyPhase::Review) && !parties.has(PartyPhase::Retro));
            let pipeline = parties.join(crate::testing::story());
            let Step::Party(party) = &pipeline.steps[2] else { panic!("{:?}", pipeline.steps) };
            (party.rounds, party.solo)
        };
        assert_eq!(rounds(&["ann", "bob"], false, true), (2, false));
        assert_eq!(rounds(&["ann"], false, true), (1, false));
        assert_eq!(rounds(&["ann", "bob"], true, true), (1, true));
        assert_eq!(rounds(&["ann", "bob"], false, false), (1, false));
    }

    #[test]
    fn a_single_analyst_looks_into_failures_unless_a_party_does() {
        let plain = Parties::new(false).join(crate::testing::story());
        assert_eq!(plain, crate::testing::story());
        let analyzed = Parties::new(true).join(crate::testing::story());
        let Some(Step::Agent(analyst)) = &analyzed.on_failure else { panic!() };
        assert_eq!((analyst.phase, analyst.profile), (RunPhase::Analysis, Profile::ReadOnly));
        let mut parties = Parties::new(true);
        let who = vec![crate::testing::persona("ann")];
        parties.invite(PartyPhase::Failure, who, false, &PartyConfig::default(), Profile::Edit);
        let pipeline = parties.join(crate::testing::story());
        assert!(matches!(pipeline.on_failure, Some(Step::Party(_))));
    }
}
