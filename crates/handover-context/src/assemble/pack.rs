//! Packing: what fits, in which form.

use handover_model::{Form, Tokenizer, Zone};
use handover_store::Result;
use handover_text::tokens;

use super::select::{Ranked, Selection};
use super::{Explained, PackedPackage, Redactions, Setting, render};

/// What went in, and what became of every candidate.
pub(super) struct Packed {
    pub(super) packages: Vec<PackedPackage>,
    pub(super) explained: Vec<Explained>,
}

/// Shorter forms that are tried before a package is skipped, in characters.
const SHORTER: [usize; 2] = [100, 60];

pub(super) fn packages(
    setting: Setting<'_>,
    selection: &Selection,
    zone: Zone,
    limit: usize,
    budget: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Packed> {
    let mut packed = Packed { packages: Vec::new(), explained: Vec::new() };
    let mut room = budget;
    for ranked in &selection.ranked {
        if packed.packages.len() >= limit {
            packed.explained.push(ranked.explained(false, "over the limit"));
            continue;
        }
        match fit(setting, ranked, zone, room, tokenizer, redactions)? {
            Some(package) => {
                room -= package.tokens;
                packed.explained.push(ranked.explained(
                    true,
                    match package.form {
                        Form::Full => "fits",
                        Form::Short => "fits, shortened",
                        Form::Pointer => "fits as a path",
                    },
                ));
                packed.packages.push(package);
            }
            None => packed.explained.push(ranked.explained(false, "over the budget")),
        }
    }
    if zone != Zone::Conservative {
        packed.packages.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.id.cmp(&a.id)));
    }
    packed.explained.extend(selection.refused.iter().cloned());
    Ok(packed)
}

/// The longest form of a package that fits.
fn fit(
    setting: Setting<'_>,
    ranked: &Ranked,
    zone: Zone,
    room: u64,
    tokenizer: Tokenizer,
    redactions: &mut Redactions,
) -> Result<Option<PackedPackage>> {
    let package = setting.store.package(ranked.candidate.id)?;
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
