//! The names that a file defines, found line by line: no parser, so that any language costs a table and a
//! damaged file costs nothing. What a line-based rule cannot see is still found by its words.

/// At most so many names of a file are kept.
const MAX_SYMBOLS: usize = 400;
const MAX_LINE: usize = 400;
const MAX_NAME: usize = 80;

/// How a language says that something is defined.
struct Rules {
    /// Words before a name: `fn`, `class`.
    keywords: &'static [&'static str],
    /// Words before a keyword.
    modifiers: &'static [&'static str],
    shape: Shape,
}

/// Definitions without a keyword.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    None,
    /// `NAME = …` at the start of a line.
    Assignment,
    /// `name(…) {` after types and modifiers.
    Typed,
    /// `type name(…)` at the start of a line, `#define NAME`.
    C,
    /// `exports.name =`, `Type.prototype.name =`, `name(…) {`.
    Script,
    /// `name() {` at the start of a line.
    Shell,
    /// `func (receiver) name(`.
    Go,
}

const RUST: Rules = Rules {
    keywords: &[
        "fn",
        "struct",
        "enum",
        "trait",
        "type",
        "mod",
        "const",
        "static",
        "union",
        "macro_rules!",
    ],
    modifiers: &["pub", "async", "unsafe", "const", "extern", "default"],
    shape: Shape::None,
};
const PYTHON: Rules =
    Rules { keywords: &["def", "class"], modifiers: &["async"], shape: Shape::Assignment };
const RUBY: Rules = Rules {
    keywords: &["def", "class", "module", "attr_accessor", "attr_reader", "scope", "task"],
    modifiers: &["private", "protected", "public"],
    shape: Shape::Assignment,
};
const SCRIPT: Rules = Rules {
    keywords: &[
        "function",
        "function*",
        "class",
        "interface",
        "type",
        "enum",
        "const",
        "let",
        "var",
        "namespace",
    ],
    modifiers: &[
        "export",
        "default",
        "async",
        "declare",
        "abstract",
        "public",
        "private",
        "protected",
        "static",
        "readonly",
    ],
    shape: Shape::Script,
};
const GO: Rules =
    Rules { keywords: &["func", "type", "const", "var"], modifiers: &[], shape: Shape::Go };
const TYPED: Rules = Rules {
    keywords: &[
        "class",
        "interface",
        "enum",
        "record",
        "struct",
        "@interface",
        "trait",
        "object",
        "protocol",
        "extension",
        "fun",
        "func",
        "def",
        "namespace",
        "typealias",
        "function",
        "type",
        "mixin",
        "actor",
    ],
    modifiers: &[
        "public",
        "private",
        "protected",
        "internal",
        "abstract",
        "final",
        "static",
        "sealed",
        "data",
        "open",
        "override",
        "suspend",
        "inline",
        "case",
        "implicit",
        "async",
        "partial",
        "virtual",
        "readonly",
        "fileprivate",
        "mutating",
        "strictfp",
        "synchronized",
        "default",
        "lazy",
        "const",
        "external",
    ],
    shape: Shape::Typed,
};
const C: Rules = Rules {
    keywords: &["struct", "enum", "union", "class", "namespace", "typedef", "concept"],
    modifiers: &["typedef", "static", "inline", "extern", "template"],
    shape: Shape::C,
};
const SHELL: Rules = Rules { keywords: &["function"], modifiers: &[], shape: Shape::Shell };
const ELIXIR: Rules = Rules {
    keywords: &["def", "defp", "defmodule", "defmacro", "defmacrop", "defprotocol", "defimpl"],
    modifiers: &[],
    shape: Shape::None,
};
const LUA: Rules = Rules { keywords: &["function"], modifiers: &["local"], shape: Shape::None };
const OTHER: Rules = Rules {
    keywords: &[
        "data", "newtype", "class", "module", "let", "type", "val", "defn", "defun", "sub",
        "package", "proc",
    ],
    modifiers: &["rec"],
    shape: Shape::None,
};

