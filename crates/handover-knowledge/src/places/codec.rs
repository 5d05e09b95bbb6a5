//! Numbers of variable length, and reading bytes that may be damaged: whatever is not there is `None`.

/// Appends a number, seven bits a byte, low bits first.
pub(super) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends bytes with their number before them.
pub(super) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads from the beginning of bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    pub(super) fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.number()?.try_into().ok()?;
        self.take(count)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Four bytes, low ones first.
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    /// Eight bytes, low ones first.
    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take(8)?.try_into().ok().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(numbers in prop::collection::vec(any::<u64>(), 0..20), text in "\\PC{0,40}") {
            let mut out = Vec::new();
            for number in &numbers {
                put(&mut out, *number);
            }
            put_bytes(&mut out, text.as_bytes());
            let mut reader = Reader::new(&out);
            for number in &numbers {
                prop_assert_eq!(reader.number(), Some(*number));
            }
            prop_assert_eq!(reader.text(), Some(text.as_str()));
            prop_assert!(reader.is_empty());
            prop_assert_eq!(reader.number(), None);
        }

        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader::new(&bytes);
            while reader.number().is_some() || reader.byte().is_some() {}
            let mut reader = Reader::new(&bytes);
            let _ = (reader.text(), reader.u32(), reader.u64(), reader.small());
        }
    }
}
