//! Names of passwords in other languages and scripts.

use super::bytes;
use super::index::{Index, Side};
use super::operators;

/// Names with letters outside ASCII; the ASCII ones are in [`super::keys`].
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "密码", "密碼", "口令", "пароль", "Пароль", "ПАРОЛЬ", "パスワード", "비밀번호", "암호", "패스워드", "비번", "contraseña",
    "Contraseña", "hasło", "lösenord", "şifre", "Şifre", "jelszó", "mật khẩu",
    "κωδικός", "סיסמה", "كلمة المرور", "पासवर्ड", "รหัสผ่าน", "slaptažodis",
];

/// The names from their first non-ASCII letter on, where the scan looks them up.
static TAILS: Index<{ NAMES.len() }> = Index::new(&[&TAIL], Side::Start);

const TAIL: [&str; NAMES.len()] = {
    let mut tails = [""; NAMES.len()];
    let mut i = 0;
    while i < NAMES.len() {
        let name = NAMES[i].as_bytes();
        let mut at = 0;
        while at + 2 < name.len() && name[at].is_ascii() {
            at += 1;
        }
        tails[i] = NAMES[i].split_at(at).1;
        i += 1;
    }
    tails
};

/// Operators and words between a name and its value.
#[rustfmt::skip]
const OPERATORS: [&str; 16] = [
    ":", "=", "：", "- ", "– ", "— ", "是：", "是", "为", "為", "は", "es: ", "es ", "to ", "är ", "это ",
];

/// Where the value of a name begins whose first non-ASCII letter is at `at`, and whether other words
/// come in between.
pub(super) fn value_at(text: &[u8], at: usize) -> Option<(usize, bool)> {
    let rest = text.get(at..)?;
    let (_, tail) = TAILS.at(rest).find(|(_, tail)| {
        NAMES.iter().filter(|name| name.as_bytes().ends_with(tail)).any(|name| {
            let head = &name.as_bytes()[..name.len() - tail.len()];
            text[..at].len() >= head.len() && text[at - head.len()..at].eq_ignore_ascii_case(head)
        })
    })?;
    let end = at + tail.len();
    let end = end + bytes::run(text, end, 3, |b| matches!(b, b'"' | b'\'' | b'*' | b'`'));
    let end = operators::skip_space(text, end);
    match OPERATORS.iter().find(|s| text[end..].starts_with(s.as_bytes())) {
        Some(operator) => Some((operators::skip_space(text, end + operator.len()), false)),
        None => operators::words_and_is(text, end).map(|at| (at, true)),
    }
}
