//! Which tests of a file a commit changed: those around its lines, or those that use what its lines declare.

use super::judges::{Ecosystem, TestFile};

/// How far helpers of helpers are followed.
const MOST_ROUNDS: usize = 3;

/// The names of the tests that a commit added or changed, as their runner calls them. A line outside of all tests, such
/// as one of a table or of a helper, stands for the tests that use what it belongs to.
pub fn changed_tests(ecosystem: Ecosystem, file: &TestFile) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut names = Vec::new();
    let mut todo: Vec<usize> = file.changed.iter().flat_map(Clone::clone).collect();
    todo.retain(|line| *line > 0 && *line <= lines.len() && !lines[*line - 1].trim().is_empty());
    let mut followed: Vec<String> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let from = followed.len();
        for line in std::mem::take(&mut todo) {
            match test_at(ecosystem, &lines, line - 1) {
                Some(name) if !names.contains(&name) => names.push(name),
                Some(_) => {}
                None => {
                    let declared = declared_at(ecosystem, &lines, line - 1);
                    followed.extend(declared.filter(|name| !followed.contains(name)));
                }
            }
        }
        for name in &followed[from..] {
            let uses = lines.iter().enumerate().filter(|(_, line)| has_word(line, name));
            todo.extend(uses.map(|(at, _)| at + 1));
        }
    }
    names
}

/// The names of all tests of a file.
pub(super) fn all_tests(ecosystem: Ecosystem, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut names: Vec<String> =
        (0..lines.len()).filter_map(|at| test_at(ecosystem, &lines, at)).collect();
    names.dedup();
    names
}

fn test_at(ecosystem: Ecosystem, lines: &[&str], at: usize) -> Option<String> {
    match ecosystem {
        Ecosystem::Python => python_test(lines, at),
        Ecosystem::Rust => rust_test(lines, at),
        Ecosystem::Go => go_test(lines, at),
        Ecosystem::JavaScript => None,
    }
}

/// What the declaration around a line is called, if it is one of the whole file.
fn declared_at(ecosystem: Ecosystem, lines: &[&str], at: usize) -> Option<String> {
    let is_inner =
        |line: &str| line.is_empty() || line.starts_with([' ', '\t', '}', ')', ']', '#', '@', '/']);
    let line = lines[..=at].iter().rev().find(|line| !is_inner(line))?;
    let starts: &[&str] = match ecosystem {
        Ecosystem::Python => &["def ", "async def ", "class ", ""],
        Ecosystem::Go => &["func ", "var ", "const ", "type "],
        Ecosystem::Rust => &["fn ", "const ", "static ", "struct ", "macro_rules! "],
        Ecosystem::JavaScript => return None,
    };
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let mut rest = starts.iter().find_map(|start| line.strip_prefix(start))?.trim_start();
    // `func (r Receiver) Name()`
    if ecosystem == Ecosystem::Go && rest.starts_with('(') {
        rest = rest.split_once(')')?.1.trim_start();
    }
    let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    // Without a word in front, only an assignment declares something.
    let is_plain = ecosystem == Ecosystem::Python && line.len() == rest.len();
    if is_plain && !after.trim_start().starts_with(['=', ':']) {
        return None;
    }
    (name.len() > 1).then(|| name.to_owned())
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_of_word) && !line[at + word.len()..].starts_with(is_of_word)
    })
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The test around a line: the nearest `def test_` above that is indented less, or the line itself, with its class.
fn python_test(lines: &[&str], at: usize) -> Option<String> {
    let mut at = at;
    // Decorators belong to what follows.
    while lines.get(at).is_some_and(|line| line.trim_start().starts_with('@')) {
        at += 1;
    }
    let mut depth = indentation(lines.get(at)?);
    let def = |line: &str| {
        let line = line.trim_start();
        let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ")?;
        Some(name.split(['(', ' ']).next().unwrap_or_default().to_owned())
    };
    let mut found = def(lines[at]);
    for line in lines[..at].iter().rev().filter(|line| !line.trim().is_empty()) {
        if indentation(line) >= depth {
            continue;
        }
        depth = indentation(line);
        if let Some(outer) = def(line) {
            found = Some(outer);
        }
        if let (Some(name), Some(class)) = (&found, line.trim_start().strip_prefix("class ")) {
            let class = class.split(['(', ':']).next().unwrap_or_default().trim();
            return name.starts_with("test").then(|| format!("{class}::{name}"));
        }
    }
    found.filter(|name| name.starts_with("test"))
}

