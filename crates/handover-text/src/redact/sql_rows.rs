//! SQL rows: `INSERT INTO users (name, password) VALUES ('ann', '…')`.

use super::bytes;
use super::keys::{self, Key};
use super::values::{self, Form};

/// The most bytes of a column list or a row that are read.
pub(super) const LIST: usize = 600;
/// The most rows that are read.
const ROWS: usize = 64;

/// The passwords in the rows after the word `VALUES` at `start..end`.
pub(super) fn secrets(text: &[u8], start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if end - start != 6 || !text[start..end].eq_ignore_ascii_case(b"values") {
        return found;
    }
    let Some(column) = password_column(text, start) else {
        return found;
    };
    let mut at = end;
    for _ in 0..ROWS {
        at += bytes::run(text, at, 80, |b| b.is_ascii_whitespace() || b == b',');
        if text.get(at) != Some(&b'(') {
            break;
        }
        let (fields, next) = row(text, at + 1);
        let value =
            fields.get(column).and_then(|(from, to)| Some((from, to, text.get(*from..*to)?)));
        if let Some((from, to, [b'\'' | b'"', value @ .., b'\'' | b'"'])) = value
            && values::is_secret(Key::Password, Form::Quoted, value)
        {
            found.push((from + 1, to - 1));
        }
        at = next;
    }
    found
}

/// The index of the password column in the list before `VALUES`.
fn password_column(text: &[u8], start: usize) -> Option<usize> {
    let before = text[..start].trim_ascii_end();
    let list = before.strip_suffix(b")")?;
    let len = bytes::run_back(list, list.len(), LIST, |b| b != b'(');
    let columns = &list[list.len() - len..];
    columns.split(|b| *b == b',').position(|name| {
        let quote = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'`' | b'[' | b']');
        let from = name.iter().take_while(|b| quote(b)).count();
        let name = &name[from..];
        let to = name.iter().rposition(|b| !quote(b)).map_or(0, |at| at + 1);
        keys::classify(&name[..to]) == Some(Key::Password)
    })
}

/// The fields of the row that starts at `at`, and the end of the row.
fn row(text: &[u8], at: usize) -> (Vec<(usize, usize)>, usize) {
    let stop = text.len().min(at + LIST);
    let mut fields = Vec::new();
    let mut quote = None;
    let mut from = at;
    let mut depth = 0;
    for i in at..stop {
        let b = text[i];
        match quote {
            Some(open) if b == open => quote = None,
            Some(_) => {}
            None if matches!(b, b'\'' | b'"') => quote = Some(b),
            None if b == b'(' => depth += 1,
            None if b == b')' && depth > 0 => depth -= 1,
            None if matches!(b, b',' | b')') && depth == 0 => {
                let space = bytes::run(text, from, i - from, |b| b.is_ascii_whitespace());
                let trailing = bytes::run_back(text, i, i - from, |b| b.is_ascii_whitespace());
                fields.push((from + space, (i - trailing).max(from + space)));
                from = i + 1;
                if b == b')' {
                    return (fields, i + 1);
                }
            }
            None => {}
        }
    }
    (fields, stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let start = text.to_ascii_lowercase().find("values").unwrap();
        let secrets = secrets(text.as_bytes(), start, start + 6);
        secrets.into_iter().map(|(from, to)| &text[from..to]).collect()
    }

    #[test]
    fn reads_the_password_of_every_row() {
        let sql = "INSERT INTO users (name, `password`, age) VALUES\n ('ann', 'sesame', 3),\n ('bob', \"tiger1\", 4);";
        assert_eq!(found(sql), ["sesame", "tiger1"]);
        assert_eq!(found("insert into u(password) values ('sesame')"), ["sesame"]);
    }

    #[test]
    fn commas_in_quotes_and_calls_separate_nothing() {
        let sql = "INSERT INTO u (name, at, password) VALUES ('a, b', now(1, 2), 'sesame')";
        assert_eq!(found(sql), ["sesame"]);
    }

    #[test]
    fn other_columns_and_values_are_left_alone() {
        for sql in [
            "INSERT INTO u (name, age) VALUES ('sesame', 'tiger1')",
            "INSERT INTO u (password) VALUES (hash('x'))",
            "INSERT INTO u (password) VALUES ($1)",
            "INSERT INTO u VALUES ('sesame')",
            "INSERT INTO u (name, password) VALUES ('ann')",
        ] {
            assert_eq!(found(sql), [""; 0], "{sql}");
        }
    }
}
