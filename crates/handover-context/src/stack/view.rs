//! The part of a stack that concerns one agent: that of its component, or everything.

use handover_model::Category;

use super::catalog::{self, Domain};
use super::{Component, Item, Stack, Version};

/// The technologies relevant to one piece of work, most important first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct View {
    /// The component, unless it is the whole project.
    pub component: Option<String>,
    /// The technologies.
    pub items: Vec<Item>,
}

/// What a component inherits from the folders above it, because the whole repository shares it.
const SHARED: &[Category] =
    &[Category::Database, Category::Infrastructure, Category::Messaging, Category::Testing];

impl Stack {
    /// The component of a path: the one with the longest matching folder. The root matches everything, if it is
    /// a component.
    pub fn component_of(&self, path: &str) -> Option<&Component> {
        let wanted = clean(path);
        self.components
            .iter()
            .filter_map(|component| Some((depth_of(&component.path, &wanted)?, component)))
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, component)| component)
    }

    /// The component that a text names: by a path in it, else by the name of its folder.
    pub fn component_named(&self, text: &str) -> Option<&Component> {
        let named = self.components.iter().filter(|component| component.path != ".");
        let words: Vec<&str> = text
            .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | '(' | ')'))
            .map(|word| word.trim_matches(|c: char| matches!(c, '.' | ':' | ';' | '?' | '!')))
            .filter(|word| !word.is_empty())
            .collect();
        let by_path = named.clone().filter(|component| {
            words.iter().any(|word| {
                // What is left of `./web/` is `/web/`.
                let word = word.trim_start_matches("./").trim_start_matches('/');
                (component.path.contains('/') || is_path(word))
                    && depth_of(&component.path, word).is_some()
            })
        });
        if let Some(component) = by_path.max_by_key(|component| component.path.len()) {
            return Some(component);
        }
        let mut by_name = named.filter(|component| {
            let name = component.path.rsplit('/').next().unwrap_or(&component.path);
            words.iter().enumerate().any(|(at, word)| {
                word.eq_ignore_ascii_case(name) && (!is_generic(name) || has_cue(&words, at))
                    || !is_generic(name) && is_package_of(word, name)
            })
        });
        // Two that are named decide nothing.
        let first = by_name.next()?;
        by_name.next().is_none().then_some(first)
    }

    /// The view of an agent that works on a path; of the whole project without a path, or if the path belongs to
    /// no component.
    pub fn view(&self, path: Option<&str>) -> View {
        match path.and_then(|path| self.component_of(path)) {
            Some(component) => self.of_component(component),
            None => self.whole(),
        }
    }

    fn of_component(&self, component: &Component) -> View {
        let mut items = component.items.clone();
        // Nearest first: the closest setting wins.
        for other in self.above(&component.path) {
            for item in &mut items {
                if item.version.is_none()
                    && let Some(source) = other.item(&item.name).or_else(|| hint(other, &item.name))
                {
                    item.version.clone_from(&source.version);
                    item.evidence.extend(source.evidence.iter().cloned());
                }
            }
            for item in &other.items {
                let shared = SHARED.contains(&item.category);
                if shared && items.iter().all(|own| own.name != item.name) {
                    items.push(item.clone());
                }
            }
        }
        super::components::sort(&mut items, component.language.as_deref());
        View { component: Some(component.path.clone()), items }
    }

    /// The components whose folders contain a path, nearest first.
    fn above(&self, path: &str) -> Vec<&Component> {
        let folders = path.rmatch_indices('/').map(|(at, _)| &path[..at]);
        let folders = folders.chain((path != ".").then_some("."));
        let component = |folder: &str| self.components.iter().find(|other| other.path == folder);
        folders.filter_map(component).collect()
    }

    fn whole(&self) -> View {
        let mut items: Vec<Item> = Vec::new();
        for component in &self.components {
            for item in self.of_component(component).items {
                match items.iter_mut().find(|known| known.name == item.name) {
                    // The version nearest to the root represents the project.
                    Some(known) if known.version.is_none() => {
                        known.version = item.version;
                        known.evidence.extend(item.evidence);
                    }
                    Some(_) => {}
                    None => items.push(item),
                }
            }
        }
        let first = self.main_language();
        super::components::sort(&mut items, first.as_deref());
        View { component: None, items }
    }

    /// The language of the root, else the most frequent one among components.
    fn main_language(&self) -> Option<String> {
        let root = self.components.iter().find(|component| component.path == ".");
        if let Some(language) = root.and_then(|root| root.language.clone()) {
            return Some(language);
        }
        let languages: Vec<&String> =
            self.components.iter().filter_map(|component| component.language.as_ref()).collect();
        let count = |name: &String| languages.iter().filter(|other| **other == name).count();
        // Among equally frequent ones, the first by path.
        let most = languages.iter().map(|name| count(name)).max()?;
        languages.iter().find(|name| count(name) == most).map(|name| (*name).clone())
    }
}

/// Folder names that are everyday words, too.
const GENERIC: &[&str] = &[
    "admin", "api", "app", "backend", "client", "cmd", "common", "core", "docs", "examples",
    "frontend", "lib", "main", "mobile", "server", "service", "services", "shared", "site", "src",
    "test", "tests", "tools", "utils", "web",
];

fn is_generic(name: &str) -> bool {
    GENERIC.iter().any(|generic| generic.eq_ignore_ascii_case(name))
}

