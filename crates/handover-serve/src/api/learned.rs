//! Error patterns and strategies of the project.

use handover_context::shape;
use handover_store::{ErrorFilter, StrategyFilter};
use serde_json::{Value, json};

use super::{Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/errors",
        summary: "The project's error patterns, most trusted first",
        query: &[
            ("lang", "only this language, and patterns without one"),
            ("expired", "include patterns whose time to live has passed"),
            ("limit", "maximum number; default 100"),
        ],
        handler: |context, request| {
            let filter = ErrorFilter {
                language: request.query_param("lang")?,
                above: None,
                live_at: (!request.query_flag("expired")?).then_some(context.now),
                limit: request.limit()?,
            };
            let patterns = context.store.errors(&context.project, &filter)?;
            let errors: Vec<Value> = patterns.iter().map(shape::error).collect();
            Ok(json!({"errors": errors}))
        },
    },
    Endpoint {
        verb: Verb::Get,
        path: "/strategies",
        summary: "The project's strategies, most helpful first",
        query: &[
            ("lang", "only this language, and patterns without one"),
            ("framework", "only this framework, and strategies without one"),
            ("limit", "maximum number; default 100"),
        ],
        handler: |context, request| {
            let filter = StrategyFilter {
                language: request.query_param("lang")?,
                framework: request.query_param("framework")?,
                limit: request.limit()?,
            };
            Ok(json!({"strategies": context.store.strategies(&context.project, &filter)?}))
        },
    },
];
