//! Operators between a name and its value: `=`, `:`, `=>`, a tag, a bracket, a word.

use super::bytes::{self, ALNUM};
use super::random;

/// The most white space allowed around an operator.
const SPACE: usize = 40;

/// Words that assign a value to a name.
#[rustfmt::skip]
const WORDS: [&str; 16] = [
    "is ", "was ", "is: ", "string = ", "str = ", "String = ", "As String = ", "TO ", "to ", "ist ", "lautet ",
    "lautet: ", "est ", "es ", "è ", "é ",
];

/// Operators before a fallback value.
const FALLBACKS: [&[u8]; 6] = [b"|| \"", b"|| '", b"?? \"", b"?? '", b"?: \"", b"?: '"];

/// Words and flags before a quoted value.
const BEFORE_QUOTE: [&str; 6] =
    ["-String \"", "-String '", "-AsPlainText \"", "-AsPlainText '", "or \"", "or '"];

/// How a name is connected to its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=`, `:=`, `=>`
    Equals,
    /// `==`, `!=`, `===`
    Compare,
    /// `:`
    Colon,
    /// `<name>`
    Tag,
    /// `("name", "value")`
    Comma,
    /// `name("value")`
    Call,
    /// `is`, `was`, `to`
    Word,
    /// `for the staging host is`
    Words,
    /// Nothing but white space.
    Space,
}

/// The operator at `at` after the name that starts at `start`, and where it ends.
pub(super) fn operator(
    text: &[u8],
    start: usize,
    at: usize,
    spaced: bool,
    quoted_name: bool,
) -> Option<(Operator, usize)> {
    let rest = text.get(at..)?;
    match rest.first()? {
        b':' => colon(text, start, at),
        b'=' | b'!' if rest.get(1) == Some(&b'=') => {
            Some((Operator::Compare, at + bytes::run(text, at, 3, |b| matches!(b, b'=' | b'!'))))
        }
        b'=' => {
            let len = bytes::run(text, at, 3, |b| matches!(b, b'=' | b'>' | b'~'));
            Some((Operator::Equals, at + len))
        }
        b'?' | b'.' | b'+' | b'|' | b'-' if is_compound(rest) => {
            let len = bytes::run(text, at, 3, |b| {
                matches!(b, b'?' | b'.' | b'+' | b'|' | b'=' | b'>' | b'-')
            });
            Some((Operator::Equals, at + len))
        }
        // `env.PASSWORD || "…"`: the fallback value.
        b'|' | b'?' if FALLBACKS.iter().any(|operator| rest.starts_with(operator)) => {
            Some((Operator::Equals, at + 3))
        }
        b'|' if spaced => Some((Operator::Colon, at + 1)),
        b'%' if rest.starts_with(b"%3D") || rest.starts_with(b"%3d") => {
            Some((Operator::Equals, at + 3))
        }
        b'&' if rest.starts_with(b"&quot;:&quot;") => Some((Operator::Equals, at + 13)),
        b'>' if quoted_name || is_tag(text, start) => Some((Operator::Tag, at + 1)),
        b'(' if (!spaced || text[start..].starts_with(b"PASSWORD ("))
            && matches!(rest.get(1), Some(b'"' | b'\'')) =>
        {
            Some((Operator::Call, at + 1))
        }
        b'<' if rest.starts_with(b"</key>") => {
            next_tag(text, at + 6, b"<string>").map(|at| (Operator::Tag, at))
        }
        b'<' if rest.starts_with(b"</name>") => {
            next_tag(text, at + 7, b"<value>").map(|at| (Operator::Tag, at))
        }
        b')' | b']' if quoted_name => filled_field(text, at)
            .or_else(|| fallback_after_call(text, at))
            .map(|at| (Operator::Equals, at)),
        // `set :password, "…"`
        b',' if !spaced && (is_symbol(text, start) || is_constant(text, start, at)) => {
            Some((Operator::Comma, at + 1))
        }
        b'<' if rest.starts_with(b"<- ") => Some((Operator::Equals, at + 3)),
        b'{' if quoted_name => block_default(text, at).map(|at| (Operator::Equals, at)),
        b',' if quoted_name => Some(comma_after_quoted(text, at)),
        b'\n' | b'\r' => value_line(text, at).map(|at| (Operator::Equals, at)),
        _ if spaced && is_tag(text, start) => tag_with_attributes(text, at),
        _ if spaced => Some(after_space(text, at, quoted_name)),
        _ => None,
    }
}

/// `+=`, `->`, `||=` and their relatives.
fn is_compound(rest: &[u8]) -> bool {
    matches!(rest.get(1), Some(b'=')) || rest.starts_with(b"->") || rest.starts_with(b"||=")
}

