//! Cycles between the top-level modules of a crate.
//!
//! A module depends on another if its shipped code names a path into it: `crate::other`, `super::` up to
//! the root, or a name that the root re-exports from it.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Delimiter;

use super::sources::{Crate, Module};
use super::tokens::{Token, walk};

/// The modules that a module uses, each with one location where it does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// One problem for each group of modules that depend on each other.
pub fn check(crates: &[Crate]) -> Vec<String> {
    let mut problems = Vec::new();
    for one in crates {
        let cycles = cycles(&graph(one));
        problems.extend(cycles.iter().map(|cycle| format!("{}: {cycle}", one.name)));
    }
    problems
}

fn graph(one: &Crate) -> Graph {
    let mut graph: Graph = one
        .modules
        .iter()
        .filter(|module| module.path.len() == 1)
        .map(|module| (module.path[0].clone(), BTreeMap::new()))
        .collect();
    let top: BTreeSet<String> = graph.keys().cloned().collect();
    let reexports = one.modules.first().map(|root| reexports(root, &top)).unwrap_or_default();
    for module in &one.modules {
        let Some(from) = module.path.first() else { continue };
        for (name, line) in root_names(module) {
            let to = if top.contains(&name) { Some(&name) } else { reexports.get(&name) };
            if let Some(to) = to.filter(|to| *to != from)
                && let Some(uses) = graph.get_mut(from)
            {
                let location = || format!("{}:{line}", module.name);
                uses.entry(to.clone()).or_insert_with(location);
            }
        }
    }
    graph
}

/// What the root re-exports, and from which of its modules.
fn reexports(root: &Module, top: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut rest = root.source.tokens.as_slice();
    while let Some(at) = rest.iter().position(|token| token.ident() == Some("use")) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|token| token.is(';')).unwrap_or(rest.len());
        let tree = &rest[..end];
        let skip = if matches!(tree.first().and_then(Token::ident), Some("crate" | "self")) {
            3
        } else {
            0
        };
        if let Some(module) =
            tree.get(skip).and_then(Token::ident).filter(|name| top.contains(*name))
        {
            let mut names = Vec::new();
            leaves(&tree[skip + 1..], &mut names);
            found.extend(names.into_iter().map(|name| (name, module.to_owned())));
        }
        rest = &rest[end..];
    }
    found
}

/// The names that a use tree brings into scope.
fn leaves(tree: &[Token], names: &mut Vec<String>) {
    for branch in tree.split(|token| token.is(',')) {
        match branch.last() {
            Some(token) if token.group(Delimiter::Brace).is_some() => {
                leaves(token.group(Delimiter::Brace).unwrap_or_default(), names);
            }
            Some(token) => names.extend(token.ident().map(ToOwned::to_owned)),
            None => {}
        }
    }
}

/// The names that a module looks up in the root of the crate, with their lines.
fn root_names(module: &Module) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    walk(&module.source.tokens, &mut |tokens| {
        for (at, token) in tokens.iter().enumerate() {
            let is_path_start = at == 0 || !(tokens[at - 1].is(':') || tokens[at - 1].is('$'));
            let depth = match token.ident() {
                Some("crate") if is_path_start => module.path.len(),
                Some("super") if is_path_start => 1,
                _ => continue,
            };
            let mut rest = &tokens[at + 1..];
            let mut depth = depth;
            while let [a, b, tail @ ..] = rest
                && a.is(':')
                && b.is(':')
            {
                if tail.first().and_then(Token::ident) == Some("super") {
                    depth += 1;
                    rest = &tail[1..];
                    continue;
                }
                if depth == module.path.len() {
                    first_names(tail, &mut names);
                }
                break;
            }
        }
    });
    names
}

