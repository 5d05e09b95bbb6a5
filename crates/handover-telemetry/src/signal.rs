//! What is reported, as plain data.

use handover_model::Timestamp;

/// The names of attributes. Those of `gen_ai` follow the semantic conventions 1.41, which call them experimental.
pub mod names {
    #![expect(missing_docs, reason = "they say what they are")]
    pub const OPERATION: &str = "gen_ai.operation.name";
    pub const PROVIDER: &str = "gen_ai.provider.name";
    pub const AGENT_NAME: &str = "gen_ai.agent.name";
    pub const AGENT_ID: &str = "gen_ai.agent.id";
    pub const CONVERSATION: &str = "gen_ai.conversation.id";
    pub const REQUEST_MODEL: &str = "gen_ai.request.model";
    pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
    pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
    pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
    pub const CACHED_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
    pub const TOKEN_TYPE: &str = "gen_ai.token.type";
    pub const WORKFLOW: &str = "gen_ai.workflow.name";
    pub const ERROR: &str = "error.type";
    pub const SESSION: &str = "handover.session";
    pub const GROUP: &str = "handover.group";
    pub const RECEIPT: &str = "handover.receipt";
    pub const RUN: &str = "handover.run";
    pub const EPIC: &str = "handover.epic";
    pub const STORY: &str = "handover.story";
    pub const PHASE: &str = "handover.phase";
    pub const ATTEMPT: &str = "handover.attempt";
    pub const HOST: &str = "handover.host";
    pub const EVENT: &str = "handover.hook.event";
    pub const ACTION: &str = "handover.hook.action";
    pub const OUTCOME: &str = "handover.outcome";
    pub const VERDICT: &str = "handover.verdict";
    pub const FAILURES: &str = "handover.gate.failures";
    pub const BRIEF_TOKENS: &str = "handover.brief.tokens";
    pub const BRIEF_ITEMS: &str = "handover.brief.items";
    pub const USED_TOKENS: &str = "handover.brief.used_tokens";
    pub const COST: &str = "handover.cost_usd";
    pub const TURNS: &str = "handover.turns";
    pub const TOTAL_TOKENS: &str = "handover.tokens";
}

/// No id is longer.
const ID_CHARS: usize = 128;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A word of a closed set.
    Word(&'static str),
    /// An id, cut and cleaned.
    Id(String),
    /// A count.
    Int(i64),
    /// A measured number.
    Real(f64),
}

impl Value {
    /// An id, a name or a word. What no id has becomes `_`: white space and control characters above all, so that no
    /// sentence gets through as one.
    pub fn id(text: &str) -> Self {
        let allowed = |c: char| c.is_alphanumeric() || "._-:/@+#".contains(c);
        let clean = text.chars().take(ID_CHARS).map(|c| if allowed(c) { c } else { '_' });
        Self::Id(clean.collect())
    }
}

impl From<&'static str> for Value {
    fn from(word: &'static str) -> Self {
        Self::Word(word)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Int(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Int(count.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

/// A name of [`names`] with its value.
pub type Attribute = (&'static str, Value);

/// What the spans of one piece of work have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub [u8; 16]);

/// Which span it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    /// The trace of something with an id: the same in every process, so that a run that is resumed continues its trace.
    pub fn of(what: &str, id: &str) -> Self {
        Self(hashed(&["trace", what, id]))
    }
}

impl SpanId {
    /// A span of something with an id.
    pub fn of(what: &str, id: &str) -> Self {
        Self(hashed(&["span", what, id]))
    }
}

/// Never all zeros, which no trace may have.
fn hashed<const N: usize>(parts: &[&str]) -> [u8; N] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0; N];
    hasher.finalize_xof().fill(&mut bytes);
    bytes[0] |= 1;
    bytes
}

/// Which side of a call a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Work of our own.
    Internal,
    /// Work of another program that we started.
    Client,
    /// An answer to another program.
    Server,
}

/// How the work of a span ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Nobody judged it.
    Unset,
    /// It succeeded.
    Ok,
    /// It failed; `error.type` says how.
    Error,
}

/// A piece of work with a beginning and an end.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace that it is part of.
    pub trace: TraceId,
    /// Its id.
    pub id: SpanId,
    /// The span that it is part of.
    pub parent: Option<SpanId>,
    /// What it is called; of low cardinality.
    pub name: String,
    /// Which side of a call it is.
    pub kind: SpanKind,
    /// When it began.
    pub start: Timestamp,
    /// When it ended.
    pub end: Timestamp,
    /// What is known about it.
    pub attributes: Vec<Attribute>,
    /// How it ended.
    pub status: Status,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instrument {
    /// How long an agent worked.
    OperationDuration,
    /// The tokens of an agent.
    TokenUsage,
    /// What agents cost.
    Cost,
    /// How agents ended.
    Verdicts,
    /// The size of a brief.
    BriefTokens,
    /// How long a hook took until its answer.
    HookDuration,
    /// How long gates took.
    GateDuration,
}