/// `:`, `:=`, `::` of LDIF, or a colon before a type or before nested fields.
fn colon(text: &[u8], start: usize, at: usize) -> Option<(Operator, usize)> {
    let colons = bytes::run(text, at, 4, |b| b == b':');
    if text.get(at + colons) == Some(&b'=') {
        return Some((Operator::Equals, at + colons + 1));
    }
    // `userPassword:: …` of LDIF
    if colons == 2 && text.get(at + 2) == Some(&b' ') {
        return Some((Operator::Colon, at + 2));
    }
    if colons > 1 {
        return None;
    }
    match annotated(text, at + 1).or_else(|| nested(text, start, at + 1)) {
        Some(at) => Some((Operator::Equals, at)),
        None => Some((Operator::Colon, at + 1)),
    }
}

/// A comma after a quoted name: `{"key": "password", "value": "…"}`, or an argument list.
fn comma_after_quoted(text: &[u8], at: usize) -> (Operator, usize) {
    match value_line(text, at).or_else(|| option_default(text, at)) {
        Some(at) => (Operator::Equals, at),
        // `fill_in "Password", with: "…"`
        None if text[at..].starts_with(b", with: ") => (Operator::Equals, at + 8),
        None => (Operator::Comma, at + 1),
    }
}

/// The rest of a tag whose name is followed by attributes: `<password type="x">`.
fn tag_with_attributes(text: &[u8], at: usize) -> Option<(Operator, usize)> {
    let len = bytes::run(text, at, 80, |b| !matches!(b, b'<' | b'>' | b'\n'));
    let closed = text[at + len - 1] == b'/';
    (text.get(at + len) == Some(&b'>') && !closed).then_some((Operator::Tag, at + len + 1))
}

/// What stands between a name and its value if a space comes first: flags, words, or nothing.
fn after_space(text: &[u8], at: usize, quoted_name: bool) -> (Operator, usize) {
    let rest = &text[at..];
    if quoted_name && let Some(at) = value_line(text, at) {
        return (Operator::Equals, at);
    }
    // `I fill in "Password" with "…"`
    if quoted_name && matches!(rest, [b'w', b'i', b't', b'h', b' ', b'"' | b'\'', ..]) {
        return (Operator::Equals, at + 5);
    }
    if let Some(given) = BEFORE_QUOTE.iter().find(|given| rest.starts_with(given.as_bytes())) {
        return (Operator::Equals, at + given.len() - 1);
    }
    if let Some(word) = WORDS.iter().find(|word| rest.starts_with(word.as_bytes())) {
        let after = at + word.len();
        if word.ends_with("= ") {
            return (Operator::Equals, after);
        }
        // `is generated for root: …`
        let next = bytes::run(text, after, 20, |b| b.is_ascii_lowercase());
        if next > 0
            && text.get(after + next) == Some(&b' ')
            && let Some(at) = words_and_is(text, after)
        {
            return (Operator::Words, at);
        }
        let colon = if text[after..].starts_with(b": ") { 2 } else { 0 };
        return (Operator::Word, after + colon);
    }
    // `Password - …`, `password → …`
    if let Some(dash) =
        ["- ", "– ", "→ ", "-> "].iter().find(|dash| rest.starts_with(dash.as_bytes()))
    {
        return (Operator::Words, at + dash.len());
    }
    match words_and_is(text, at) {
        Some(at) => (Operator::Words, at),
        None => (Operator::Space, at),
    }
}

/// Skips a few words and a verb that assigns: `password for the staging host is …`.
pub(super) fn words_and_is(text: &[u8], mut at: usize) -> Option<usize> {
    const IS: [&str; 8] = ["is", "was", "to", "ist", "lautet", "est", "es", "é"];
    for _ in 0..6 {
        let len = bytes::run(text, at, 20, |b| {
            bytes::is(b, ALNUM) || !b.is_ascii() || matches!(b, b'-' | b'_' | b'@' | b'.')
        });
        let word = text.get(at..at + len)?;
        at += len;
        let space = bytes::run(text, at, 1, |b| b == b' ');
        if text.get(at + space) == Some(&b':') {
            let spaced = usize::from(text.get(at + space + 1) == Some(&b' '));
            let value = at + space + 1 + spaced;
            let word = bytes::run(text, value, 40, |b| !b.is_ascii_whitespace());
            let likely = word >= 6 && random::mixed(&text[value..value + word]);
            return (spaced == 1 || likely).then_some(value);
        }
        (len > 0 && space > 0).then_some(())?;
        at += space;
        if IS.iter().any(|w| w.as_bytes() == word) && text.get(at) != Some(&b':') {
            return Some(at);
        }
    }
    None
}

/// `<password>`, `<wsse:Password>`
fn is_tag(text: &[u8], start: usize) -> bool {
    let space = match start.checked_sub(1).and_then(|at| text.get(at)) {
        Some(b':') => 1 + bytes::run_back(text, start - 1, 16, |b| bytes::is(b, ALNUM)),
        Some(_) | None => 0,
    };
    start > space && text.get(start - space - 1) == Some(&b'<')
}

