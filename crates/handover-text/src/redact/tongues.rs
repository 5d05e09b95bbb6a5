//! What passwords are called in other languages and scripts.

use super::bytes;
use super::index::{Index, Side};
use super::signs;

/// Names with letters that are not ASCII; those without are among [`super::keys`].
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "密码", "密碼", "口令", "пароль", "Пароль", "ПАРОЛЬ", "パスワード", "비밀번호", "암호", "contraseña",
    "Contraseña", "hasło", "lösenord", "şifre", "Şifre", "jelszó", "mật khẩu",
    "κωδικός", "סיסמה", "كلمة المرور", "पासवर्ड", "รหัสผ่าน", "slaptažodis",
];

/// The names from their first letter that is not ASCII: a text is looked up there.
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

/// Signs and words between a name and its value.
#[rustfmt::skip]
const SIGNS: [&str; 16] = [
    ":", "=", "：", "- ", "– ", "— ", "是：", "是", "为", "為", "は", "es: ", "es ", "to ", "är ", "это ",
];

/// Where the value begins that a name gets whose first foreign letter stands at `at`, and whether
/// words stand between.
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
    let end = signs::skip_space(text, end);
    match SIGNS.iter().find(|s| text[end..].starts_with(s.as_bytes())) {
        Some(sign) => Some((signs::skip_space(text, end + sign.len()), false)),
        None => signs::words_and_is(text, end).map(|at| (at, true)),
    }
}
