//! The paths, symbols and commits that a text names, found by their form alone.

use std::path::{Path, PathBuf};

/// The most of either that a note keeps.
const MOST: usize = 32;

/// The longest path or symbol.
const MAX_CHARS: usize = 200;

/// Extensions by which a bare name is a file.
const EXTENSIONS: &[&str] = &[
    "adoc",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "css",
    "csv",
    "dart",
    "dockerfile",
    "env",
    "erl",
    "ex",
    "exs",
    "fs",
    "go",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "hcl",
    "hpp",
    "hs",
    "html",
    "ini",
    "ipynb",
    "java",
    "jl",
    "js",
    "json",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "lock",
    "lua",
    "md",
    "mdx",
    "mjs",
    "ml",
    "mod",
    "nix",
    "php",
    "pl",
    "plist",
    "prisma",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "rst",
    "sass",
    "scala",
    "scss",
    "sh",
    "sql",
    "sum",
    "svelte",
    "svg",
    "swift",
    "tf",
    "toml",
    "ts",
    "tsx",
    "txt",
    "vue",
    "xml",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

/// What a text names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mentions {
    pub(crate) paths: Vec<String>,
    pub(crate) symbols: Vec<String>,
    /// The first digits of their ids, or all of them.
    pub(crate) commits: Vec<String>,
    /// What is a path only if there is such a file: `and/or`, `bin/run`, `.editorconfig`.
    pub(crate) possible_paths: Vec<String>,
}

/// The paths, relative to the project, the symbols and the commits in a text, each in the order in which they appear. `checkouts`
/// are folders whose absolute paths become relative; other absolute paths are left out.
pub(crate) fn mentions(text: &str, checkouts: &[PathBuf]) -> Mentions {
    let mut found = Mentions::default();
    for (at, part) in text.split('`').enumerate() {
        // Odd parts stand between backticks; fences have three and toggle the same way.
        let quoted = at % 2 == 1 && !part.contains('\n');
        for word in part.split(separates) {
            // `f()` loses its parentheses above, so what follows the word says whether it was called.
            let after = word_end(part, word);
            see(word, quoted, after.starts_with('('), checkouts, &mut found);
        }
    }
    found
}

/// Characters that end a word.
fn separates(c: char) -> bool {
    const QUOTES: [char; 4] = ['“', '”', '‘', '’'];
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => SEPARATORS[usize::from(byte)],
        Ok(_) | Err(_) => c.is_whitespace() || QUOTES.contains(&c),
    }
}

/// The ASCII characters among them. Every text of a brief is split here, so this is a table.
const SEPARATORS: [bool; 128] = {
    let list = b" \t\n\r\x0b\x0c\"'()[]{}<>,;|=*";
    let mut table = [false; 128];
    let mut at = 0;
    while at < list.len() {
        table[list[at] as usize] = true;
        at += 1;
    }
    table
};

/// What stands behind a word in the text that it is a part of.
fn word_end<'t>(text: &'t str, word: &str) -> &'t str {
    let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
    &text[end..]
}

fn see(word: &str, quoted: bool, called: bool, checkouts: &[PathBuf], found: &mut Mentions) {
    let word = word.trim_end_matches(['.', ':', '!', '?', '…']).trim_start_matches('@');
    if word.len() < 3 || word.len() > MAX_CHARS || !(quoted || called || may_name(word)) {
        return;
    }
    if word.contains("://") {
        return;
    }
    if is_commit(word) {
        add(&mut found.commits, word.to_owned());
    } else if let Some(path) = path(word, checkouts) {
        add(&mut found.paths, path);
    } else if is_symbol(word, quoted || called) {
        add(&mut found.symbols, word.to_owned());
    } else if let Some(path) = possible_path(word) {
        add(&mut found.possible_paths, path.to_owned());
    }
}

/// Whether an unmarked word could be a name at all. Most are letters only, and every text of a brief is full of them.
fn may_name(word: &str) -> bool {
    let (mut before, mut hex, mut digits) = (b' ', true, false);
    for &byte in word.as_bytes() {
        match byte {
            b'a'..=b'f' => {}
            b'0'..=b'9' => digits = true,
            b'g'..=b'z' | b'-' => hex = false,
            b'A'..=b'Z' if !before.is_ascii_lowercase() => hex = false,
            _ => return true,
        }
        before = byte;
    }
    hex && digits
}

fn add(list: &mut Vec<String>, item: String) {
    if list.len() < MOST && !list.contains(&item) {
        list.push(item);
    }
}