/// `option("--password", default="…")`
fn option_default(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..text.len().min(at + 120))?;
    let rest = &rest[..bytes::run(rest, 0, rest.len(), |b| !matches!(b, b')' | b'\n'))];
    let word = rest.windows(8).position(|w| w == b"default=")?;
    Some(at + word + 8)
}

/// Whether the name at `start` is a Ruby symbol: `:name`, not `path::NAME`.
fn is_symbol(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(2)..start];
    matches!(before, [b' ' | b'(' | b'[' | b'\n', b':'])
}

/// Whether the name is a constant in an argument list, before a literal: `setopt(c, CURLOPT_PASSWORD, "…")`.
pub(super) fn is_constant(text: &[u8], start: usize, end: usize) -> bool {
    text[..start].ends_with(b", ")
        && matches!(text.get(end..end + 3), Some([b',', b' ', b'"' | b'\'']))
        && text[start..end].contains(&b'_')
        // That is a user and a password.
        && !text[start..end].ends_with(b"USERPWD")
        && text[start..end].iter().all(|b| b.is_ascii_uppercase() || *b == b'_')
}

/// `variable "password" { default = "…" }`
fn block_default(text: &[u8], at: usize) -> Option<usize> {
    let block = text.get(at..text.len().min(at + 240))?;
    let block = &block[..bytes::run(block, 0, block.len(), |b| b != b'}')];
    let word = block.windows(8).position(|w| w == b"default ")?;
    let equals = skip_space(text, at + word + 8);
    (text.get(equals) == Some(&b'=')).then_some(equals + 1)
}

/// `find("password").send_keys("…")`, `$("#password").val("…")`: filling in a form field.
fn filled_field(text: &[u8], at: usize) -> Option<usize> {
    let at = at + bytes::run(text, at, 3, |b| matches!(b, b')' | b']' | b'"' | b'\''));
    let rest = text.get(at..)?;
    let verb = [".send_keys(", ".sendKeys(", ".fill(", ".type(", ".val(", ".setValue("]
        .iter()
        .find(|verb| rest.starts_with(verb.as_bytes()))?;
    Some(at + verb.len())
}

/// `getenv("PASSWORD") ?: "…"`
fn fallback_after_call(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(text, at + 1);
    let rest = text.get(at..)?;
    let word = [&b"or \""[..], b"or '"].iter().any(|or| rest.starts_with(or));
    (word || FALLBACKS.iter().any(|operator| rest.starts_with(operator))).then_some(at + 3)
}

/// `<key>name</key> <string>` in property lists, `<name>…</name> <value>` in Hadoop files.
fn next_tag(text: &[u8], at: usize, tag: &[u8]) -> Option<usize> {
    let at = at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace());
    text.get(at..)?.starts_with(tag).then_some(at + tag.len())
}

/// `name: FOO_TOKEN` with `value: "…"` on the next line or in the next attribute.
fn value_line(text: &[u8], at: usize) -> Option<usize> {
    let at =
        at + bytes::run(text, at, SPACE, |b| b.is_ascii_whitespace() || b == b'"' || b == b',');
    let word = text.get(at..at + 5)?;
    if !word.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let at = at + 5 + bytes::run(text, at + 5, 3, |b| matches!(b, b' ' | b'"'));
    matches!(text.get(at), Some(b'=' | b':')).then_some(at + 1)
}

/// The default among the nested fields of a name: `Password: {"Type": "String", "Default": "…"}`, or
/// the same on deeper-indented lines.
fn nested(text: &[u8], start: usize, at: usize) -> Option<usize> {
    let at = skip_space(text, at);
    let at = at + usize::from(text.get(at..at + 2) == Some(b"\r\n"));
    let rest = text.get(at..text.len().min(at + 240))?;
    let line = bytes::line_start(text, start, SPACE);
    let indent = bytes::run(text, line, SPACE, |b| matches!(b, b' ' | b'\t'));
    let lines = match rest.first()? {
        b'{' => rest.split(|b| *b == b'}').next()?,
        b'\n' if line + indent >= start.saturating_sub(1) => rest,
        _ => return None,
    };
    let yaml = lines.first() == Some(&b'\n');
    let mut from = 0;
    for field in lines.split(|b| matches!(b, b'\n' | b',')) {
        let depth = bytes::run(field, 0, SPACE, |b| matches!(b, b' ' | b'\t' | b'{' | b'"'));
        if yaml && from > 0 && depth <= indent {
            return None;
        }
        let name = bytes::run(field, depth, SPACE, |b| b.is_ascii_alphabetic());
        let colon = depth + name + bytes::run(field, depth + name, 2, |b| matches!(b, b'"' | b' '));
        let names = ["default", "value", "defaultValue"];
        if names.iter().any(|n| field[depth..depth + name].eq_ignore_ascii_case(n.as_bytes()))
            && field.get(colon) == Some(&b':')
        {
            return Some(at + from + colon + 1);
        }
        from += field.len() + 1;
    }
    None
}