impl Instrument {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OperationDuration => "gen_ai.client.operation.duration",
            Self::TokenUsage => "gen_ai.client.token.usage",
            Self::Cost => "handover.agent.cost",
            Self::Verdicts => "handover.agent.verdicts",
            Self::BriefTokens => "handover.brief.tokens",
            Self::HookDuration => "handover.hook.duration",
            Self::GateDuration => "handover.gate.duration",
        }
    }

    /// Its unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::OperationDuration | Self::HookDuration | Self::GateDuration => "s",
            Self::TokenUsage | Self::BriefTokens => "{token}",
            Self::Cost => "{USD}",
            Self::Verdicts => "{agent}",
        }
    }

    /// For people.
    pub const fn description(self) -> &'static str {
        match self {
            Self::OperationDuration => "How long agents worked",
            Self::TokenUsage => "Tokens of agents, by type",
            Self::Cost => "What agents cost, where their program says so",
            Self::Verdicts => "How agents ended",
            Self::BriefTokens => "Tokens of briefs",
            Self::HookDuration => "How long hooks took until their answer",
            Self::GateDuration => "How long gates took",
        }
    }

    /// The bounds of its buckets; a sum has none.
    pub const fn bounds(self) -> Option<&'static [f64]> {
        match self {
            // As the conventions want them.
            Self::OperationDuration => Some(&[
                0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96,
                81.92, 163.84, 327.68, 655.36, 1_310.72, 2_621.44,
            ]),
            Self::TokenUsage => Some(&[
                1.0,
                4.0,
                16.0,
                64.0,
                256.0,
                1_024.0,
                4_096.0,
                16_384.0,
                65_536.0,
                262_144.0,
                1_048_576.0,
                4_194_304.0,
                16_777_216.0,
                67_108_864.0,
            ]),
            Self::BriefTokens => Some(&[
                100.0, 200.0, 400.0, 600.0, 800.0, 1_000.0, 1_200.0, 1_500.0, 2_000.0, 4_000.0,
                8_000.0, 16_000.0,
            ]),
            Self::HookDuration => {
                Some(&[0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0])
            }
            Self::GateDuration => {
                Some(&[1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1_200.0, 3_600.0])
            }
            Self::Cost | Self::Verdicts => None,
        }
    }
}

/// One measured value.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// What was measured.
    pub instrument: Instrument,
    /// The value.
    pub value: f64,
    /// When that which it is about began.
    pub start: Timestamp,
    /// When it was measured.
    pub at: Timestamp,
    /// Of low cardinality: no ids.
    pub attributes: Vec<Attribute>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For debugging.
    Debug,
    /// Something happened.
    Info,
    /// Something is not as it should be.
    Warn,
    /// Something failed.
    Error,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLine {
    /// When it was said.
    pub at: Timestamp,
    /// How bad it is.
    pub severity: Severity,
    /// What happened, in the words of the program.
    pub message: String,
    /// The part of the program that said it.
    pub target: String,
    /// What is known about it.
    pub attributes: Vec<Attribute>,
    /// The span that it belongs to.
    pub within: Option<(TraceId, SpanId)>,
}

/// What a command reports.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signals {
    /// What was done.
    pub spans: Vec<Span>,
    /// What was measured.
    pub measurements: Vec<Measurement>,
    /// What was said.
    pub lines: Vec<LogLine>,
}

impl Signals {
    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty() && self.measurements.is_empty() && self.lines.is_empty()
    }

    /// Adds other signals.
    pub fn extend(&mut self, more: Self) {
        self.spans.extend(more.spans);
        self.measurements.extend(more.measurements);
        self.lines.extend(more.lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sentence_gets_through_as_an_id() {
        assert_eq!(Value::id("claude-opus-4@1m"), Value::Id("claude-opus-4@1m".into()));
        assert_eq!(Value::id("Ignore all\nrules"), Value::Id("Ignore_all_rules".into()));
        let Value::Id(long) = Value::id(&"x".repeat(1_000)) else { panic!() };
        assert_eq!(long.len(), ID_CHARS);
    }

    #[test]
    fn ids_are_the_same_in_every_process_and_never_zero() {
        assert_eq!(TraceId::of("run", "r1"), TraceId::of("run", "r1"));
        assert_ne!(TraceId::of("run", "r1"), TraceId::of("run", "r2"));
        assert_ne!(SpanId::of("run", "r1"), SpanId::of("runr", "1"));
        assert_ne!(TraceId::of("run", "r1").0, [0; 16]);
    }

    #[test]
    fn buckets_rise() {
        use Instrument::*;
        for one in
            [OperationDuration, TokenUsage, Cost, Verdicts, BriefTokens, HookDuration, GateDuration]
        {
            assert!(one.bounds().is_none_or(|bounds| bounds.is_sorted()), "{one:?}");
            assert!(!one.name().is_empty() && !one.unit().is_empty());
        }
    }
}
