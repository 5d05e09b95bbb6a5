//! Who says a text, and what is suspicious about it.

words! {
    /// How far a text may be trusted, from least to most. The machinery sets it, never the text.
    Trust, "trust class" {
        /// Fetched from the web, a tool's output, an imported store.
        Outside => "outside",
        /// Said by an agent.
        Agent => "agent",
        /// Tracked and committed.
        Project => "project",
        /// Typed by a person.
        Person => "person",
    }
}

impl Trust {
    /// The class of a text that was derived from others: the lowest of its sources.
    pub fn lowest(sources: impl IntoIterator<Item = Self>) -> Option<Self> {
        sources.into_iter().min()
    }

    /// Whether readers must see the class: nobody vouches for the text.
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Outside | Self::Agent)
    }
}

words! {
    /// Why a text speaks to the agent that reads it instead of informing it.
    ScreenFlag, "screen flag" {
        /// Asks the reader to ignore or replace its instructions.
        Override => "override",
        /// Asks the reader to run or do something.
        Command => "command",
        /// Asks the reader to send data somewhere.
        Exfiltration => "exfiltration",
        /// Poses as the system, the developer, or Handover itself.
        Impersonation => "impersonation",
        /// Is hidden from people: in markup, invisible characters or an encoding.
        HiddenText => "hidden_text",
    }
}
