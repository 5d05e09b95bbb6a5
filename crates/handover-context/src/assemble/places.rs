//! Where to look: the files that the work will most likely touch. They come last and take what is left.

use handover_model::Tokenizer;
use handover_text::tokens;
use serde::Serialize;

use super::{Redactions, Sources, render_notes};

/// The most places of a block.
const MAX_PLACES: usize = 8;

/// A file that the work will probably touch, as the block shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownPlace {
    /// Relative to the root of the project.
    pub path: String,
    /// Comparable within one block only.
    pub score: f64,
    /// Why, in a few words.
    pub why: String,
}

/// Why, without the words of a commit that a later statement replaced or stands for.
fn current(why: String, earlier: &[String]) -> String {
    let repeats = earlier.iter().any(|title| !title.is_empty() && why.contains(title.as_str()));
    if repeats { "changed in an earlier commit about this".to_owned() } else { why }
}

/// The places of a task that fit into the room, best first; titles of earlier commits are not repeated.
pub(super) fn pack(
    sources: Sources<'_>,
    task: &str,
    earlier: &[String],
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Vec<ShownPlace> {
    let mut room = room.saturating_sub(render_notes::places_heading_tokens(tokenizer));
    let mut shown = Vec::new();
    for place in (sources.where_to_look)(task).into_iter().take(MAX_PLACES) {
        let clean = |redactions: &mut Redactions, text: &str| {
            redactions.clean(sources.redactor, text).one_line().as_str().to_owned()
        };
        let place = ShownPlace {
            path: clean(redactions, &place.path),
            why: clean(redactions, &current(place.why, earlier)),
            score: place.score,
        };
        let tokens = tokens::count(tokenizer, &render_notes::place(&place));
        if tokens > room {
            break;
        }
        room -= tokens;
        shown.push(place);
    }
    shown
}
