//! What is fuzzed. A target takes any bytes, must not panic, and checks what always holds.

mod agents;
mod experiments;
mod files;
mod knowledge;
mod places;
mod salvage;
mod service;
mod stores;
mod text;

/// Every target by its name.
pub(crate) const ALL: &[(&str, fn(&[u8]))] = &[
    ("redaction", text::redaction),
    ("redaction_stream", text::redaction_stream),
    ("surrogates", text::surrogates),
    ("cutting", text::cutting),
    ("yaml", files::yaml),
    ("package", files::package),
    ("package_import", files::package_import),
    ("config", files::config),
    ("story", files::story),
    ("scenarios", files::scenarios),
    ("persona", files::persona),
    ("template", files::template),
    ("manifest", files::manifest),
    ("tasks", experiments::tasks),
    ("experiment", experiments::experiment),
    ("ending", agents::ending),
    ("verdict", agents::verdict),
    ("gate_report", agents::gate_report),
    ("hook_event", agents::hook_event),
    ("hook_settings", agents::hook_settings),
    ("transcript", agents::transcript),
    ("agent_output", agents::agent_output),
    ("mcp", agents::mcp),
    ("conversation", knowledge::conversation),
    ("document", knowledge::document),
    ("memories", knowledge::memories),
    ("git_log", knowledge::git_log),
    ("places", places::places),
    ("store_log", salvage::log),
    ("salvage", salvage::salvage),
    ("packed_index", stores::packed_index),
    ("archive", stores::archive),
    ("store_call", stores::store_call),
    ("address", stores::address),
    ("http", service::http),
];

/// The bytes as text, whatever they are.
fn lossy(data: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(data)
}

/// Two texts out of one input, divided at its first zero byte.
fn halves(data: &[u8]) -> (&[u8], &[u8]) {
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    (&data[..at], data.get(at + 1..).unwrap_or_default())
}