/// Whether a word is the name of a package in a folder: `freight-planner`, `@freight/planner` and
/// `freight_planner::route` are in `planner`.
fn is_package_of(word: &str, folder: &str) -> bool {
    let package = word.split("::").next().unwrap_or(word).to_lowercase();
    let prefix = package.strip_suffix(&folder.to_lowercase());
    prefix.is_some_and(|prefix| prefix.len() > 1 && prefix.ends_with(['-', '_', '/']))
}

/// Whether a neighbouring word says that a component is meant.
fn has_cue(words: &[&str], at: usize) -> bool {
    const CUES: &[&str] = &[
        "app",
        "component",
        "crate",
        "folder",
        "module",
        "package",
        "project",
        "service",
        "workspace",
    ];
    let near = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
    near.filter_map(|at| words.get(at))
        .any(|word| CUES.iter().any(|cue| cue.eq_ignore_ascii_case(word)))
}

fn hint<'c>(component: &'c Component, name: &str) -> Option<&'c Item> {
    component.hints.iter().find(|hint| hint.name == name)
}

impl View {
    /// An item by its name.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.name == name)
    }

    /// Whether a technology is present, itself or implied by another one.
    pub fn has(&self, name: &str) -> bool {
        self.items.iter().any(|item| catalog::implies(&item.name, name))
    }

    /// The version of a technology, if it is known.
    pub fn version(&self, name: &str) -> Option<Version> {
        // As written: the shortened form has lost its third number.
        let item = self.item(name)?;
        let written = item.evidence.iter().find_map(|evidence| {
            let version = Version::written(name, evidence.version.as_deref()?)?;
            (Some(version.short()) == item.version).then_some(version)
        });
        written.or_else(|| Version::written(name, item.version.as_deref()?))
    }

    /// The main language.
    pub fn language(&self) -> Option<&Item> {
        self.items.iter().find(|item| item.category == Category::Language)
    }

    /// The main framework, if any.
    pub fn framework(&self) -> Option<&Item> {
        self.items.iter().find(|item| item.category == Category::Framework)
    }

    /// The field of application, as used in a sentence; empty if unknown.
    pub(crate) fn domain(&self) -> &'static str {
        let domains =
            self.items.iter().filter_map(|item| Some(catalog::find(&item.name)?.1.domain));
        let domains: Vec<Domain> = domains.filter(|domain| *domain != Domain::None).collect();
        let both = [Domain::Frontend, Domain::Backend].iter().all(|one| domains.contains(one));
        let domain = if both { Some(Domain::FullStack) } else { domains.first().copied() };
        domain.map_or("", Domain::title)
    }
}

/// A path in the form of component paths.
fn clean(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.is_empty() { ".".to_owned() } else { parts.join("/") }
}

/// Whether a word is a path and not two words with a slash between them, as in `client/server`.
fn is_path(word: &str) -> bool {
    let Some((folder, name)) = word.rsplit_once('/') else { return false };
    name.is_empty() || name.contains('.') || folder.contains('/')
}

/// How many folders of a path a component covers; `None` if the path is outside.
fn depth_of(component: &str, path: &str) -> Option<usize> {
    if component == "." {
        return Some(0);
    }
    let mut rest = path.split('/');
    let mut depth = 0;
    for part in component.split('/') {
        if rest.next() != Some(part) {
            return None;
        }
        depth += 1;
    }
    Some(depth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(paths: &[&str]) -> Stack {
        let component = |path: &&str| Component {
            path: (*path).to_owned(),
            language: None,
            items: Vec::new(),
            hints: Vec::new(),
        };
        Stack { components: paths.iter().map(component).collect(), notes: Vec::new() }
    }

    #[test]
    fn a_package_is_named_after_its_folder() {
        let stack = stack(&[".", "crates/api", "crates/planner"]);
        let named = |task: &str| stack.component_named(task).map(|one| one.path.as_str());
        for task in ["freight-planner: no loops", "Fix @freight/planner", "freight_planner::route"]
        {
            assert_eq!(named(task), Some("crates/planner"), "{task}");
        }
        assert_eq!(named("Document the public-api"), None, "everyday words are not names");
        assert_eq!(named("Fix the preplanner"), None);
    }

    #[test]
    fn a_path_in_the_task_names_its_component() {
        let stack = stack(&[".", "client", "web", "services/api"]);
        let named = |task: &str| stack.component_named(task).map(|one| one.path.as_str());
        assert_eq!(named("Add a button to web/src/Login.tsx"), Some("web"));
        assert_eq!(named("Lint everything in `./web/`."), Some("web"));
        assert_eq!(named("Move services/api/src/a.py"), Some("services/api"));
        assert_eq!(named("Draw the client/server protocol"), None, "a slash makes no path");
    }

    #[test]
    fn longest_folder_wins_even_for_a_single_letter() {
        let stack = stack(&[".", "a", "backend", "backend/api"]);
        for (path, expected) in [
            ("backend/api/routes", "backend/api"),
            ("backend/api/", "backend/api"),
            ("./backend/", "backend"),
            ("backend/apiary", "backend"),
            ("a", "a"),
            ("a/b.rs", "a"),
            ("ab", "."),
            ("elsewhere", "."),
            ("", "."),
            (".", "."),
            ("/backend//api", "backend/api"),
            ("..", "."),
        ] {
            assert_eq!(stack.component_of(path).unwrap().path, expected, "{path}");
        }
    }

    #[test]
    fn path_outside_all_components_means_the_whole_project() {
        let stack = stack(&["a", "b"]);
        assert_eq!(stack.component_of("c"), None);
        assert_eq!(stack.view(Some("c")).component, None);
        assert_eq!(Stack::default().view(Some("c")), View::default());
    }
}
