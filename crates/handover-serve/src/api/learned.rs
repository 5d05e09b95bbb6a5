//! What the project has learned.

use handover_context::shape;
use handover_store::{ErrorFilter, StrategyFilter};
use serde_json::{Value, json};

use super::{Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/errors",
        about: "The project's error patterns, most trusted first",
        fields: &[
            ("lang", "only of this language, or of none"),
            ("expired", "those too that were not seen for longer than their time to live"),
            ("limit", "at most so many; default 100"),
        ],
        call: |seat, ask| {
            let filter = ErrorFilter {
                language: ask.field("lang")?,
                above: None,
                live_at: (!ask.switch("expired")?).then_some(seat.now),
                limit: ask.limit()?,
            };
            let patterns = seat.store.errors(&seat.project, &filter)?;
            let errors: Vec<Value> = patterns.iter().map(shape::error).collect();
            Ok(json!({"errors": errors}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/strategies",
        about: "The project's strategies, most helpful first",
        fields: &[
            ("lang", "only of this language, or of none"),
            ("framework", "only of this framework, or of none"),
            ("limit", "at most so many; default 100"),
        ],
        call: |seat, ask| {
            let filter = StrategyFilter {
                language: ask.field("lang")?,
                framework: ask.field("framework")?,
                limit: ask.limit()?,
            };
            Ok(json!({"strategies": seat.store.strategies(&seat.project, &filter)?}))
        },
    },
];
