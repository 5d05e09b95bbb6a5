//! Templates and personas of a checkout: agents read them as instructions.

use std::path::Path;

use handover_context::specialize::{self, Templates};
use handover_engine::persona::{self, Personas};
use handover_model::config::Risk;
use serde_json::json;

use super::{Trust, Want};

/// Every template and persona of a project as a want.
pub(crate) fn wants_of(trust: &Trust) -> Vec<Want> {
    let folder = trust.project().folder();
    let templates = Templates::texts_of(&folder.inside(specialize::FOLDER).path());
    let personas = Personas::texts_of(&folder.inside(persona::FOLDER).path());
    templates.into_iter().chain(personas).map(|(key, text)| want(trust, &key, &text)).collect()
}

fn want(trust: &Trust, key: &Path, text: &str) -> Want {
    let key = key.display().to_string();
    let shown =
        json!({"bytes": text.len(), "blake3": blake3::hash(text.as_bytes()).to_hex().as_str()});
    Want::new(trust, key, text.as_bytes(), shown, Risk::Instructs.why())
}
