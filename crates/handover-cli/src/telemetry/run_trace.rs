//! A run as a trace, made of its journal: one span for the run, one for each story, one for each agent, gate and
//! commit.
//!
//! The journal has every time and survives crashes, so a run that is resumed continues its trace. Each stretch of work,
//! until the run stops or ends, has a span of its own, because nobody knows whether another one will follow.

use std::collections::BTreeMap;

use handover_engine::Progress;
use handover_engine::reducer::{Effect, Event, GateOutcome, Options, PhaseEnd};
use handover_model::{
    JournalEntry, JournalKind, Receipt, ReceiptId, RunId, RunState, Timestamp, Verdict,
};
use handover_store::Store;
use handover_telemetry::{
    Attribute, Instrument, LogLine, Severity, Signals, Span, SpanId, SpanKind, Status, TraceId,
    Value, names,
};

use super::agent::{about, brief, measured, seconds};
use super::exporter::Exporter;

/// Tells the trace of one run.
pub(crate) struct RunTrace {
    run: RunId,
    /// The first entry that was not read yet.
    next: u64,
    /// How often the run was resumed.
    stretch: u32,
    start: Timestamp,
    epic: String,
    options: Option<Options>,
    /// Effects that were started.
    open: Vec<(Effect, Timestamp)>,
    /// When work on each story began in this stretch.
    stories: BTreeMap<String, Timestamp>,
}

impl RunTrace {
    fn new(run: &RunId) -> Self {
        Self {
            run: run.clone(),
            next: 1,
            stretch: 0,
            start: Timestamp::default(),
            epic: String::new(),
            options: None,
            open: Vec::new(),
            stories: BTreeMap::new(),
        }
    }

    /// Follows a run that reports its progress: tells what its journal has in addition.
    pub(crate) fn follow(
        trace: &mut Option<Self>,
        exporter: &Exporter,
        store: &dyn Store,
        progress: &Progress<'_>,
    ) {
        match progress {
            Progress::Started { run, resumed } => {
                let mut new = Self::new(run);
                if *resumed {
                    // What happened before was reported before.
                    drop(new.read(store));
                }
                *trace = Some(new);
            }
            Progress::Recorded(_) => {
                if let Some(trace) = trace {
                    exporter.export(trace.read(store));
                }
            }
            Progress::Expects(_)
            | Progress::Helping { .. }
            | Progress::Starting(_)
            | Progress::Activity { .. }
            | Progress::Tick
            | Progress::Warning(_) => {}
        }
    }

    /// What the journal has in addition. A store that fails ends the run anyway.
    fn read(&mut self, store: &dyn Store) -> Signals {
        let mut signals = Signals::default();
        for entry in store.journal(&self.run, self.next).unwrap_or_default() {
            self.next = entry.seq + 1;
            signals.extend(self.entry(&entry, store));
        }
        signals
    }

    fn entry(&mut self, entry: &JournalEntry, store: &dyn Store) -> Signals {
        let at = entry.created_at;
        match entry.kind {
            JournalKind::Intent => {
                if let Ok(effect) = serde_json::from_value::<Effect>(entry.entry.clone()) {
                    if let Some(story) = effect.story() {
                        self.stories.entry(story.to_owned()).or_insert(at);
                    }
                    self.open.push((effect, at));
                }
                Signals::default()
            }
            JournalKind::Result => match serde_json::from_value::<Event>(entry.entry.clone()) {
                Ok(event) => self.event(&event, at, store),
                Err(_) => Signals::default(),
            },
            JournalKind::Note => Signals::default(),
        }
    }

    fn event(&mut self, event: &Event, at: Timestamp, store: &dyn Store) -> Signals {
        if let Event::Started { plan, options } = event {
            (self.start, self.epic) = (at, plan.epic.to_string());
            self.options = Some((**options).clone());
            return Signals::default();
        }
        if let Event::Resumed { options } = event {
            self.stretch += 1;
            self.start = at;
            self.options = Some((**options).clone());
            // What a crash interrupted is repeated, without another intent.
            let again = self.open.iter().filter_map(|(effect, _)| effect.story());
            self.stories = again.map(|story| (story.to_owned(), at)).collect();
            return Signals::default();
        }
        let mut signals = Signals::default();
        if let Some(place) = self.open.iter().position(|(effect, _)| event.answers(effect)) {
            let (effect, start) = self.open.remove(place);
            let time = (start.max(self.start), at);
            signals.extend(self.effect(&effect, event, time, store));
        }
        if let Event::Committed { story, .. } = event {
            signals.spans.extend(self.story(story, at, Status::Ok));
        }
        if let Event::Parked { story, .. } = event {
            signals.spans.extend(self.story(story, at, Status::Error));
        }
        if let Event::Stopped { state, .. } | Event::Ended { state } = event {
            let open: Vec<String> = self.stories.keys().cloned().collect();
            for story in open {
                signals.spans.extend(self.story(&story, at, Status::Unset));
            }
            signals.extend(self.stretch(*state, at));
        }
        signals
    }

