//! Judges assigned values: secrets, placeholders, expressions.

use super::allowlist;
use super::bytes::{self, ALNUM, DIGIT, LOWER, UPPER};
use super::encoded;
use super::generic;
use super::keys::{self, Key};
use super::phrases;
use super::random;
use super::weak;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A literal in quotes or tags.
    Quoted,
    /// A quoted literal that code compares the name with.
    Compared,
    /// As in a shell, an `.env` file, a query string: everything after the operator is the value.
    Plain,
    /// Unquoted, where code or a sentence is possible too.
    Loose,
}

/// Whether the value of a sensitive name is a secret.
pub(super) fn is_secret(key: Key, form: Form, value: &[u8]) -> bool {
    if weak::is_known(value) {
        return weak::fits(key, form, value);
    }
    if matches!(key, Key::Secret | Key::Token) && random::is_drawn_out(value) {
        return true;
    }
    if allowlist::placeholder(value) || allowlist::public(value) || allowlist::regex(value) {
        return false;
    }
    let form = match form {
        Form::Compared if is_compared(key, value) => return true,
        Form::Compared => Form::Quoted,
        Form::Quoted | Form::Plain | Form::Loose => form,
    };
    let program =
        || allowlist::expression(value) || allowlist::number(value) || allowlist::tag(value);
    if form != Form::Quoted && program() {
        return false;
    }
    match key {
        Key::Password => password(form, value),
        Key::Secret | Key::Token | Key::Weak if random::typed_key(value) => true,
        Key::Secret | Key::Weak if is_product_key(value) => true,
        Key::Secret => secret(form, value),
        Key::Token => weak(form, value) || token(form, value) || encoded::is_user_password(value),
        Key::Weak => weak(form, value) && !generic::identifier(value),
        Key::Id => id(form, value),
    }
}

/// Invented tokens (`abcdef123456`) are less random than real ones.
fn token(form: Form, value: &[u8]) -> bool {
    let one_word = value.iter().all(|b| bytes::is(*b, ALNUM));
    if form == Form::Quoted && value.len() >= 12 && letters(value) {
        return true;
    }
    form != Form::Loose
        && one_word
        && value.len() >= 12
        && random::mixed(value)
        && !wordy_with_number(value)
}

/// Ids are public unless they look like a key.
fn id(form: Form, value: &[u8]) -> bool {
    !random::uuid(value)
        && !value.contains(&b'/')
        && !random::hex(value)
        && value.len() >= 12
        && weak(form, value)
}

fn password(form: Form, value: &[u8]) -> bool {
    if names_a_password(value) || value.len() > 256 {
        return false;
    }
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    // A field label in another language.
    if !value.is_ascii() && !value.iter().any(u8::is_ascii_digit) && !special(value) {
        return false;
    }
    match form {
        Form::Quoted | Form::Compared if spaced => phrases::is_phrase(value),
        Form::Quoted | Form::Compared => {
            value.len() >= 3 && !allowlist::reference(value) && !allowlist::version(value)
        }
        Form::Plain => value.len() >= 3 && !allowlist::reference(value),
        Form::Loose => {
            value.len() >= 4
                && (random::mixed(value) || special(value) && !exclaimed(value) || letters(value))
                && !allowlist::reference(value)
        }
    }
}

/// `forgotten?`, `changed!`: a word of a sentence.
fn exclaimed(value: &[u8]) -> bool {
    let letter = |b: &u8| b.is_ascii_alphabetic() || !b.is_ascii();
    matches!(value, [word @ .., b'?' | b'!'] if word.iter().all(letter))
}

/// `db_password`, `userPassword`, `PASSWORD`: a name again, not a value. `thisismypassword` is a value.
fn names_a_password(value: &[u8]) -> bool {
    let joined = value.iter().any(|b| matches!(b, b'_' | b'-' | b'.' | b':'))
        || value[1..].iter().any(u8::is_ascii_uppercase)
        || value.len() <= 9;
    let name = value.iter().all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b':'));
    joined && name && !random::mixed(value) && keys::classify(value).is_some()
}

