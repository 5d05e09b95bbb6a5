//! What is shown of a result: the line that matches best, and what the screen finds.

use handover_model::{ItemKind, Trust};

use super::{Document, Found};
use crate::assemble::screened;
use crate::search::snippet;

/// A result as it is shown. What comes from outside and speaks to its reader is named, not quoted.
pub(super) fn shown(document: Document, terms: &[String]) -> Found {
    let Document { mut found, heading, text, .. } = document;
    found.flags = screened(heading.lines().chain([text.as_str(), found.origin.as_str()]));
    if found.trust == Trust::Outside && !found.flags.is_empty() {
        if !screened([found.origin.as_str()]).is_empty() {
            found.origin = format!("{} from outside", found.kind);
        }
        return found;
    }
    let of_text = || text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let summary = match found.of {
        // The summary of a package stands behind its title.
        ItemKind::Package => heading.lines().nth(1),
        ItemKind::Error => heading.lines().rfind(|line| !line.trim().is_empty()),
        // A title repeats where a note comes from.
        ItemKind::Reasoning | ItemKind::Strategy | ItemKind::Verdict | ItemKind::Note => {
            of_text().or_else(|| text.lines().find(|line| !line.trim().is_empty()))
        }
    };
    found.snippet = snippet(summary.unwrap_or_default(), &text, terms);
    found
}