    fn trace(&self) -> TraceId {
        TraceId::of("run", self.run.as_str())
    }

    fn id(&self, what: &str, id: &str) -> SpanId {
        SpanId::of(what, &format!("{}:{}:{id}", self.run, self.stretch))
    }

    fn plain(&self) -> Vec<Attribute> {
        vec![(names::RUN, Value::id(self.run.as_str())), (names::EPIC, Value::id(&self.epic))]
    }

    fn host(&self) -> String {
        self.options.as_ref().map(|options| options.host.to_string()).unwrap_or_default()
    }

    fn effect(
        &self,
        effect: &Effect,
        event: &Event,
        (start, end): (Timestamp, Timestamp),
        store: &dyn Store,
    ) -> Signals {
        let story = effect.story();
        let parent = match story {
            Some(story) => self.id("story", story),
            None => self.id("run", ""),
        };
        let mut span = Span {
            trace: self.trace(),
            id: self.id("effect", &format!("{}:{start}:{}", effect.name(), story.unwrap_or(""))),
            parent: Some(parent),
            name: effect.name().to_owned(),
            kind: SpanKind::Internal,
            start,
            end,
            attributes: self.plain(),
            status: Status::Unset,
        };
        span.attributes.extend(story.map(|story| (names::STORY, Value::id(story))));
        let mut signals = Signals::default();
        if let Event::PhaseEnded(phase) = event {
            let id = phase.receipt.as_deref().and_then(|id| ReceiptId::new(id).ok());
            let receipt = id.and_then(|id| store.receipt(&id).ok());
            self.agent(phase, receipt.as_ref(), &mut span, &mut signals);
        }
        if let Event::GatesEnded { attempt, outcome, failures, .. } = event {
            span.attributes.push((names::ATTEMPT, (*attempt).into()));
            span.attributes.push((names::FAILURES, (failures.len() as u64).into()));
            self.gates(*outcome, &mut span, &mut signals);
        }
        if let Event::BaseChecked { failing, .. } = event {
            span.attributes.push((names::FAILURES, (failing.len() as u64).into()));
        }
        if let Event::UatEnded { attempt, problem, .. } = event {
            span.attributes.push((names::ATTEMPT, (*attempt).into()));
            span.status = if problem.is_some() { Status::Error } else { Status::Unset };
        }
        signals.spans.push(span);
        signals
    }

    fn gates(&self, outcome: GateOutcome, span: &mut Span, signals: &mut Signals) {
        let word = match outcome {
            GateOutcome::Passed => "passed",
            GateOutcome::None => "none",
            GateOutcome::Failed => "failed",
        };
        span.attributes.push((names::OUTCOME, word.into()));
        let failed = outcome == GateOutcome::Failed;
        span.status = if failed { Status::Error } else { Status::Ok };
        let time = (span.start, span.end);
        let attributes = vec![(names::OUTCOME, word.into())];
        let took = seconds(span.start, span.end);
        signals.measurements.push(measured(Instrument::GateDuration, took, time, attributes));
        if failed {
            signals.lines.push(line(Severity::Warn, "gates failed", span));
        }
    }