fn secret(form: Form, value: &[u8]) -> bool {
    if form == Form::Quoted && phrases::is_phrase(value) {
        return true;
    }
    if value.iter().any(u8::is_ascii_whitespace) || allowlist::reference(value) {
        return false;
    }
    let random =
        value.len() >= 12 && random::scattered(value) || value.len() >= 16 && all_digits(value);
    match form {
        Form::Quoted | Form::Compared => {
            random
                || word_and_number(value)
                || (value.len() >= 6 && !random::wordy(value) && !wordy_with_number(value))
        }
        // A shell takes words literally; with a dot or a slash they may name a file.
        Form::Plain => {
            random
                || (value.len() >= 6 && !value.iter().any(|b| matches!(b, b'.' | b'/')))
                || (value.len() >= 6 && !random::wordy(value))
        }
        Form::Loose => {
            random
                || value.len() >= 14 && all_digits(value)
                || word_and_number(value)
                || (value.len() >= 8 && random::mixed(value) && !wordy_with_number(value))
        }
    }
}

fn all_digits(value: &[u8]) -> bool {
    value.iter().all(u8::is_ascii_digit)
}

/// `184824-202847-623730-837462`: groups of six digits.
fn is_recovery_key(value: &[u8]) -> bool {
    let group = |group: &[u8]| group.len() == 6 && all_digits(group);
    value.len() >= 27 && value.split(|b| *b == b'-').all(group)
}

/// `ABCDE-FGHIJ-KLMNO-PQRST-UVWXY`: five groups of five.
fn is_product_key(value: &[u8]) -> bool {
    value.len() == 29
        && value.iter().enumerate().all(|(i, b)| match i % 6 {
            5 => *b == b'-',
            _ => bytes::is(*b, UPPER | DIGIT),
        })
        && random::scattered(value)
}

/// Names of algorithms that resemble secrets.
const ALGORITHMS: [&str; 8] =
    ["curve", "camellia", "serpent", "whirlpool", "twofish", "windows", "keccak", "version"];

/// `dragon4711`: a word people choose. Two digits usually number something.
pub(super) fn word_and_number(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let word = &value[..value.len() - digits];
    value.len() >= 8
        && (3..=6).contains(&digits)
        && word.len() >= 4
        && word.iter().all(u8::is_ascii_alphabetic)
        && keys::classify(word).is_none_or(|key| key <= Key::Weak)
        && !ALGORITHMS.iter().any(|a| word.eq_ignore_ascii_case(a.as_bytes()))
}

/// `Copper-Walnut42`: capitalised words and a number, as people combine them.
fn joined_words(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let words = || value[..value.len() - digits].split(|b| matches!(b, b'-' | b'_'));
    let capital = |word: &[u8]| {
        word.len() >= 4
            && word[0].is_ascii_uppercase()
            && word[1..].iter().all(u8::is_ascii_lowercase)
    };
    (2..=4).contains(&digits) && words().count() >= 2 && words().all(capital)
}

/// Words and a number in a form typical of passwords.
pub(super) fn made_up(value: &[u8]) -> bool {
    word_and_number(value) || joined_words(value)
}

/// Whether code compares a secret with this value: `secret != "open-sesame"`. Words alone are just as
/// often the name of a kind.
fn is_compared(key: Key, value: &[u8]) -> bool {
    let joined = value.split(|b| matches!(b, b'-' | b'_')).filter(|w| w.len() >= 3).count() >= 2;
    key == Key::Secret
        && value.len() >= 8
        && (joined || random::mixed(value))
        && !value.iter().any(|b| b.is_ascii_whitespace() || matches!(b, b'.' | b'/' | b':'))
        && keys::classify(value).is_none()
        && !allowlist::placeholder(value)
}

