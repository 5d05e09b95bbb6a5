//! The input of an event: the fields that every event has, and those of one event.

use handover_model::AgentId;

use crate::event::Subagent;

/// A subagent by the id and the kind that a host gives it.
pub(crate) fn subagent(id: Option<&str>, kind: Option<&str>) -> Option<Subagent> {
    let id = AgentId::new(id?).ok()?;
    Some(Subagent { id, kind: kind.unwrap_or_default().to_owned() })
}

/// The kind of a subagent, or the host's default if the caller did not choose one.
pub(crate) fn kind_or(kind: Option<&str>, default: &str) -> String {
    kind.filter(|kind| !kind.is_empty()).unwrap_or(default).to_owned()
}

/// Declares the input of one event and its conversion into a [`HookCall`](crate::HookCall). A host
/// says how to find the model and, for events that do not name it, the subagent.
macro_rules! input {
    (
        host: $host:expr, model: $model:expr, subagent: $subagent:expr;
        $(#[$meta:meta])* { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default)]
        pub(crate) struct Input {
            /// The name of the event.
            pub(crate) hook_event_name: String,
            /// The id of the conversation.
            pub(crate) session_id: Option<String>,
            /// The transcript of the conversation.
            pub(crate) transcript_path: Option<std::path::PathBuf>,
            /// The working folder.
            pub(crate) cwd: Option<std::path::PathBuf>,
            /// The subagent inside which, or to which, it happened.
            pub(crate) agent_id: Option<String>,
            /// The kind of that subagent.
            pub(crate) agent_type: Option<String>,
            $($(#[$fmeta])* pub(crate) $field: $type,)*
        }

        impl Input {
            /// The event in terms that hold for every host.
            pub(crate) fn into_call(self) -> $crate::HookCall {
                let model: fn(&Self) -> Option<String> = $model;
                let subagent: fn(&Self) -> Option<$crate::Subagent> = $subagent;
                $crate::HookCall {
                    conversation: self
                        .session_id
                        .as_deref()
                        .and_then(|id| handover_model::HostSessionId::new(id).ok()),
                    folder: self.cwd.clone(),
                    transcript: self.transcript_path.clone(),
                    agent: $crate::protocol::input::subagent(self.agent_id.as_deref(), self.agent_type.as_deref())
                        .or_else(|| subagent(&self)),
                    model: model(&self),
                    host: $host,
                    event: self.into_event(),
                }
            }
        }
    };
}
pub(crate) use input;
