//! Maps package ids to consecutive ordinals.
//!
//! Packages are added and looked up in order of their ids, which are mostly consecutive: a sheet of them
//! takes as much memory as two ids.

use handover_model::PackageId;

#[derive(Debug, Default)]
pub(super) struct Ordinals {
    sheets: Vec<Sheet>,
    count: u32,
}

#[derive(Debug)]
struct Sheet {
    number: i64,
    /// The ordinal of its first package.
    first: u32,
    /// A bit for each package of the sheet.
    taken: u32,
}

/// The sheet of a package and its bit in [`Sheet::taken`].
fn on_sheet(id: PackageId) -> (i64, u8) {
    const SIZE: i64 = u32::BITS as i64;
    (id.0.div_euclid(SIZE), id.0.rem_euclid(SIZE) as u8)
}

impl Ordinals {
    /// Assigns the next ordinal to a package.
    pub(super) fn push(&mut self, id: PackageId) {
        let (number, local) = on_sheet(id);
        match self.sheets.last_mut() {
            Some(sheet) if sheet.number == number => sheet.taken |= 1 << local,
            _ => self.sheets.push(Sheet { number, first: self.count, taken: 1 << local }),
        }
        self.count += 1;
    }

    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { sheets: &self.sheets }
    }
}

/// Looks up packages in order of their ids.
pub(super) struct Cursor<'a> {
    /// From the last match on.
    sheets: &'a [Sheet],
}

impl Cursor<'_> {
    #[inline]
    pub(super) fn seek(&mut self, id: PackageId) -> Option<usize> {
        let (number, local) = on_sheet(id);
        if self.sheets.first()?.number < number {
            self.skip_to(number);
        }
        let sheet = self.sheets.first().filter(|sheet| sheet.number == number)?;
        let bit = 1_u32 << local;
        let before = sheet.taken & (bit - 1);
        // Counting bits takes longer than noticing that none is missing.
        let count = if before == bit - 1 { local.into() } else { before.count_ones() };
        (sheet.taken & bit != 0).then(|| (sheet.first + count) as usize)
    }

    /// A sheet is at most as far ahead as its number is greater, and exactly as far if none is missing.
    #[inline]
    fn skip_to(&mut self, number: i64) {
        let Some(here) = self.sheets.first() else { return };
        let ahead = usize::try_from(number.saturating_sub(here.number)).unwrap_or(usize::MAX);
        let end = ahead.min(self.sheets.len());
        let there = self.sheets.get(end).is_some_and(|sheet| sheet.number == number);
        let skipped = if there {
            end
        } else {
            self.sheets[..end].partition_point(|sheet| sheet.number < number)
        };
        self.sheets = &self.sheets[skipped..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn assigns_consecutive_ordinals() {
        let ids = [1, 2, 5, 31, 32, 64, 65, 1_000, 1_001, i64::MAX].map(PackageId);
        let mut ordinals = Ordinals::default();
        ids.into_iter().for_each(|id| ordinals.push(id));
        let mut cursor = ordinals.cursor();
        for (ordinal, id) in ids.into_iter().enumerate() {
            assert_eq!(cursor.seek(id), Some(ordinal), "{id}");
        }
        for strangers in
            [vec![0, 3, 33, 63, 66, 999, 1_002, i64::MAX - 1], vec![500, 1_000], vec![]]
        {
            let mut cursor = ordinals.cursor();
            for id in strangers.into_iter().map(PackageId) {
                let ordinal = ids.iter().position(|known| *known == id);
                assert_eq!(cursor.seek(id), ordinal, "{id}");
            }
        }
        assert_eq!(Ordinals::default().cursor().seek(PackageId(1)), None);
    }

    proptest! {
        #[test]
        fn lookups_equal_a_search(
            ids in prop::collection::btree_set(0_i64..2_000, 0..200),
            asked in prop::collection::btree_set(0_i64..2_100, 0..200),
        ) {
            let mut ordinals = Ordinals::default();
            ids.iter().for_each(|id| ordinals.push(PackageId(*id)));
            let mut cursor = ordinals.cursor();
            for id in asked {
                let expected = ids.iter().position(|known| *known == id);
                prop_assert_eq!(cursor.seek(PackageId(id)), expected, "{}", id);
            }
        }
    }
}