fn weak(form: Form, value: &[u8]) -> bool {
    let least = match form {
        Form::Quoted | Form::Compared => 8,
        Form::Plain | Form::Loose => 10,
    };
    if value.len() < least
        || value.iter().any(u8::is_ascii_whitespace)
        || allowlist::reference(value)
        || value.contains(&b'[')
        || value.ends_with(b")")
    {
        return false;
    }
    let digits = value.len() >= 16 && all_digits(value) || is_recovery_key(value);
    let dense = random::mixed(value)
        && random::scattered(value)
        && !wordy_with_number(value)
        && random::longest_word(value) >= 4;
    let long = form != Form::Loose
        && value.len() >= 20
        && random::mixed(value)
        && random::longest_word(value) >= 16
        && random::changes(value) >= 4
        && random::efficiency(value) < 3.0;
    digits || random::uuid(value) || dense || long || generic::grouped(value)
}

/// `item_2`, `sha256`, `utf8-decoder-v3`: words, some of which end in a number.
pub(super) fn wordy_with_number(value: &[u8]) -> bool {
    let name =
        |b: &u8| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-' | b'.' | b'/' | b':' | b' ');
    value.iter().all(name)
        && value.split(|b| !bytes::is(*b, ALNUM)).all(|part| {
            let digits = part.iter().rev().take_while(|b| b.is_ascii_digit()).count();
            let letters = &part[..part.len() - digits];
            let one_case =
                random::classes(letters) & (UPPER | LOWER) != UPPER | LOWER || camel(letters);
            letters.iter().all(u8::is_ascii_alphabetic)
                && one_case
                && digits <= 4
                && !(letters.len() >= 8 && random::scattered(letters))
        })
}

/// `apiKey`, not `skWu`: words of at least three letters.
fn camel(letters: &[u8]) -> bool {
    let upper = letters.iter().filter(|b| b.is_ascii_uppercase()).count();
    let words = upper + usize::from(letters.first().is_some_and(u8::is_ascii_lowercase));
    words * 3 <= letters.len()
}

/// Letters of both cases that form no words.
fn letters(value: &[u8]) -> bool {
    value.len() >= 10
        && value.iter().all(u8::is_ascii_alphabetic)
        && random::classes(value) & (UPPER | LOWER) == UPPER | LOWER
        && random::scattered(value)
}

pub(super) fn special(value: &[u8]) -> bool {
    value
        .iter()
        .any(|b| matches!(b, b'!' | b'@' | b'#' | b'%' | b'^' | b'&' | b'*' | b'?' | b'+' | b'~'))
        && value.iter().filter(|b| b.is_ascii_alphanumeric()).count() >= 4
}

/// Whether a JSON value under a sensitive key is a secret: it is a literal, and stands alone.
pub(super) fn is_json_secret(key: Key, value: &[u8]) -> bool {
    if weak::is_known(value) {
        return weak::fits(key, Form::Quoted, value);
    }
    if allowlist::placeholder(value) || allowlist::public(value) {
        return false;
    }
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    match key {
        Key::Password => {
            !allowlist::reference(value)
                && (!spaced || !random::wordy(value) || phrases::is_phrase(value))
        }
        Key::Secret => {
            let name = value.len() > 4 && random::wordy(value) && keys::classify(value).is_some();
            !spaced && !allowlist::reference(value) && !name
        }
        Key::Token => {
            weak(Form::Quoted, value)
                || token(Form::Quoted, value)
                || encoded::is_user_password(value)
        }
        Key::Weak => weak(Form::Quoted, value),
        Key::Id => id(Form::Quoted, value),
    }
}

