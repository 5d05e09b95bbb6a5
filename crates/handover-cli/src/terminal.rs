//! Keys as they are pressed, from a terminal that echoes nothing meanwhile.

use std::io::{Read as _, stdin};
use std::time::Duration;

use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// A character; letters are lowercase.
    Char(char),
    /// Enter or Return.
    Enter,
    /// Escape.
    Escape,
    /// The arrow up.
    Up,
    /// The arrow down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// Ctrl-C, which is not a signal here, so that the terminal can be restored.
    Interrupt,
    /// Anything else.
    Other,
}

/// What standard input has been set to; restored when dropped.
pub(crate) struct QuietTerminal {
    before: Termios,
}

impl QuietTerminal {
    /// Takes over the terminal; none if standard input is something else.
    pub(crate) fn new() -> Option<Self> {
        let before = tcgetattr(stdin()).ok()?;
        Some(Self { before })
    }

    /// The key that is pressed within this time.
    pub(crate) fn key(&self, time: Duration) -> Option<Key> {
        let mut quiet = self.before.clone();
        quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        // A read returns with the first bytes, or with none after this many tenths of a second.
        let tenths = u8::try_from(time.as_millis().div_ceil(100)).unwrap_or(u8::MAX);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 0;
        quiet.special_codes[SpecialCodeIndex::VTIME] = tenths;
        tcsetattr(stdin(), OptionalActions::Now, &quiet).ok()?;
        let mut bytes = [0; 16];
        let count = stdin().lock().read(&mut bytes).ok()?;
        key(&bytes[..count])
    }
}

impl Drop for QuietTerminal {
    fn drop(&mut self) {
        let _ = tcsetattr(stdin(), OptionalActions::Now, &self.before);
    }
}

/// What a terminal sends for a key.
fn key(bytes: &[u8]) -> Option<Key> {
    Some(match bytes {
        [] => return None,
        [3, ..] => Key::Interrupt,
        [b'\r' | b'\n', ..] => Key::Enter,
        [0x1b] => Key::Escape,
        [0x1b, b'[' | b'O', b'A', ..] => Key::Up,
        [0x1b, b'[' | b'O', b'B', ..] => Key::Down,
        [0x1b, b'[', b'5', ..] => Key::PageUp,
        [0x1b, b'[', b'6', ..] => Key::PageDown,
        [byte, ..] if byte.is_ascii_graphic() || *byte == b' ' => {
            Key::Char(char::from(byte.to_ascii_lowercase()))
        }
        _ => Key::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::{Key, key};

    #[test]
    fn knows_keys_by_their_bytes() {
        for (bytes, expected) in [
            (&b""[..], None),
            (b"q", Some(Key::Char('q'))),
            (b"Q", Some(Key::Char('q'))),
            (b"\r", Some(Key::Enter)),
            (b"\x1b", Some(Key::Escape)),
            (b"\x1b[A", Some(Key::Up)),
            (b"\x1bOB", Some(Key::Down)),
            (b"\x1b[6~", Some(Key::PageDown)),
            (b"\x03", Some(Key::Interrupt)),
            ("ü".as_bytes(), Some(Key::Other)),
        ] {
            assert_eq!(key(bytes), expected, "{bytes:?}");
        }
    }
}
