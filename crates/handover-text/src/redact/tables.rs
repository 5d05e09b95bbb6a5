//! Tables with a password column (CSV, tabs, Markdown), and lists of passwords.

use super::allowlist;
use super::bytes::{self, ALNUM};
use super::keys::{self, Key};
use super::usernames;
use super::values::{self, Form};

/// The most bytes of a line that are read.
const LINE: usize = 400;
/// The most rows that are read.
const ROWS: usize = 256;
/// The most bytes of a list that are read.
const LIST: usize = 600;
/// The most columns a table may have.
const COLUMNS: usize = 32;

/// Columns that usually accompany passwords.
const BESIDE: [&str; 9] =
    ["name", "account", "host", "server", "site", "url", "service", "role", "id"];

/// The passwords of a table or list, and where it ends.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) secrets: Vec<(usize, usize)>,
    pub(super) end: usize,
}

/// The passwords in the list named `start..end`, or in the rows below this column heading. Tables
/// before `read` are skipped: they have been read.
pub(super) fn secrets(text: &[u8], start: usize, end: usize, read: usize) -> Option<Found> {
    if start < read {
        return None;
    }
    if matches!(text[end - 1], b's' | b'S') {
        return list(text, start, end);
    }
    let after = end + bytes::run(text, end, 8, |b| matches!(b, b'"' | b' ' | b'*' | b'`'));
    let cell_ends = matches!(text.get(after), Some(b',' | b';' | b'\t' | b'|' | b'\n' | b'\r'));
    let name = &text[start..end];
    if !cell_ends || !keys::may_end(name) || keys::classify(name) != Some(Key::Password) {
        return None;
    }
    rows(text, start)
}

fn rows(text: &[u8], start: usize) -> Option<Found> {
    let line = bytes::line_start(text, start, LINE);
    let stop = start + bytes::run(text, start, LINE, |b| b != b'\n');
    let delimiter = *b"|\t;,".iter().find(|delimiter| text[line..stop].contains(delimiter))?;
    let head = cells(text, line, stop, delimiter);
    let column = head.iter().position(|cell| (cell.0..cell.1).contains(&start))?;
    let is_heading = |cell: &(usize, usize)| {
        let plain = |b: &u8| bytes::is(*b, ALNUM) || matches!(b, b' ' | b'_' | b'-');
        cell.1 - cell.0 <= 40 && text[cell.0..cell.1].iter().all(plain)
    };
    let is_beside = |cell: &(usize, usize)| {
        let name = &text[cell.0..cell.1];
        usernames::is_name(name) || BESIDE.iter().any(|w| name.eq_ignore_ascii_case(w.as_bytes()))
    };
    let table = (2..=COLUMNS).contains(&head.len())
        && head[column].0 == start
        && head.iter().all(is_heading)
        && head.iter().any(is_beside);
    table.then_some(())?;
    let mut secrets = Vec::new();
    let mut at = stop + 1;
    for _ in 0..ROWS {
        let stop = at + bytes::run(text, at, LINE, |b| b != b'\n');
        let row = cells(text, at, stop.min(text.len()), delimiter);
        if row.len() != head.len() {
            break;
        }
        let (from, to) = row[column];
        let value = &text[from..to];
        let looks = values::is_secret(Key::Password, Form::Loose, value);
        if looks && !allowlist::version(value) {
            secrets.push((from, to));
        }
        at = stop + 1;
    }
    Some(Found { secrets, end: at })
}

/// The passwords of a list: `passwords = ["…", "…"]`, `{"ann": "…"}`.
fn list(text: &[u8], start: usize, end: usize) -> Option<Found> {
    let key = plural(&text[start..end])?;
    let open = end + bytes::run(text, end, 8, |b| matches!(b, b' ' | b'=' | b':' | b'"' | b'\''));
    let close = match text.get(open)? {
        b'[' => b']',
        b'{' => b'}',
        _ => return None,
    };
    text[end..open].iter().any(|b| matches!(b, b'=' | b':')).then_some(())?;
    let stop = open + bytes::run(text, open, LIST, |b| b != close);
    let mut secrets = Vec::new();
    let mut at = open;
    while let Some(open) = text.get(at..stop)?.iter().position(|b| matches!(b, b'"' | b'\'')) {
        let from = at + open + 1;
        let to = from + bytes::run(text, from, LIST, |b| b != text[from - 1] && b != b'\n');
        let name = text.get(to + 1) == Some(&b':');
        let form = if key == Key::Password { Form::Loose } else { Form::Quoted };
        if !name && values::is_secret(key, form, &text[from..to]) {
            secrets.push((from, to));
        }
        at = (to + 1).min(stop);
    }
    Some(Found { secrets, end: stop })
}