/// Whether a number under a sensitive key is a secret: a PIN, not a limit.
pub(super) fn is_json_number_secret(key: Key, digits: &[u8]) -> bool {
    match key {
        Key::Password => digits.len() >= 3,
        Key::Secret => digits.len() >= 6,
        Key::Id => false,
        Key::Token | Key::Weak => digits.len() >= 16 && digits.iter().all(|b| bytes::is(*b, DIGIT)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(key: Key, form: Form, yes: &[&str], no: &[&str]) {
        for value in yes {
            assert!(is_secret(key, form, value.as_bytes()), "{key:?} {form:?} {value}");
        }
        for value in no {
            assert!(!is_secret(key, form, value.as_bytes()), "{key:?} {form:?} {value}");
        }
    }

    #[test]
    fn quoted_passwords_may_be_any_word() {
        judged(
            Key::Password,
            Form::Quoted,
            &["sesame", "abc", "correct horse battery staple", "thisismypassword"],
            &[
                "ab",
                "db_password",
                "userPassword",
                "/etc/x",
                "1.2.3",
                "enter your password",
                "пароль",
            ],
        );
    }

    #[test]
    fn loose_passwords_must_look_like_one() {
        judged(
            Key::Password,
            Form::Loose,
            &["hunter2", "p@ssw", "Zk8vXq2LmN"],
            &["sesame", "ab1", "forgotten?", "self.password", "f(x)", "10u8"],
        );
        judged(Key::Password, Form::Plain, &["sesame", "abc"], &["ab", "$PASS", "/run/x"]);
    }

    #[test]
    fn secrets_are_no_plain_names() {
        judged(
            Key::Secret,
            Form::Quoted,
            &["dragon4711", "a1!b2?c3"],
            &["api-name", "sha256", "a b c"],
        );
        judged(Key::Secret, Form::Plain, &["sesame"], &["short", "a.b.c"]);
        judged(Key::Secret, Form::Loose, &["dragon4711", "k9Zx2w8q"], &["sesame", "item_2"]);
        judged(Key::Secret, Form::Compared, &["open-sesame"], &["sesame", "a.b-sesame"]);
    }

    #[test]
    fn weak_names_need_random_values() {
        judged(
            Key::Weak,
            Form::Quoted,
            &["Zk8vXq2LmN5pR7wT", "1234567890123456", "550e8400-e29b-41d4-a716-446655440000"],
            &["user_id", "sesame", "cache-key-12", "msg_01XfZk8vXq2LmN5p", "a1b2"],
        );
        judged(
            Key::Token,
            Form::Quoted,
            &["abcdef123456", "dXNlcjpwYXNzd29yZA=="],
            &["identifier"],
        );
        judged(
            Key::Id,
            Form::Quoted,
            &["OC-FAB12-AbCdEf"],
            &["550e8400-e29b-41d4-a716-446655440000"],
        );
    }

    #[test]
    fn made_up_words_end_in_a_number() {
        for value in ["dragon4711", "Copper-Walnut42"] {
            assert!(made_up(value.as_bytes()), "{value}");
        }
        for value in
            ["dragon47", "dra4711", "windows2019", "copper-walnut42", "Copper42", "token12345"]
        {
            assert!(!made_up(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn names_may_end_in_numbers() {
        for value in ["item_2", "sha256", "utf8-decoder-v3", "apiKey2", "a.b.c1"] {
            assert!(wordy_with_number(value.as_bytes()), "{value}");
        }
        for value in ["a12345", "skWu2", "x!1", "1a"] {
            assert!(!wordy_with_number(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn json_numbers_are_secrets_by_length() {
        for (key, least) in
            [(Key::Password, 3), (Key::Secret, 6), (Key::Token, 16), (Key::Weak, 16)]
        {
            assert!(is_json_number_secret(key, "1".repeat(least).as_bytes()), "{key:?}");
            assert!(!is_json_number_secret(key, "1".repeat(least - 1).as_bytes()), "{key:?}");
        }
        assert!(!is_json_number_secret(Key::Id, "1".repeat(40).as_bytes()));
        assert!(!is_json_number_secret(Key::Weak, b"-123456789012345"));
    }
}