fn rules(end: &str) -> Option<&'static Rules> {
    Some(match end {
        "rs" => &RUST,
        "py" | "pyi" | "pyx" => &PYTHON,
        "rb" | "rake" | "gemspec" | "cr" => &RUBY,
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => &SCRIPT,
        "go" => &GO,
        "java" | "kt" | "kts" | "cs" | "scala" | "swift" | "dart" | "php" | "groovy" => &TYPED,
        "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" => &C,
        "sh" | "bash" | "zsh" => &SHELL,
        "ex" | "exs" => &ELIXIR,
        "lua" => &LUA,
        "hs" | "ml" | "mli" | "fs" | "clj" | "el" | "lisp" | "pl" | "pm" | "tcl" => &OTHER,
        _ => return None,
    })
}

/// The names that a file defines, each once, in the order of the file. `end` is that of its name.
pub(super) fn symbols<'a>(end: &str, text: &'a str) -> Vec<&'a str> {
    let Some(rules) = rules(end) else { return Vec::new() };
    let mut found: Vec<&str> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for line in text.lines().filter(|line| line.len() <= MAX_LINE) {
        if let Some(name) = definition(rules, line)
            && (2..=MAX_NAME).contains(&name.len())
            && seen.insert(name)
        {
            found.push(name);
            if found.len() == MAX_SYMBOLS {
                break;
            }
        }
    }
    found
}

fn definition<'a>(rules: &Rules, line: &'a str) -> Option<&'a str> {
    let trimmed = line.trim_start();
    if ["//", "*", "--", ";"].iter().any(|comment| trimmed.starts_with(comment)) {
        return None;
    }
    keyword(rules, trimmed).or_else(|| shape(rules, line, trimmed))
}

/// The name after a keyword that only modifiers stand before.
fn keyword<'a>(rules: &Rules, line: &'a str) -> Option<&'a str> {
    let mut rest = line;
    loop {
        let (word, after) = rest.split_once([' ', '\t'])?;
        let after = after.trim_start();
        // `pub(crate)`, `template<…>`
        let plain = word.split_once(['(', '<']).map_or(word, |(plain, _)| plain);
        if rules.keywords.contains(&word) {
            // `const fn`, `static async def`: the next word may be the keyword.
            if rules.modifiers.contains(&word)
                && let Some(name) = keyword(rules, after)
            {
                return Some(name);
            }
            return name_after(rules, word, after);
        }
        if !rules.modifiers.contains(&plain) && !word.starts_with('"') {
            return None;
        }
        rest = after;
    }
}

fn name_after<'a>(rules: &Rules, keyword: &str, after: &'a str) -> Option<&'a str> {
    let after = match rules.shape {
        // A receiver.
        Shape::Go if after.starts_with('(') => after.split_once(')')?.1.trim_start(),
        // `class self.name`, `attr_reader :name`
        Shape::Assignment => {
            after.strip_prefix("self.").or_else(|| after.strip_prefix(':')).unwrap_or(after)
        }
        Shape::C if matches!(keyword, "struct" | "enum" | "union") => {
            // A variable or a parameter of that type defines nothing.
            let name = identifier(after)?;
            let rest = after[name.len()..].trim_start();
            return (rest.is_empty() || rest.starts_with(['{', ':'])).then_some(name);
        }
        Shape::None | Shape::Typed | Shape::C | Shape::Script | Shape::Shell | Shape::Go => after,
    };
    let name = last_part(after)?;
    // Only what is assigned a function, a class or a constant of the module is worth a name.
    if rules.shape == Shape::Script && matches!(keyword, "const" | "let" | "var") {
        let value = after.split_once('=').map(|(_, value)| value.trim_start())?;
        let function =
            value.contains("=>") || value.starts_with("function") || value.starts_with("async ");
        let constant = name.bytes().all(|byte| !byte.is_ascii_lowercase());
        return (function || constant || value.starts_with("class")).then_some(name);
    }
    Some(name)
}