/// What a list of this name contains.
fn plural(name: &[u8]) -> Option<Key> {
    let ends = |word: &[u8]| {
        name.len().checked_sub(word.len()).is_some_and(|at| name[at..].eq_ignore_ascii_case(word))
    };
    match () {
        () if ends(b"passwords") => Some(Key::Password),
        // Single values must look random.
        () if ends(b"tokens") || ends(b"apikeys") || ends(b"api_keys") => Some(Key::Weak),
        () => None,
    }
}

/// The cells of a line, without surrounding spaces and quotes.
fn cells(text: &[u8], from: usize, to: usize, delimiter: u8) -> Vec<(usize, usize)> {
    let Some(line) = text.get(from..to) else {
        return Vec::new();
    };
    let blank = |b: u8| matches!(b, b' ' | b'\t' | b'\r');
    let mut cells = Vec::new();
    let mut at = from;
    for cell in line.split(|b| *b == delimiter).take(COLUMNS + 2) {
        let end = at + cell.len();
        let start = at + bytes::run(text, at, cell.len(), blank);
        let stop = end - bytes::run_back(text, end, end - start, blank);
        cells.push(match &text[start..stop] {
            [b'"', .., b'"'] | [b'`', .., b'`'] if stop - start >= 2 => (start + 1, stop - 1),
            _ => (start, stop),
        });
        at = end + 1;
    }
    // `| a | b |`: the outer cells are empty.
    if delimiter == b'|' {
        cells.pop_if(|cell| cell.0 == cell.1);
        if cells.first().is_some_and(|cell| cell.0 == cell.1) {
            cells.remove(0);
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str, delimiter: u8) -> Vec<&str> {
        let cells = cells(line.as_bytes(), 0, line.len(), delimiter);
        cells.into_iter().map(|(from, to)| &line[from..to]).collect()
    }

    fn found(text: &str, heading: &str) -> Option<Vec<String>> {
        let start = text.find(heading)?;
        let found = secrets(text.as_bytes(), start, start + heading.len(), 0)?;
        Some(found.secrets.iter().map(|(from, to)| text[*from..*to].to_owned()).collect())
    }

    #[test]
    fn cells_lose_spaces_and_quotes() {
        assert_eq!(split("a, \"b c\" ,`d`", b','), ["a", "b c", "d"]);
        assert_eq!(split("| a | b |", b'|'), ["a", "b"]);
        assert_eq!(split("a |  | c", b'|'), ["a", "", "c"]);
        assert_eq!(split("\"", b','), ["\""]);
    }

    #[test]
    fn reads_the_password_column() {
        let csv = "name,password,host\nann,dagger8382,h\nbob,Vokb54#2C4f,h\n";
        assert_eq!(found(csv, "password").unwrap(), ["dagger8382", "Vokb54#2C4f"]);
        let markdown = "| user | password |\n|---|---|\n| ann | dagger8382 |\n\ntext";
        assert_eq!(found(markdown, "password").unwrap(), ["dagger8382"]);
    }

    #[test]
    fn stops_at_the_first_other_row() {
        let csv = "name,password\nann,dagger8382\nend\nbob,Vokb54#2C4f\n";
        assert_eq!(found(csv, "password").unwrap(), ["dagger8382"]);
        let start = csv.find("password").unwrap();
        assert!(secrets(csv.as_bytes(), start, start + 8, start + 1).is_none());
    }

    #[test]
    fn other_headings_are_no_tables() {
        for text in [
            "colour,password\nred,dagger8382\n",
            "password\ndagger8382\n",
            "name,password; more\nann,dagger8382\n",
            "name,f(x),password\nann,1,dagger8382\n",
        ] {
            assert_eq!(found(text, "password"), None, "{text}");
        }
    }

    #[test]
    fn reads_lists_of_passwords() {
        let list = "passwords = [\"dagger8382\", 'Vokb54#2C4f', \"word\"]";
        assert_eq!(found(list, "passwords").unwrap(), ["dagger8382", "Vokb54#2C4f"]);
        let map = "passwords: {\"ann1234\": \"dagger8382\"}";
        assert_eq!(found(map, "passwords").unwrap(), ["dagger8382"]);
        assert_eq!(found("passwords [\"dagger8382\"]", "passwords"), None);
    }
}
