//! Rust source as a tree of tokens, with test code taken out.
//!
//! Tokens rather than a syntax tree, because paths inside macro calls (`html! { … }`) are dependencies
//! too, and a parser leaves those unparsed.

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A token and the line it is on.
#[derive(Debug)]
pub enum Token {
    Ident { name: String, line: usize },
    Punct { char: char, line: usize },
    Literal { text: String, line: usize },
    Group { delimiter: Delimiter, tokens: Vec<Self>, open: usize, close: usize },
}

/// One file: what ships, and which of its lines do not.
#[derive(Debug)]
pub struct Source {
    pub tokens: Vec<Token>,
    /// Lines of items that are compiled for tests only, first and last.
    pub tests: Vec<(usize, usize)>,
}

impl Source {
    pub fn parse(text: &str) -> Result<Self> {
        let stream: TokenStream = text.parse().map_err(|error| anyhow!("{error}"))?;
        let mut tests = Vec::new();
        let tokens = without_tests(convert(stream), &mut tests);
        Ok(Self { tokens, tests })
    }
}

impl Token {
    pub fn ident(&self) -> Option<&str> {
        match self {
            Self::Ident { name, .. } => Some(name),
            Self::Punct { .. } | Self::Literal { .. } | Self::Group { .. } => None,
        }
    }

    pub fn is(&self, wanted: char) -> bool {
        matches!(self, Self::Punct { char, .. } if *char == wanted)
    }

    pub fn group(&self, wanted: Delimiter) -> Option<&[Self]> {
        match self {
            Self::Group { delimiter, tokens, .. } if *delimiter == wanted => Some(tokens),
            Self::Group { .. } | Self::Ident { .. } | Self::Punct { .. } | Self::Literal { .. } => {
                None
            }
        }
    }

    pub fn first_line(&self) -> usize {
        match self {
            Self::Ident { line, .. } | Self::Punct { line, .. } | Self::Literal { line, .. } => {
                *line
            }
            Self::Group { open, .. } => *open,
        }
    }

    pub fn last_line(&self) -> usize {
        match self {
            Self::Group { close, .. } => *close,
            Self::Ident { .. } | Self::Punct { .. } | Self::Literal { .. } => self.first_line(),
        }
    }
}

/// Calls `visit` with every run of tokens, from the outermost inwards.
pub fn walk<'a>(tokens: &'a [Token], visit: &mut impl FnMut(&'a [Token])) {
    visit(tokens);
    for token in tokens {
        if let Token::Group { tokens, .. } = token {
            walk(tokens, visit);
        }
    }
}

fn convert(stream: TokenStream) -> Vec<Token> {
    stream
        .into_iter()
        .map(|tree| {
            let line = tree.span().start().line;
            match tree {
                TokenTree::Ident(ident) => Token::Ident { name: ident.to_string(), line },
                TokenTree::Punct(punct) => Token::Punct { char: punct.as_char(), line },
                TokenTree::Literal(literal) => Token::Literal { text: literal.to_string(), line },
                TokenTree::Group(group) => Token::Group {
                    delimiter: group.delimiter(),
                    open: group.span_open().start().line,
                    close: group.span_close().end().line,
                    tokens: convert(group.stream()),
                },
            }
        })
        .collect()
}

/// Takes every item out that has `#[cfg(test)]`, and writes its lines down.
fn without_tests(tokens: Vec<Token>, tests: &mut Vec<(usize, usize)>) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let attribute = token.is('#').then(|| rest.peek()).flatten();
        if attribute.and_then(|token| token.group(Delimiter::Bracket)).is_some_and(is_for_tests) {
            let first = token.first_line();
            let last = skip_item(&mut rest);
            tests.push((first, last));
            continue;
        }
        kept.push(match token {
            Token::Group { delimiter, tokens, open, close } => {
                Token::Group { delimiter, tokens: without_tests(tokens, tests), open, close }
            }
            Token::Ident { .. } | Token::Punct { .. } | Token::Literal { .. } => token,
        });
    }
    kept
}

/// Whether an attribute keeps its item out of what ships: `cfg(test)`, or the feature of the stores'
/// conformance suite.
fn is_for_tests(attribute: &[Token]) -> bool {
    let [cfg, condition] = attribute else { return false };
    cfg.ident() == Some("cfg")
        && condition.group(Delimiter::Parenthesis).is_some_and(|condition| {
            condition.iter().any(|token| match token {
                Token::Ident { name, .. } => name == "test",
                Token::Literal { text, .. } => text == "\"conformance\"",
                Token::Punct { .. } | Token::Group { .. } => false,
            })
        })
}

/// Skips further attributes and the item; the line it ends on.
fn skip_item(rest: &mut std::iter::Peekable<std::vec::IntoIter<Token>>) -> usize {
    let (mut last, mut ends_with_semicolon) = (0, false);
    while let Some(token) = rest.next() {
        last = token.last_line();
        if token.is('#') {
            drop(rest.next());
            continue;
        }
        ends_with_semicolon |=
            matches!(token.ident(), Some("use" | "const" | "static" | "type" | "let"));
        let braces = token.group(Delimiter::Brace).is_some() && !ends_with_semicolon;
        if braces || token.is(';') || (token.is(',') && !ends_with_semicolon) {
            break;
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_out_test_items_and_notes_their_lines() {
        let text = "use a::b;\n\
            #[cfg(test)]\nuse c::{d, e};\n\
            fn kept() {\n    #[cfg(test)]\n    let f = 1;\n}\n\
            #[cfg(test)]\n#[expect(x)]\nmod tests {\n    fn g() {}\n}\n\
            #[cfg(unix)]\nmod h;\n";
        let source = Source::parse(text).unwrap();
        assert_eq!(source.tests, [(2, 3), (5, 6), (8, 12)]);
        let mut names = Vec::new();
        walk(&source.tokens, &mut |tokens| names.extend(tokens.iter().filter_map(Token::ident)));
        assert_eq!(names, ["use", "a", "b", "fn", "kept", "mod", "h", "cfg", "unix"]);
    }
}