/// The test around a line: the nearest `fn` above, or one just below its attributes, with a test attribute.
fn rust_test(lines: &[&str], at: usize) -> Option<String> {
    let name = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix("pub ").unwrap_or(line);
        let line = line.strip_prefix("async ").unwrap_or(line);
        let name = line.strip_prefix("fn ")?.split(['(', '<']).next()?.trim();
        Some(name.to_owned())
    };
    let mut at = at;
    while lines.get(at).is_some_and(|line| line.trim_start().starts_with("#[")) {
        at += 1;
    }
    let (at, name) = (0..=at).rev().find_map(|at| Some((at, name(lines.get(at)?)?)))?;
    let mut above = lines[..at].iter().rev().map(|line| line.trim());
    let attributes =
        above.by_ref().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let mut attributes = attributes.filter(|line| line.starts_with("#["));
    attributes
        .any(|line| line.contains("test]") || line.contains("test(") || line.contains("rstest"))
        .then_some(name)
}

fn go_test(lines: &[&str], at: usize) -> Option<String> {
    let line = lines[..=at].iter().rev().find(|line| line.starts_with("func "))?;
    let name = line.strip_prefix("func ")?.split('(').next()?.trim();
    name.starts_with("Test").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::judges::tests::file;
    use super::*;

    #[test]
    fn finds_the_changed_tests_of_python() {
        let text = "import a\n\ndef helper():\n    pass\n\n@mark\ndef test_one():\n    x = 1\n    for i in x:\n        assert i\n\n\
                    class TestMany:\n    def test_two(self):\n        assert 1\n\n    def helper(self):\n        pass\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Python, &file("t.py", text, lines));
        assert_eq!(found(&[10]), ["test_one"]);
        assert_eq!(found(&[6, 7, 8]), ["test_one"]);
        assert_eq!(found(&[14]), ["TestMany::test_two"]);
        assert!(found(&[1, 4, 17, 99]).is_empty());
    }

    #[test]
    fn finds_the_changed_tests_of_rust_and_go() {
        let text = "fn helper() {\n    x();\n}\n\n#[test]\nfn one() {\n    assert!(true);\n}\n\n#[tokio::test]\nasync fn two() {\n    y();\n}\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Rust, &file("t.rs", text, lines));
        assert_eq!(found(&[7]), ["one"]);
        assert_eq!(found(&[5, 12]), ["one", "two"]);
        assert!(found(&[2]).is_empty());
        let text =
            "package a\n\nfunc TestOne(t *testing.T) {\n\tx()\n}\n\nfunc help() {\n\ty()\n}\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Go, &file("a_test.go", text, lines));
        assert_eq!(found(&[3, 4]), ["TestOne"]);
        assert!(found(&[8]).is_empty());
    }

    #[test]
    fn a_table_stands_for_the_tests_that_use_it() {
        let text = "package a\n\nvar cases = []string{\n\t\"x\",\n}\n\nfunc check(t *testing.T) {\n\tfor range cases {\n\t}\n}\n\n\
                    func TestOne(t *testing.T) {\n\tcheck(t)\n}\n\nfunc TestTwo(t *testing.T) {\n\tchecked(t)\n}\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Go, &file("a_test.go", text, lines));
        assert_eq!(found(&[4]), ["TestOne"]);
        assert_eq!(found(&[8]), ["TestOne"]);
        assert_eq!(all_tests(Ecosystem::Go, text), ["TestOne", "TestTwo"]);
        let text = "import a\n\nCASES = [\n    1,\n]\n\n@mark(CASES)\ndef test_one(case):\n    assert case\n";
        let found = |lines: &[usize]| changed_tests(Ecosystem::Python, &file("t.py", text, lines));
        assert_eq!(found(&[4]), ["test_one"]);
        assert!(found(&[1]).is_empty());
    }
}