/// Skips a type annotation: `: &str = "…"`.
fn annotated(text: &[u8], at: usize) -> Option<usize> {
    let at = skip_space(text, at);
    let len = bytes::run(text, at, 48, |b| {
        bytes::is(b, ALNUM)
            || matches!(b, b'&' | b'\'' | b'<' | b'>' | b'*' | b'?' | b' ' | b'_' | b'[' | b']')
    });
    let kind = text.get(at..at + len)?;
    let typed = kind.ends_with(b" ");
    let assigned = text.get(at + len) == Some(&b'=') && text.get(at + len + 1) != Some(&b'=');
    (typed && assigned).then_some(at + len + 1)
}

/// Skips the spaces and tabs at `at`.
pub(super) fn skip_space(text: &[u8], at: usize) -> usize {
    at + bytes::run(text, at, SPACE, |b| matches!(b, b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operator after the name `password`, and what follows it.
    fn after_name(text: &'static str) -> Option<(Operator, &'static str)> {
        let start = text.find("password")?;
        let quoted = start > 0 && matches!(text.as_bytes()[start - 1], b'"' | b'\'');
        let end = start + "password".len() + usize::from(quoted);
        let at = skip_space(text.as_bytes(), end);
        let (operator, at) = operator(text.as_bytes(), start, at, at > end, quoted)?;
        Some((operator, &text[at..]))
    }

    #[test]
    fn recognises_every_operator() {
        use Operator::{Call, Colon, Comma, Compare, Equals, Space, Tag, Word, Words};
        for (text, operator, rest) in [
            ("password=x", Equals, "x"),
            ("password := x", Equals, " x"),
            ("password => x", Equals, " x"),
            ("password += x", Equals, " x"),
            ("password->x", Equals, "x"),
            ("password ||= x", Equals, " x"),
            ("password || \"x\"", Equals, "\"x\""),
            ("password ?? 'x'", Equals, "'x'"),
            ("password%3Dx", Equals, "x"),
            ("password <- \"x\"", Equals, "\"x\""),
            ("password == x", Compare, " x"),
            ("password != x", Compare, " x"),
            ("password === x", Compare, " x"),
            ("password: x", Colon, " x"),
            ("password:: x", Colon, " x"),
            ("password | x |", Colon, " x |"),
            ("password: &str = x", Equals, " x"),
            ("<password>x", Tag, "x"),
            ("<ns:password>x", Tag, "x"),
            ("<password type=\"y\">x", Tag, "x"),
            ("password(\"x\")", Call, "\"x\")"),
            (" :password, \"x\"", Comma, " \"x\""),
            ("(\"password\", \"x\")", Comma, " \"x\")"),
            ("\"password\", \"value\": \"x\"", Equals, " \"x\""),
            ("\"password\", with: \"x\"", Equals, "\"x\""),
            ("\"password\" with \"x\"", Equals, "\"x\""),
            ("(\"password\").send_keys(\"x\")", Equals, "\"x\")"),
            ("getenv(\"password\") ?: \"x\"", Equals, "\"x\""),
            ("variable \"password\" { default = \"x\" }", Equals, " \"x\" }"),
            ("password -AsPlainText \"x\"", Equals, "\"x\""),
            ("password string = \"x\"", Equals, "\"x\""),
            ("password is x", Word, "x"),
            ("password was: x", Words, "x"),
            ("password for the host is x", Words, "x"),
            ("password x", Space, "x"),
            ("name: password\n  value: x", Equals, " x"),
            ("password:\n  type: String\n  default: x", Equals, " x"),
        ] {
            assert_eq!(after_name(text), Some((operator, rest)), "{text}");
        }
    }

    #[test]
    fn other_signs_are_no_operators() {
        for text in [
            "password::x",
            "password",
            "password)",
            "password,",
            "password;",
            "<password x/>",
            "password[0]",
            "password\nx",
        ] {
            assert_eq!(after_name(text), None, "{text}");
        }
    }

    #[test]
    fn words_before_a_verb_are_limited() {
        let rest = |text: &'static str| words_and_is(text.as_bytes(), 0).map(|at| &text[at..]);
        assert_eq!(rest("for the host is x"), Some("x"));
        assert_eq!(rest("of root: x"), Some("x"));
        assert_eq!(rest("a b c d e is x"), Some("x"));
        assert_eq!(rest("a b c d e f is x"), None);
        assert_eq!(rest("of root:x"), None);
        assert_eq!(rest("for the host"), None);
    }
}
