//! Where each package of a session stands among the others.
//!
//! Packages come and are looked for in the order of their ids, which mostly follow each other: a sheet of
//! them takes as much memory as two ids.

use handover_model::PackageId;
use handover_store::packed::on_sheet;

#[derive(Debug, Default)]
pub(super) struct Places {
    sheets: Vec<Sheet>,
    count: u32,
}

#[derive(Debug)]
struct Sheet {
    number: i64,
    /// The place of its first package.
    first: u32,
    /// Which places of the sheet are taken.
    taken: u32,
}

impl Places {
    /// Gives the next place to a package.
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

/// Finds packages that are asked for in the order of their ids.
pub(super) struct Cursor<'a> {
    /// From the one that was found last.
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
        // Counting bits takes longer than to see that none is missing.
        let count = if before == bit - 1 { local.into() } else { before.count_ones() };
        (sheet.taken & bit != 0).then(|| (sheet.first + count) as usize)
    }

    /// A sheet is at most as far ahead as its number is greater, and just as far where none is missing.
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
    use super::*;

    #[test]
    fn packages_have_their_places() {
        let ids = [1, 2, 5, 31, 32, 64, 65, 1_000, 1_001, i64::MAX].map(PackageId);
        let mut places = Places::default();
        ids.into_iter().for_each(|id| places.push(id));
        let mut cursor = places.cursor();
        for (place, id) in ids.into_iter().enumerate() {
            assert_eq!(cursor.seek(id), Some(place), "{id}");
        }
        for strangers in
            [vec![0, 3, 33, 63, 66, 999, 1_002, i64::MAX - 1], vec![500, 1_000], vec![]]
        {
            let mut cursor = places.cursor();
            for id in strangers.into_iter().map(PackageId) {
                let place = ids.iter().position(|known| *known == id);
                assert_eq!(cursor.seek(id), place, "{id}");
            }
        }
        assert_eq!(Places::default().cursor().seek(PackageId(1)), None);
    }
}
