//! Where to look: the files that the work will most likely touch. They come last and take what is left.

use handover_model::{Tokenizer, Trust};
use handover_text::tokens;
use serde::Serialize;

use super::admit::Admission;
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
    /// How far to believe the checkout that it is in.
    pub trust: Trust,
    /// Whether `why` quotes the subject of a commit; nobody knows who wrote that.
    #[serde(skip)]
    pub quotes: bool,
}

/// Why, without the words of a commit that a later statement replaced or stands for, or that an agent may have
/// written if the role gets nothing of agents.
fn current(place: &ShownPlace, earlier: &[String], admission: Admission) -> String {
    let why = place.why.as_str();
    let repeats = earlier.iter().any(|title| !title.is_empty() && why.contains(title.as_str()));
    match () {
        () if repeats => "changed in an earlier commit about this".to_owned(),
        () if place.quotes && admission.refuses(Trust::Agent).is_some() => {
            "changed in a commit about this".to_owned()
        }
        () => why.to_owned(),
    }
}

/// The places of a task that fit into the room, best first; titles of earlier commits are not repeated.
pub(super) fn pack(
    sources: Sources<'_>,
    task: &str,
    earlier: &[String],
    admission: Admission,
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Vec<ShownPlace> {
    let mut room = room.saturating_sub(render_notes::places_heading_tokens(tokenizer));
    let mut shown = Vec::new();
    for place in (sources.where_to_look)(task).into_iter().take(MAX_PLACES) {
        let why = current(&place, earlier, admission);
        // A name that speaks to its reader cannot be shown in another way.
        let admitted = admission.check(place.trust, [place.path.as_str(), why.as_str()]);
        if !admitted.is_ok_and(|flags| flags.is_empty()) {
            continue;
        }
        let clean = |redactions: &mut Redactions, text: &str| {
            redactions.clean(sources.redactor, text).one_line().as_str().to_owned()
        };
        let place = ShownPlace {
            path: clean(redactions, &place.path),
            why: clean(redactions, &why),
            ..place
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
