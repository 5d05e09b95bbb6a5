//! Packing: what fits, in which form.

use std::collections::VecDeque;

use handover_model::{Fate, Form, Package, PackageId, Tokenizer, Zone};
use handover_store::{Result, Store};
use handover_text::{cut, tokens};

use super::select::Selection;
use super::{Explained, PackedPackage, Redactions, Sources, render};
use crate::package_file::{FileState, file_state};
use crate::rank::Key;

/// What went in, and what became of every candidate that was tried.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) packages: Vec<PackedPackage>,
    pub(super) tried: Vec<Explained>,
}

/// Shorter forms that are tried before a package is skipped, in characters.
const SHORTER: [usize; 2] = [100, 60];

/// At most so many are read together; more may never get a turn.
const AT_ONCE: usize = 16;

/// After so many in a row that fit in no form, the room is taken for full.
const MISSES: usize = 50;

/// Takes the best from the selection's queue as long as there is room. What stays there is over
/// the limit.
pub(super) fn packages(
    sources: Sources<'_>,
    selection: &mut Selection<'_>,
    zone: Zone,
    limit: usize,
    budget: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Packed> {
    let mut packed = Packed::default();
    let (mut room, mut misses) = (budget, 0);
    let mut read = VecDeque::new();
    while packed.packages.len() < limit && misses < MISSES {
        if read.is_empty() {
            let places = limit - packed.packages.len();
            read = next(sources.store, selection, places.min(AT_ONCE))?;
        }
        let Some((key, package)) = read.pop_front() else { break };
        let mut explained = selection.explained(key, Fate::OverTheBudget);
        let state = sources.places.map(|places| file_state(places, &package));
        if state == Some(FileState::Vanished) {
            // Pointing an agent at nothing helps nobody.
            explained.reason = Fate::FileGone;
            packed.tried.push(explained);
            continue;
        }
        match fit(sources, &package, state, &explained, zone, room, tokenizer, redactions) {
            Some(package) => {
                room -= package.tokens;
                misses = 0;
                explained.included = true;
                explained.reason = match package.form {
                    Form::Full => Fate::Fits,
                    Form::Short => Fate::FitsShortened,
                    Form::Pointer => Fate::FitsAsPath,
                };
                packed.packages.push(package);
            }
            None => misses += 1,
        }
        packed.tried.push(explained);
    }
    for (key, _) in read.into_iter().rev() {
        selection.put_back(key);
    }
    if zone != Zone::Conservative {
        packed.packages.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    }
    Ok(packed)
}

/// The next best of the queue, read in one go.
fn next(
    store: &dyn Store,
    selection: &mut Selection<'_>,
    count: usize,
) -> Result<VecDeque<(Key, Package)>> {
    let next = std::iter::from_fn(|| selection.take().transpose());
    let keys: Vec<Key> = next.take(count).collect::<Result<_>>()?;
    let ids: Vec<PackageId> = keys.iter().map(|key| key.candidate.id).collect();
    Ok(keys.into_iter().zip(store.packages_by_id(&ids)?).collect())
}

/// The longest form of a package that fits.
#[expect(clippy::too_many_arguments, reason = "each is one plain value")]
fn fit(
    sources: Sources<'_>,
    package: &Package,
    state: Option<FileState>,
    ranked: &Explained,
    zone: Zone,
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Option<PackedPackage> {
    let whole = redactions.clean(sources.redactor, &package.summary).one_line();
    let first = whole.cut(zone.summary_chars());
    let form = if first.as_str().is_empty() {
        Form::Pointer
    } else if first.as_str() == whole.as_str() {
        Form::Full
    } else {
        Form::Short
    };
    let mut packed = PackedPackage {
        id: package.id,
        version: package.version,
        path: package.path.clone(),
        priority: package.priority,
        summary: first.as_str().to_owned(),
        tokens: 0,
        file_tokens: package.tokens,
        score: ranked.score,
        form,
        changed: state == Some(FileState::Changed),
        elsewhere: state == Some(FileState::Elsewhere),
        terms: ranked.terms,
    };
    packed.tokens = tokens::count(tokenizer, &render::package(&packed));
    while packed.tokens > room {
        if packed.form == Form::Pointer {
            return None;
        }
        shorten(&mut packed, tokenizer);
    }
    Some(packed)
}

/// The next shorter form of a package; the last one is its path alone.
pub(super) fn shorten(package: &mut PackedPackage, tokenizer: Tokenizer) {
    let length = package.summary.chars().count();
    let next = SHORTER.into_iter().find(|chars| *chars < length);
    (package.summary, package.form) = match next {
        Some(chars) => (cut::cut(&package.summary, chars), Form::Short),
        None => (String::new(), Form::Pointer),
    };
    package.tokens = tokens::count(tokenizer, &render::package(package));
}
