//! Blocks of consecutive package ids, which share a row.

use handover_model::PackageId;

/// How package ids are divided into blocks. Each backend picks the size that suits its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    size: i64,
}

impl Blocks {
    /// The largest sheet: the offset of a candidate has five bits.
    pub const MAX_SHEET: i64 = 32;
    /// The largest page: the offset of a posting has a byte.
    pub const MAX_PAGE: i64 = 256;

    /// Blocks of candidates, at most [`MAX_SHEET`](Self::MAX_SHEET) to a sheet.
    pub const fn sheets(size: i64) -> Self {
        assert!(size > 0 && size <= Self::MAX_SHEET, "the offset would not fit");
        Self { size }
    }

    /// Blocks of postings, at most [`MAX_PAGE`](Self::MAX_PAGE) to a page.
    pub const fn pages(size: i64) -> Self {
        assert!(size > 0 && size <= Self::MAX_PAGE, "the offset would not fit");
        Self { size }
    }

    /// The number of the block that holds a package.
    pub fn number(self, id: PackageId) -> i64 {
        id.0.div_euclid(self.size)
    }

    /// The first package id of a block. Saturates for numbers beyond any package.
    pub fn first(self, number: i64) -> PackageId {
        PackageId(number.saturating_mul(self.size))
    }

    /// The position of a package within its block.
    pub(super) fn offset(self, id: PackageId) -> u8 {
        // Below the size, which fits by construction.
        id.0.rem_euclid(self.size) as u8
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn number_and_offset_identify_a_package(id in any::<i64>(), size in 1..=Blocks::MAX_PAGE) {
            let (blocks, id) = (Blocks::pages(size), PackageId(id));
            let first = blocks.first(blocks.number(id));
            prop_assume!(first.0 != i64::MIN);
            prop_assert_eq!(PackageId(first.0 + i64::from(blocks.offset(id))), id);
            prop_assert!(i64::from(blocks.offset(id)) < size);
        }
    }

    #[test]
    fn numbers_of_no_package_do_not_overflow() {
        assert_eq!(Blocks::pages(128).first(i64::MAX), PackageId(i64::MAX));
        assert_eq!(Blocks::sheets(32).first(i64::MIN), PackageId(i64::MIN));
    }
}
