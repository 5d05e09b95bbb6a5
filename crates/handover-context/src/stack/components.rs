//! Combines findings into components: each finding goes to the component of its folder, the most reliable
//! source provides the version, the most specific language is the component's.

use std::collections::BTreeMap;
use std::path::Path;

use handover_files::{FileError, read_text_bounded};
use handover_model::Category;

use super::catalog;
use super::manifests::{Finding, Manifest, Use};
use super::walk::{self, Walk};
use super::{Component, Evidence, Item, Note, Stack, Version};

/// The most evidence kept for one value.
const MOST_EVIDENCE: usize = 4;

/// A finding and the file it comes from.
struct Placed {
    file: String,
    rank: u8,
    finding: Finding,
}

/// Reads every manifest found by the walk.
pub(super) fn build(root: &Path, walk: &Walk) -> Stack {
    let mut notes = walk.notes.clone();
    let mut folders: BTreeMap<String, Vec<Placed>> = BTreeMap::new();
    let mut loose: Vec<(String, Placed)> = Vec::new();
    for found in &walk.manifests {
        let text = match read(&root.join(&found.path)) {
            Ok(text) => text,
            Err(message) => {
                notes.push(Note { file: found.path.clone(), message });
                continue;
            }
        };
        let folder = found.reader.folder(&found.path);
        let mut manifest = Manifest::new(&found.path, &text);
        (found.reader.read)(&mut manifest);
        let (findings, complaint) = manifest.finish();
        notes.extend(complaint.map(|message| Note { file: found.path.clone(), message }));
        if found.reader.opens {
            folders.entry(folder.clone()).or_default();
        }
        loose.extend(findings.into_iter().map(|finding| {
            let placed = Placed { file: found.path.clone(), rank: found.reader.rank, finding };
            (folder.clone(), placed)
        }));
    }
    for (folder, placed) in loose {
        let owner = owner(&folders, &folder);
        folders.entry(owner).or_default().push(placed);
    }
    let mut components: Vec<Component> = folders
        .into_iter()
        .map(|(path, placed)| component(path, placed))
        .filter(|component| !component.items.is_empty() || !component.hints.is_empty())
        .collect();
    // The root first, then by path.
    components.sort_by(|a, b| (a.path != ".", &a.path).cmp(&(b.path != ".", &b.path)));
    Stack { components, notes }
}

/// The nearest component at or above a folder, else the root.
fn owner(folders: &BTreeMap<String, Vec<Placed>>, folder: &str) -> String {
    let mut folder = folder;
    while folder != "." {
        if folders.contains_key(folder) {
            return folder.to_owned();
        }
        folder = folder.rsplit_once('/').map_or(".", |(above, _)| above);
    }
    ".".to_owned()
}

fn read(path: &Path) -> Result<String, String> {
    match read_text_bounded(path, walk::MOST_BYTES) {
        Ok(Some(text)) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(FileError::NotText { .. }) => Err("it is not UTF-8".to_owned()),
        Err(FileError::TooLarge { max, .. }) => {
            Err(format!("it has more than {max} bytes and was not read"))
        }
        Ok(None) | Err(_) => Err("it cannot be read".to_owned()),
    }
}

fn component(path: String, mut placed: Vec<Placed>) -> Component {
    // Version files are more reliable than manifests, manifests more than images; the rest by file.
    placed.sort_by(|a, b| (a.rank, &a.file).cmp(&(b.rank, &b.file)));
    let (mut items, mut hints): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
    for one in &placed {
        let into = match one.finding.how {
            Use::Used => &mut items,
            Use::Hint => &mut hints,
        };
        add(into, one);
    }
    // A folder with nothing but a version file is written in that language.
    if items.iter().all(|item| item.category != Category::Language) && path == "." {
        let (languages, others) = hints.into_iter().partition(|h| h.category == Category::Language);
        items.extend::<Vec<Item>>(languages);
        hints = others;
    }
    // A lower rank is more reliable: `.python-version` next to a manifest.
    for item in &mut items {
        if let Some(hint) =
            hints.iter().find(|hint| hint.name == item.name && hint.version.is_some())
        {
            let rank = |item: &Item| {
                let file = &item.evidence.first()?.file;
                placed.iter().find(|one| one.file == *file).map(|one| one.rank)
            };
            if item.version.is_none() || rank(hint) < rank(item) {
                item.version.clone_from(&hint.version);
                let mut evidence = hint.evidence.clone();
                evidence.append(&mut item.evidence);
                evidence.truncate(MOST_EVIDENCE);
                item.evidence = evidence;
            }
        }
    }
    // A TypeScript project has a `package.json` like any other.
    if items.iter().any(|item| item.name == "typescript") {
        items.retain(|item| item.name != "javascript");
    }
    let language = primary(&items);
    sort(&mut items, language.as_deref());
    Component { path, language, items, hints }
}

fn add(items: &mut Vec<Item>, one: &Placed) {
    let finding = &one.finding;
    let Some((_, technology)) = catalog::find(finding.name) else { return };
    let version = finding.version.as_deref().and_then(|text| Version::written(finding.name, text));
    let version = version.map(|version| version.short());
    let evidence = Evidence {
        file: one.file.clone(),
        key: finding.key.clone(),
        version: finding.version.clone(),
    };
    match items.iter_mut().find(|item| item.name == finding.name) {
        Some(item) => {
            let first = item.version.is_none() && version.is_some();
            if first {
                item.version = version;
                item.evidence.insert(0, evidence);
            } else if !item.evidence.contains(&evidence) {
                item.evidence.push(evidence);
            }
            item.evidence.truncate(MOST_EVIDENCE);
            if item.ecosystem.is_none() {
                item.ecosystem = finding.ecosystem.map(str::to_owned);
            }
        }
        None => items.push(Item {
            name: finding.name.to_owned(),
            category: technology.category,
            version,
            ecosystem: finding.ecosystem.map(str::to_owned),
            evidence: vec![evidence],
        }),
    }
}

/// The language of a component: one with a framework before one without, and JavaScript last, because
/// applications in other languages have a `package.json` for their assets.
fn primary(items: &[Item]) -> Option<String> {
    let languages = items.iter().filter(|item| item.category == Category::Language);
    let key = |language: &&Item| {
        let script = matches!(language.name.as_str(), "javascript" | "typescript");
        let framework = items.iter().any(|item| {
            item.category == Category::Framework
                && !matches!(
                    item.name.as_str(),
                    "nodejs" | "vite" | "webpack" | "tailwind" | "dotnet"
                )
                && item.ecosystem.as_deref().is_some_and(|e| same(e, &language.name))
        });
        let place = catalog::find(&language.name).map_or(usize::MAX, |(place, _)| place);
        (!framework, script, place)
    };
    languages.min_by_key(key).map(|language| language.name.clone())
}

/// Whether an ecosystem belongs to a language.
fn same(ecosystem: &str, language: &str) -> bool {
    ecosystem == language
        || matches!(
            (ecosystem, language),
            ("javascript", "typescript")
                | ("java", "kotlin" | "scala" | "groovy")
                | ("cpp", "c")
                | ("csharp", "fsharp")
        )
}

/// The language first, its own frameworks before those of others, the rest in the order of the catalog.
pub(super) fn sort(items: &mut [Item], language: Option<&str>) {
    items.sort_by_cached_key(|item| {
        let own = language.is_some_and(|language| {
            item.name == language || item.ecosystem.as_deref().is_some_and(|e| same(e, language))
        });
        let place = catalog::find(&item.name).map_or(usize::MAX, |(place, _)| place);
        (item.category, language != Some(item.name.as_str()), !own, place)
    });
}
