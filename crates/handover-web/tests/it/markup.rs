//! Whether a page is well formed: tags, attributes and references, without a browser.

use std::collections::{BTreeMap, BTreeSet};

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr", "!DOCTYPE",
];

/// A start tag with its attributes.
struct Tag<'a> {
    name: &'a str,
    attributes: BTreeMap<&'a str, &'a str>,
}

/// The start tags of a page, in order.
#[track_caller]
fn tags(page: &str) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut open = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let text = &rest[..at];
        assert!(!text.contains('>'), "a `>` that ends nothing: {text}");
        let end = rest[at..].find('>').map(|end| at + end);
        let end = end.unwrap_or_else(|| panic!("a tag without an end: {}", &rest[at..]));
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(
                open.pop(),
                Some(name),
                "…{}",
                &page[page.len() - rest.len() - tag.len() - 2..][..40]
            );
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if !VOID.contains(&name) {
            open.push(name);
        }
        tags.push(Tag { name, attributes: attributes_of(attributes, tag) });
    }
    assert!(!rest.contains('>'), "a `>` that ends nothing: {rest}");
    assert_eq!(open, [""; 0], "elements that never end");
    tags
}

#[track_caller]
fn attributes_of<'a>(text: &'a str, tag: &str) -> BTreeMap<&'a str, &'a str> {
    let mut attributes = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let (value, after) = match after.strip_prefix("=\"") {
            Some(quoted) => quoted.split_once('"').unwrap_or_else(|| panic!("a quote in <{tag}>")),
            None => ("", after),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        assert!(!name.is_empty() && name.chars().all(is_name), "{name:?} in <{tag}>");
        assert!(attributes.insert(name, value).is_none(), "{name} twice in <{tag}>");
        rest = after.trim_start();
    }
    attributes
}

/// Asserts that every element ends where it should, ids are unique, references resolve, inputs have labels,
/// and drawings have a text alternative. Returns the addresses of links, forms and assets.
#[track_caller]
pub(crate) fn check(page: &str) -> BTreeSet<String> {
    let page = page.trim_start_matches("<!DOCTYPE html>");
    let tags = tags(page);
    let of =
        |name: &'static str| tags.iter().filter_map(move |tag| tag.attributes.get(name).copied());
    let ids: Vec<&str> = of("id").collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "an id twice: {ids:?}");
    for name in ["for", "aria-labelledby", "aria-describedby", "aria-controls"] {
        for reference in of(name).flat_map(str::split_whitespace) {
            assert!(unique.contains(reference), "{name}={reference:?} leads nowhere");
        }
    }
    let labeled: BTreeSet<&str> = of("for").collect();
    for tag in &tags {
        let has = |name: &str| tag.attributes.contains_key(name);
        match tag.name {
            "input" | "textarea" | "select" if tag.attributes.get("type") != Some(&"hidden") => {
                let id = tag.attributes.get("id").copied().unwrap_or_default();
                assert!(has("aria-label") || labeled.contains(id), "a field without a label");
            }
            "svg" => assert!(has("aria-label") || has("aria-hidden"), "a drawing without a name"),
            "html" => assert!(has("lang")),
            _ => {}
        }
    }
    let addresses = ["href", "action", "src"].into_iter().flat_map(of);
    let addresses = addresses.map(|address| address.replace("&amp;", "&"));
    addresses
        .filter(|address| match address.strip_prefix('#') {
            Some(fragment) => {
                assert!(unique.contains(fragment), "{address} leads nowhere");
                false
            }
            None => true,
        })
        .collect()
}

#[test]
fn broken_pages_are_found() {
    for (page, problem) in [
        ("<p>a", "never ends"),
        ("<p><b></p></b>", "another order"),
        ("a > b", "an end of nothing"),
        ("<p", "half a tag"),
        ("<p id=\"a\"></p><p id=\"a\"></p>", "an id twice"),
        ("<p a=\"1\" a=\"2\"></p>", "an attribute twice"),
        ("<p a=\"x\"y\"></p>", "a quote too many"),
        ("<label for=\"x\"></label>", "a label of nothing"),
        ("<input name=\"x\">", "no label"),
        ("<a href=\"#x\"></a>", "a fragment that is not there"),
        ("<svg></svg>", "a drawing without a name"),
    ] {
        let checked = std::panic::catch_unwind(|| check(page));
        assert!(checked.is_err(), "{problem}: {page}");
    }
    let good = "<main id=\"m\"><a href=\"#m\">x</a><a href=\"/y?a=1&amp;b=2\">&lt;</a><br></main>";
    assert_eq!(check(good), BTreeSet::from(["/y?a=1&b=2".to_owned()]));
}