fn path(word: &str, checkouts: &[PathBuf]) -> Option<String> {
    // `src/db.rs:12:4` names a line.
    let word = word.split(':').next().unwrap_or(word);
    let word = word.strip_prefix("./").unwrap_or(word);
    let last = word.trim_end_matches('/').rsplit('/').next()?;
    let plain = |c: char| c.is_alphanumeric() || "._-+@/".contains(c);
    if !word.chars().all(plain) || word.contains("//") || word.split('/').any(|part| part == "..") {
        return None;
    }
    let stem_and_extension = last.rsplit_once('.');
    let known = stem_and_extension.is_some_and(|(stem, extension)| {
        let extension = extension.to_ascii_lowercase();
        !stem.is_empty() && EXTENSIONS.binary_search(&extension.as_str()).is_ok()
    });
    if Path::new(word).is_absolute() {
        let inside = checkouts.iter().find_map(|root| Path::new(word).strip_prefix(root).ok())?;
        return inside.to_str().filter(|inside| !inside.is_empty()).map(ToOwned::to_owned);
    }
    let folders = word.matches('/').count();
    let looks_like_one = match folders {
        0 => known && last.chars().any(char::is_alphabetic),
        // `and/or` is not a path; `src/auth/` and `src/auth/token` are.
        1 => known || word.ends_with('/'),
        _ => word.chars().any(char::is_alphabetic) && !last.is_empty() || known,
    };
    let is_number = word.chars().all(|c| c.is_numeric() || "./-".contains(c));
    (looks_like_one && !is_number).then(|| word.to_owned())
}

/// A word that could be the path of a file with an unusual name.
fn possible_path(word: &str) -> Option<&str> {
    let word = word.split(':').next().unwrap_or(word);
    let word = word.strip_prefix("./").unwrap_or(word);
    let plain = |c: char| c.is_alphanumeric() || "._-+@/".contains(c);
    let parts = || word.split('/');
    let has_form = word.contains('/') || word.contains('.');
    let usual = parts().all(|part| !part.is_empty() && part != "..") && word.chars().all(plain);
    (has_form && usual && word.chars().any(char::is_alphabetic)).then_some(word)
}

/// Whether a word has the form of a commit's id: `deadbeef` is a word, `1234567` a number.
fn is_commit(word: &str) -> bool {
    let hex = (7..=40).contains(&word.len())
        && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let has = |kind: fn(&u8) -> bool| word.as_bytes().iter().any(kind);
    hex && has(u8::is_ascii_digit) && (word.len() == 40 || has(u8::is_ascii_alphabetic))
}

/// Whether a word has the form of an identifier; between backticks and before parentheses plain words have it too.
fn is_symbol(word: &str, marked: bool) -> bool {
    let parts = || word.split("::").flat_map(|part| part.split(['.', '#']));
    let identifier = |part: &str| {
        part.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
    };
    if word.starts_with("--") || !parts().all(identifier) {
        return false;
    }
    let letters = word.chars().any(char::is_alphabetic);
    let snake = word.trim_matches('_').contains('_');
    let humps = || {
        let mut before = ' ';
        word.chars().any(|c| {
            let hump = before.is_lowercase() && c.is_uppercase();
            before = c;
            hump
        })
    };
    letters && (marked || snake || word.contains("::") || humps())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (Vec<String>, Vec<String>) {
        let found = mentions(text, &[PathBuf::from("/home/me/project")]);
        (found.paths, found.symbols)
    }

    #[test]
    fn extensions_are_sorted() {
        assert!(EXTENSIONS.is_sorted());
    }

    #[test]
    fn paths_are_known_by_their_form() {
        let text = "See src/auth/token.rs:12, ./docs/a.md, `config.toml` and /home/me/project/src/x.rs; \
                    not /etc/passwd, and/or, https://a.b/c/d.html, 1.2, 24/7, ../up.rs, e.g. or v1.2.3.";
        assert_eq!(of(text).0, ["src/auth/token.rs", "docs/a.md", "config.toml", "src/x.rs"]);
        assert_eq!(of("everything below src/store/ and a/b/c").0, ["src/store/", "a/b/c"]);
    }

    #[test]
    fn symbols_are_known_by_form_or_marks() {
        let text = "`rotate` calls refresh_token() and Store::open, never parseHTML or MAX_SIZE; \
                    call begin() too. Plain Words, GitHub";
        assert_eq!(
            of(text).1,
            ["rotate", "refresh_token", "Store::open", "parseHTML", "MAX_SIZE", "begin", "GitHub"]
        );
    }

    #[test]
    fn commits_are_known_by_their_digits() {
        let text = "Since 1a2b3c4 and `0123456789abcdef0123456789abcdef01234567`, not deadbeef, 1234567 or 1a2b.";
        let found = mentions(text, &[]);
        assert_eq!(found.commits, ["1a2b3c4", "0123456789abcdef0123456789abcdef01234567"]);
        assert_eq!(found.symbols, [""; 0]);
    }

    #[test]
    fn unusual_names_may_be_paths() {
        let found =
            mentions("Run bin/run:3 and/or .gitmodules, docs/a.1; not 24/7, a//b or ../x.", &[]);
        assert_eq!(found.possible_paths, ["bin/run", "and/or", ".gitmodules", "docs/a.1"]);
        assert_eq!(found.paths, [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn no_name_is_overlooked(word in "[a-fA-Z0-9g._:/@$#é-]{3,12}") {
            let named = is_commit(&word)
                || path(&word, &[]).is_some()
                || is_symbol(&word, false)
                || possible_path(&word).is_some();
            proptest::prop_assert!(!named || may_name(&word));
        }

        #[test]
        fn any_text_is_survived(text in "\\PC*") {
            mentions(&text, &[]);
        }
    }
}
