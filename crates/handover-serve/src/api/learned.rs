//! Error patterns and strategies of the project.

use handover_context::shape;
use handover_store::{ErrorFilter, StrategyFilter};
use serde_json::{Value, json};

use super::operations::StateDecision;
use super::{Endpoint, Verb};

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        verb: Verb::Get,
        path: "/errors",
        summary: "The project's error patterns, most trusted first",
        query: &[
            ("lang", "only this language, and patterns without one"),
            ("expired", "include patterns whose time to live has passed"),
            ("state", "only this state: live or retired"),
            ("limit", "maximum number; default 100"),
        ],
        handler: |context, request| {
            let filter = ErrorFilter {
                language: request.query_param("lang")?,
                above: None,
                live_at: (!request.query_flag("expired")?).then_some(context.now),
                state: request.query_param("state")?,
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
            ("state", "only this state: live or retired"),
            ("limit", "maximum number; default 100"),
        ],
        handler: |context, request| {
            let filter = StrategyFilter {
                language: request.query_param("lang")?,
                framework: request.query_param("framework")?,
                state: request.query_param("state")?,
                limit: request.limit()?,
            };
            Ok(json!({"strategies": context.store.strategies(&context.project, &filter)?}))
        },
    },
    Endpoint {
        verb: Verb::Post(r#"{"decision": "retire", "reason": "fixed upstream"}"#),
        path: "/errors/{error}",
        summary: "Retire an error pattern (with a reason), or restore it",
        query: &[],
        handler: |context, request| {
            let (hash, decision): (String, StateDecision) =
                (request.path_param("error")?, request.body()?);
            let pattern =
                context.by_hand()?.set_error(&hash, decision.state(), decision.reason())?;
            Ok(json!({"error": shape::error(&pattern)}))
        },
    },
    Endpoint {
        verb: Verb::Post(r#"{"decision": "retire", "reason": "too general"}"#),
        path: "/strategies/{strategy}",
        summary: "Retire a strategy (with a reason), or restore it",
        query: &[],
        handler: |context, request| {
            let (id, decision): (String, StateDecision) =
                (request.path_param("strategy")?, request.body()?);
            let strategy =
                context.by_hand()?.set_strategy(&id, decision.state(), decision.reason())?;
            Ok(json!({"strategy": strategy}))
        },
    },
];