/// The first name of each path of a use tree.
fn first_names(tree: &[Token], names: &mut Vec<(String, usize)>) {
    match tree.first() {
        Some(Token::Ident { name, line }) => names.push((name.clone(), *line)),
        Some(Token::Group { delimiter: Delimiter::Brace, tokens, .. }) => {
            tokens.split(|token| token.is(',')).for_each(|branch| first_names(branch, names));
        }
        _ => {}
    }
}

/// Groups of modules that all reach each other, each as a sentence with the uses inside it.
fn cycles(graph: &Graph) -> Vec<String> {
    let reach: BTreeMap<&String, BTreeSet<&String>> =
        graph.keys().map(|from| (from, reachable(graph, from))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for from in graph.keys() {
        let cycle: BTreeSet<&String> =
            reach[from].iter().filter(|to| reach[**to].contains(from)).copied().collect();
        if cycle.len() < 2 || !seen.insert(cycle.clone()) {
            continue;
        }
        let mut text = format!("{} modules form a cycle:", cycle.len());
        for from in &cycle {
            for (to, location) in graph[*from].iter().filter(|(to, _)| cycle.contains(to)) {
                text += &format!("\n  {from} uses {to} ({location})");
            }
        }
        found.push(text);
    }
    found
}

fn reachable<'a>(graph: &'a Graph, from: &'a String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(module) = next.pop() {
        next.extend(
            graph.get(module).into_iter().flat_map(BTreeMap::keys).filter(|to| reached.insert(*to)),
        );
    }
    reached
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tokens::Source;
    use super::*;

    fn krate(files: &[(&str, &str)]) -> Crate {
        let modules = files
            .iter()
            .map(|(path, text)| Module {
                file: PathBuf::new(),
                name: format!("{path}.rs"),
                path: path.split('/').filter(|part| !part.is_empty()).map(Into::into).collect(),
                text: (*text).to_owned(),
                source: Source::parse(text).unwrap(),
            })
            .collect();
        Crate { name: "c".to_owned(), folder: PathBuf::new(), modules }
    }

    #[test]
    fn accepts_modules_in_layers() {
        let layered = krate(&[
            ("", "mod a; mod b; pub use b::B;"),
            ("a", "use crate::b::B; #[cfg(test)] mod tests { use crate::a::A; }"),
            (
                "b",
                "#[cfg(test)] mod tests { use crate::a::A; } // crate::a\nconst S: &str = \"crate::a\";",
            ),
        ]);
        assert_eq!(check(&[layered]), Vec::<String>::new());
    }

    #[test]
    fn finds_cycles_through_paths_groups_macros_super_and_reexports() {
        for (a, b) in [
            ("use crate::b::B;", "fn f() { crate::a::f() }"),
            ("use crate::{b::B, d};", "html! { p { (crate::a::f()) } }"),
            ("use super::b::B;", "use super::a;"),
            ("use crate::B;", "use crate::a::A;"),
        ] {
            let cyclic = krate(&[
                ("", "mod a; mod b; mod d; pub use b::{B, C};"),
                ("a", a),
                ("b", b),
                ("d", ""),
            ]);
            let problems = check(&[cyclic]);
            assert_eq!(problems.len(), 1, "{a} and {b}: {problems:?}");
            assert!(problems[0].contains("a uses b (a.rs:1)"), "{problems:?}");
        }
    }

    #[test]
    fn follows_super_from_nested_modules() {
        let cyclic = krate(&[
            ("", "mod a; mod b;"),
            ("a", "mod x; mod b;"),
            ("a/x", "use super::b; use super::super::b::B;"),
            ("a/b", ""),
            ("b", "use crate::a::A;"),
        ]);
        assert_eq!(check(&[cyclic]).len(), 1);
        let layered = krate(&[
            ("", "mod a; mod b;"),
            ("a", "mod x; mod b;"),
            ("a/x", "use super::b;"),
            ("a/b", ""),
            ("b", "use crate::a::A;"),
        ]);
        assert_eq!(check(&[layered]), Vec::<String>::new());
    }
}