fn shape<'a>(rules: &Rules, line: &'a str, trimmed: &'a str) -> Option<&'a str> {
    let at_start = line.len() == trimmed.len();
    match rules.shape {
        Shape::None | Shape::Go => None,
        Shape::Assignment => {
            let name = at_start.then(|| identifier(trimmed))??;
            let rest = trimmed[name.len()..].trim_start();
            let assigned =
                rest.starts_with('=') && !rest.starts_with("==") || rest.starts_with(": ");
            (assigned && !name.bytes().any(|byte| byte.is_ascii_lowercase())).then_some(name)
        }
        Shape::Shell => {
            let name = at_start.then(|| identifier(trimmed))??;
            trimmed[name.len()..].trim_start().starts_with("()").then_some(name)
        }
        Shape::C => {
            if let Some(rest) = trimmed.strip_prefix("#define ") {
                return identifier(rest.trim_start());
            }
            if !at_start || trimmed.ends_with(';') {
                return None;
            }
            called(trimmed, true)
        }
        Shape::Typed => {
            if trimmed.ends_with(';') && !trimmed.contains("abstract") {
                return None;
            }
            called(trimmed, true)
        }
        Shape::Script => script(trimmed),
    }
}

/// `exports.name = `, `Type.prototype.name = function`, `name(…) {`
fn script(line: &str) -> Option<&str> {
    if let Some((left, right)) = line.split_once('=') {
        let left = left.trim();
        let right = right.trim_start();
        let function =
            right.starts_with("function") || right.contains("=>") || right.starts_with("async ");
        if (left.contains('.') && (function || left.starts_with("exports.")))
            && identifier(left).is_some()
        {
            let name = left.rsplit_once('.').map_or(left, |(_, name)| name);
            return (identifier(name)? == name).then_some(name);
        }
    }
    // A call that is passed an object ends like a method, but does not close its parenthesis.
    if line.ends_with('{') && line.contains(')') { called(line, false) } else { None }
}

/// The name before the first parenthesis of a line that looks like the head of a function. With `typed`, a type
/// stands before it.
fn called(line: &str, typed: bool) -> Option<&str> {
    let (head, _) = line.split_once('(')?;
    let head = head.trim_end();
    let start = head.rfind(|c: char| !is_name(c)).map_or(0, |at| at + 1);
    let (before, name) = (head.get(..start)?.trim_end(), identifier(head.get(start..)?)?);
    const NO_NAMES: &[&str] = &[
        "if", "for", "while", "switch", "catch", "return", "else", "new", "function", "sizeof",
        "throw", "await", "super", "this", "using", "lock", "foreach", "elseif", "assert", "match",
        "when", "with", "do",
    ];
    let words = before.split(|c: char| c.is_whitespace() || c == '}');
    if NO_NAMES.contains(&name) || words.clone().any(|word| NO_NAMES.contains(&word)) {
        return None;
    }
    // An expression, not the head of a function.
    if before.contains(['=', '"', '\'', '(', ';', '+', '|', '!', '?'])
        || before.ends_with(['.', ',', '&', '-', '/'])
    {
        return None;
    }
    let has_type = before.chars().any(is_name);
    (if typed {
        has_type
    } else {
        before
            .split_whitespace()
            .all(|word| SCRIPT.modifiers.contains(&word) || matches!(word, "get" | "set" | "*"))
    })
    .then_some(name)
}

/// `a::b::c`, `A.b`, `&c` → `c`; a qualified name is known by its last part.
fn last_part(text: &str) -> Option<&str> {
    let text = text.trim_start_matches(['*', '&', '\'', '$', '`']);
    let mut rest = text;
    let mut name = identifier(rest)?;
    loop {
        let after = &rest[name.len()..];
        let Some(next) = after.strip_prefix("::").or_else(|| after.strip_prefix('.')) else {
            break;
        };
        let Some(part) = identifier(next) else { break };
        (rest, name) = (next, part);
    }
    Some(name)
}