    /// An agent, as the conventions want it.
    fn agent(
        &self,
        phase: &PhaseEnd,
        receipt: Option<&Receipt>,
        span: &mut Span,
        signals: &mut Signals,
    ) {
        let role = phase.role.as_ref().map_or("agent", |role| role.as_str());
        let host = self.host();
        span.name = format!("invoke_agent {role}");
        span.kind = SpanKind::Client;
        span.attributes.extend(about(&host, role));
        span.attributes.push((names::PHASE, phase.phase.as_str().into()));
        span.attributes.push((names::ATTEMPT, phase.attempt.into()));
        span.attributes.push((names::TOTAL_TOKENS, phase.spent.tokens.into()));
        span.attributes.push((names::TURNS, phase.spent.turns.into()));
        // What nobody reports is unknown, not free.
        let cost = Some(phase.spent.cost_usd).filter(|_| phase.spent.unpriced == 0);
        span.attributes.extend(cost.map(|usd| (names::COST, usd.into())));
        match receipt {
            // The attempt is that of the phase.
            Some(receipt) => span
                .attributes
                .extend(brief(receipt).into_iter().filter(|(name, _)| *name != names::ATTEMPT)),
            None => span
                .attributes
                .extend(phase.receipt.iter().map(|id| (names::RECEIPT, Value::id(id)))),
        }
        let model = self.options.as_ref().and_then(|options| options.model.as_deref());
        span.attributes.extend(model.map(|model| (names::REQUEST_MODEL, Value::id(model))));
        if let Some(verdict) = phase.verdict {
            span.attributes.push((names::VERDICT, verdict.as_str().into()));
        }
        let error = phase.failure.map(|class| (names::ERROR, Value::from(class.as_str())));
        span.attributes.extend(error.clone());
        span.status = if error.is_some() { Status::Error } else { Status::Ok };
        let time = (span.start, span.end);
        let with = |more: Option<Attribute>| {
            let mut attributes = about(&host, role);
            attributes.push((names::PHASE, phase.phase.as_str().into()));
            attributes.extend(more);
            attributes
        };
        let duration = phase.spent.duration_ms as f64 / 1e3;
        let measurements = &mut signals.measurements;
        measurements.push(measured(
            Instrument::OperationDuration,
            duration,
            time,
            with(error.clone()),
        ));
        measurements.extend(cost.map(|usd| measured(Instrument::Cost, usd, time, with(None))));
        measurements.extend(receipt.map(|receipt| {
            measured(Instrument::BriefTokens, receipt.tokens as f64, time, with(None))
        }));
        let verdict = phase.verdict.map_or("none", Verdict::as_str);
        let verdict = Some((names::VERDICT, verdict.into()));
        signals.measurements.push(measured(Instrument::Verdicts, 1.0, time, with(verdict)));
        if error.is_some() {
            signals.lines.push(line(Severity::Warn, "agent failed", span));
        }
    }

    /// The span of a story, if work on it began.
    fn story(&mut self, story: &str, end: Timestamp, status: Status) -> Option<Span> {
        let start = self.stories.remove(story)?;
        let mut attributes = self.plain();
        attributes.push((names::STORY, Value::id(story)));
        Some(Span {
            trace: self.trace(),
            id: self.id("story", story),
            parent: Some(self.id("run", "")),
            name: "story".to_owned(),
            kind: SpanKind::Internal,
            start,
            end,
            attributes,
            status,
        })
    }

    /// The span of this stretch of the run.
    fn stretch(&self, state: RunState, end: Timestamp) -> Signals {
        let mut attributes = self.plain();
        attributes.push((names::OPERATION, "invoke_workflow".into()));
        attributes.push((names::WORKFLOW, "handover run".into()));
        attributes.push((names::HOST, Value::id(&self.host())));
        attributes.push((names::OUTCOME, state.as_str().into()));
        let status = match state {
            RunState::Done => Status::Ok,
            RunState::Failed | RunState::Environment | RunState::Budget => Status::Error,
            RunState::Running | RunState::Interrupted | RunState::Blocked => Status::Unset,
        };
        let span = Span {
            trace: self.trace(),
            id: self.id("run", ""),
            parent: None,
            name: "invoke_workflow handover run".to_owned(),
            kind: SpanKind::Internal,
            start: self.start,
            end,
            attributes,
            status,
        };
        let severity = if status == Status::Error { Severity::Warn } else { Severity::Info };
        let line = line(severity, "run ended", &span);
        Signals { spans: vec![span], measurements: Vec::new(), lines: vec![line] }
    }
}

fn line(severity: Severity, message: &str, span: &Span) -> LogLine {
    LogLine {
        at: span.end,
        severity,
        message: message.to_owned(),
        target: "handover_engine".to_owned(),
        attributes: span.attributes.clone(),
        within: Some((span.trace, span.id)),
    }
}
