//! Packing: what fits, in which form.

use handover_model::{Fate, Form, Tokenizer, Zone};
use handover_store::Result;
use handover_text::tokens;

use super::select::Selection;
use super::{Explained, PackedPackage, Redactions, Setting, render};

/// What went in, and what became of every candidate that was tried.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) packages: Vec<PackedPackage>,
    pub(super) tried: Vec<Explained>,
}

/// Shorter forms that are tried before a package is skipped, in characters.
const SHORTER: [usize; 2] = [100, 60];

/// After so many in a row that fit in no form, the room is taken for full.
const MISSES: usize = 50;

/// Takes the best from the selection's queue as long as there is room. What stays there is over
/// the limit.
pub(super) fn packages(
    setting: Setting<'_>,
    selection: &mut Selection,
    zone: Zone,
    limit: usize,
    budget: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Packed> {
    let mut packed = Packed::default();
    let (mut room, mut misses) = (budget, 0);
    while packed.packages.len() < limit && misses < MISSES {
        let Some(key) = selection.queue.pop() else { break };
        let mut explained = selection.explained(key, Fate::OverTheBudget);
        match fit(setting, &explained, zone, room, tokenizer, redactions)? {
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
    if zone != Zone::Conservative {
        packed.packages.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    }
    Ok(packed)
}

/// The longest form of a package that fits.
fn fit(
    setting: Setting<'_>,
    ranked: &Explained,
    zone: Zone,
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Option<PackedPackage>> {
    let package = setting.store.package(ranked.id)?;
    let whole = redactions.clean(setting.redactor, &package.summary).one_line();
    let lengths = std::iter::once(zone.summary_chars())
        .chain(SHORTER.into_iter().filter(|chars| *chars < zone.summary_chars()));
    let mut forms: Vec<String> =
        lengths.map(|chars| whole.cut(chars).as_str().to_owned()).collect();
    forms.dedup();
    forms.push(String::new());
    for summary in forms {
        let form = if summary.is_empty() {
            Form::Pointer
        } else if summary == whole.as_str() {
            Form::Full
        } else {
            Form::Short
        };
        let mut packed = PackedPackage {
            id: package.id,
            version: package.version,
            path: package.path.clone(),
            priority: package.priority,
            summary,
            tokens: 0,
            file_tokens: package.tokens,
            score: ranked.score,
            form,
            terms: ranked.terms,
        };
        packed.tokens = tokens::count(tokenizer, &render::package(&packed));
        if packed.tokens <= room {
            return Ok(Some(packed));
        }
    }
    Ok(None)
}
