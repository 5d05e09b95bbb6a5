//! What may go into a block: texts that are trusted enough, and of those from outside only the ones that inform
//! the agent instead of speaking to it.

use handover_model::config::AssemblyConfig;
use handover_model::{ErrorPattern, Fate, Role, ScreenFlag, Strategy, Trust};
use handover_text::screen::screen;

/// The rule of one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Admission {
    min_trust: Trust,
}

impl Default for Admission {
    fn default() -> Self {
        Self { min_trust: Trust::Outside }
    }
}

impl Admission {
    pub(super) fn of(config: &AssemblyConfig, role: &Role) -> Self {
        Self { min_trust: config.min_trust(role) }
    }

    /// Why texts of a class may not go in whatever they say, if so.
    pub(super) fn refuses(self, trust: Trust) -> Option<Fate> {
        (trust < self.min_trust).then_some(Fate::Distrusted)
    }

    /// What the screen finds in texts that may go in, or why they may not.
    pub(super) fn check<'t>(
        self,
        trust: Trust,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Vec<ScreenFlag>, Fate> {
        if let Some(fate) = self.refuses(trust) {
            return Err(fate);
        }
        let flags = flags(texts);
        if trust == Trust::Outside && !flags.is_empty() { Err(Fate::Screened) } else { Ok(flags) }
    }
}

/// What the screen finds in some texts, each flag once.
pub fn flags<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<ScreenFlag> {
    let mut flags: Vec<ScreenFlag> =
        texts.into_iter().flat_map(|text| screen(text).flags()).collect();
    flags.sort_unstable();
    flags.dedup();
    flags
}

/// What the screen finds in an error and its solution.
pub(super) fn of_error(pattern: &ErrorPattern) -> Vec<ScreenFlag> {
    flags([pattern.said().as_str(), pattern.solution.as_deref().unwrap_or_default()])
}

/// What the screen finds in a strategy.
pub(super) fn of_strategy(strategy: &Strategy) -> Vec<ScreenFlag> {
    flags([strategy.insight.as_str()])
}