fn identifier(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    if !(first.is_alphabetic() || matches!(first, '_' | '$' | '@')) {
        return None;
    }
    let end =
        text.char_indices().skip(1).find(|(_, c)| !is_name(*c)).map_or(text.len(), |(at, _)| at);
    Some(&text[..end])
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(end: &str, text: &str, expected: &[&str]) {
        assert_eq!(symbols(end, text), expected, "{text}");
    }

    #[test]
    fn rust() {
        check(
            "rs",
            "pub(crate) async fn refresh_token(a: u8) {\nstruct Session<'a> {\n    pub const fn len(&self)\n\
             // fn not_this()\nconst MAX: u8 = 1;\nmacro_rules! vec_of {\nlet x = fn_call();\nunsafe extern \"C\" fn open_it() {\n\
             impl Display for Session {",
            &["refresh_token", "Session", "len", "MAX", "vec_of", "open_it"],
        );
    }

    #[test]
    fn python_and_ruby() {
        check(
            "py",
            "class Flask(Scaffold):\n    async def dispatch(self):\n    x = 1\nMAX_SIZE = 3\nname = 4\n_RE: str = 'x'\nif MAX == 3:",
            &["Flask", "dispatch", "MAX_SIZE", "_RE"],
        );
        check(
            "rb",
            "module Sinatra\n  class Base < Other\n    def self.call(env)\n    def fine?\n    attr_reader :app\n  VERSION = 3\nVERSION = 4",
            &["Sinatra", "Base", "call", "fine", "app", "VERSION"],
        );
    }

    #[test]
    fn scripts() {
        check(
            "ts",
            "export default class Router extends Base {\nexport const handle = async (req) => {\nconst limit = 3;\n\
             app.use = function use(fn) {\nRoute.prototype._handles = function (m) {\nexports.static = require('x');\n\
             interface Options {\n  private async send(body: string): void {\n  if (x) {\nfor (const a of b) {\n\
             export type Id = string;\nfoo(bar, {\n  render(view) {\nconst MAX_AGE = 3;",
            &[
                "Router", "handle", "use", "_handles", "static", "Options", "send", "Id", "render",
                "MAX_AGE",
            ],
        );
    }

    #[test]
    fn go_java_and_c() {
        check(
            "go",
            "func (c *Context) BindJSON(obj any) error {\nfunc New() *Engine {\ntype Engine struct {\nvar x = 1\n\tif err := f(); err != nil {",
            &["BindJSON", "New", "Engine"],
        );
        check(
            "java",
            "public class Assert {\n    static public void assertTrue(String m, boolean c) {\n        if (!c) {\n            fail(m);\n\
             \n    private static <T> List<T> make(T a) throws X {\n        return new Foo(a) {\n    public @interface Rule {",
            &["Assert", "assertTrue", "make", "Rule"],
        );
        check(
            "c",
            "static int dictResize(dict *d)\n{\nvoid other(int a);\n#define DICT_OK 0\nstruct dictEntry {\nstruct dict *d = f(x);\n    call(x)\n\
             typedef struct redisDb {\nint main(int c, char **v) {",
            &["dictResize", "DICT_OK", "dictEntry", "redisDb", "main"],
        );
    }

    #[test]
    fn shell_and_unknown_languages() {
        check("sh", "build() {\nfunction clean {\n  x() {", &["build", "clean"]);
        check("xyz", "fn main() {}", &[]);
    }

    #[test]
    fn the_number_of_names_is_limited() {
        let text: String = (0..1000).map(|n| format!("fn name_{n}() {{}}\n")).collect();
        assert_eq!(symbols("rs", &text).len(), MAX_SYMBOLS);
        assert_eq!(symbols("rs", &format!("fn {}() {{}}", "x".repeat(100))), [""; 0]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_scanned(text in "[\\PC\n]{0,200}") {
            for end in ["rs", "py", "ts", "go", "java", "c", "sh", "rb", "ex", "hs"] {
                for name in symbols(end, &text) {
                    prop_assert!(text.contains(name));
                }
            }
        }

        #[test]
        fn lines_of_code_can_be_scanned(words in prop::collection::vec("(pub|fn|class|def|func|\\(|\\)|\\{|=|=>|\\.|::|self|a|é|struct|const|#define| )", 0..14)) {
            let text = words.concat();
            for end in ["rs", "py", "ts", "go", "java", "c", "sh", "rb"] {
                let _ = symbols(end, &text);
            }
        }
    }
}
