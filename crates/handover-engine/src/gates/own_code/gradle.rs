//! Gradle: a dependency on a sibling by its coordinates comes from Maven's local repository if the build reads
//! it (`mavenLocal()`), where the last `publishToMavenLocal` put the sibling of the checkout. A composite build
//! (`includeBuild`) and `project(':core')` use the worktree's.

use std::path::{Path, PathBuf};

use super::{OwnCode, elsewhere, shown, walk};
use crate::bounded;
use crate::gates::GateError;

const SCRIPTS: &[&str] = &["build.gradle", "build.gradle.kts"];
const SETTINGS: &[&str] = &["settings.gradle", "settings.gradle.kts"];
const CATALOG: &str = "gradle/libs.versions.toml";

/// What the files of a folder say.
struct Build {
    folder: PathBuf,
    /// Build script and settings, without comments.
    text: String,
    /// The script's dependencies, and those of a catalog: group and artifact.
    needs: Vec<(String, String)>,
}

pub(super) fn prove(own: &OwnCode<'_>) -> Result<(), GateError> {
    let mut builds = Vec::new();
    walk(own.folder, &mut |folder| {
        builds.extend(read(folder));
        true
    });
    if !builds.iter().any(|build| build.text.contains("mavenLocal(")) {
        return Ok(());
    }
    for build in &builds {
        for (group, artifact) in &build.needs {
            let sibling = builds.iter().find(|other| {
                other.folder != build.folder
                    && is_published(&builds, &other.folder)
                    && other.publishes(group, artifact)
                    && !is_included(&builds, &other.folder)
            });
            if let Some(sibling) = sibling.filter(|_| may_hold(own, group, artifact)) {
                let what = format!(
                    "`{}` takes `{group}:{artifact}` from Maven's local repository (`mavenLocal()`), which",
                    shown(own, &build.folder)
                );
                let place = own.checkout.join(shown(own, &sibling.folder));
                return Err(elsewhere(what, &place));
            }
        }
    }
    Ok(())
}

fn read(folder: &Path) -> Option<Build> {
    let all = |names: &[&str]| {
        let texts = names.iter().filter_map(|name| bounded::text(&folder.join(name)));
        texts.map(|text| without_comments(&text)).collect::<String>()
    };
    let (script, settings) = (all(SCRIPTS), all(SETTINGS));
    let catalog = bounded::text(&folder.join(CATALOG)).unwrap_or_default();
    let needs = coordinates(&script).chain(coordinates(&catalog)).collect();
    let text = script + &settings;
    (!text.is_empty()).then(|| Build { folder: folder.to_owned(), text, needs })
}

impl Build {
    /// Whether this may be what the coordinates name.
    fn publishes(&self, group: &str, artifact: &str) -> bool {
        let folder = self.folder.file_name().is_some_and(|name| name == artifact);
        let named = ["rootProject.name", "artifactId", "archivesBaseName"];
        let is_named = folder
            || named.iter().any(|key| values(&self.text, key).any(|value| value == artifact));
        let mut groups = values(&self.text, "group").peekable();
        let is_other = groups.peek().is_some() && !groups.any(|own| own == group);
        is_named && (group.contains('$') || !is_other)
    }
}

/// Whether the build of a folder, or one above it, publishes.
fn is_published(builds: &[Build], folder: &Path) -> bool {
    let mut above = builds.iter().filter(|build| folder.starts_with(&build.folder));
    above.any(|build| build.text.contains("maven-publish"))
}

/// Whether a composite build replaces it with the code in the worktree.
fn is_included(builds: &[Build], folder: &Path) -> bool {
    let mut included = builds.iter().flat_map(|build| {
        let parts = build.text.split("includeBuild").skip(1);
        parts.filter_map(|rest| quoted(rest).next()).map(|path| joined(&build.folder, path))
    });
    included.any(|included| folder.starts_with(included))
}

/// A relative path below a folder, without `.` and `..`.
fn joined(folder: &Path, path: &str) -> PathBuf {
    let mut joined = folder.to_owned();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = joined.pop(),
            name => joined.push(name),
        }
    }
    joined
}

/// Whether the local repository can have it: it does, or it is elsewhere.
fn may_hold(own: &OwnCode<'_>, group: &str, artifact: &str) -> bool {
    let Some(home) = own.environment.get("HOME").map(PathBuf::from) else { return true };
    let settings = bounded::text(&home.join(".m2/settings.xml")).unwrap_or_default();
    let folder = home.join(".m2/repository").join(group.replace('.', "/")).join(artifact);
    group.contains('$') || settings.contains("localRepository") || folder.is_dir()
}

/// The texts in quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(['"', '\''])?;
        let mark = char::from(rest.as_bytes()[start]);
        let (inside, after) = rest[start + 1..].split_once(mark)?;
        rest = after;
        Some(inside)
    })
}

/// `group:artifact` and `group:artifact:version` in quotation marks, and `group: 'g', name: 'a'`.
fn coordinates(text: &str) -> impl Iterator<Item = (String, String)> {
    let written = quoted(text).filter_map(|text| {
        let mut parts = text.split(':');
        let (group, artifact) = (parts.next()?, parts.next()?);
        let is_name = |part: &str| !part.is_empty() && !part.contains([' ', '/', '\n']);
        (is_name(group) && is_name(artifact)).then(|| (group.to_owned(), artifact.to_owned()))
    });
    let maps = text.split("group:").skip(1).filter_map(|rest| {
        let (group, rest) = rest.split_once("name:")?;
        Some((quoted(group).next()?.to_owned(), quoted(rest).next()?.to_owned()))
    });
    written.chain(maps)
}

/// What is assigned to a key: `group = 'shop'`, `group 'shop'`.
fn values<'t>(text: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| {
        let rest = line.trim_start().strip_prefix(key)?;
        rest.starts_with([' ', '=', '(']).then(|| quoted(rest).next()).flatten()
    })
}

fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        kept.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    // `https://` is no comment.
    let code = |line: &str| match line.trim_start().starts_with("//") {
        true => String::new(),
        false => line.split(" //").next().unwrap_or_default().to_owned() + "\n",
    };
    kept.lines().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_coordinates_as_they_are_written() {
        let text = "implementation 'shop:core:1.0-SNAPSHOT'\n testImplementation(\"shop:kit:$v\")\n\
                    api group: 'shop', name: 'old', version: '1'\n implementation project(':near')\n\
                    url 'https://example.com/x'\n";
        let found: Vec<String> =
            coordinates(text).map(|(group, name)| format!("{group}:{name}")).collect();
        assert_eq!(found, ["shop:core", "shop:kit", "shop:old"]);
    }

    #[test]
    fn comments_do_not_count() {
        let text = "a 'x:y:1' // b 'c:d:1'\n// 'e:f:1'\n/* 'g:h:1'\n */ url 'https://i.j'\n";
        let found: Vec<_> = coordinates(&without_comments(text)).collect();
        assert_eq!(found, [("x".to_owned(), "y".to_owned())]);
    }

    #[test]
    fn a_build_is_known_by_its_folder_its_name_and_its_group() {
        let build = |folder: &str, text: &str| Build {
            folder: PathBuf::from(folder),
            text: text.to_owned(),
            needs: Vec::new(),
        };
        assert!(build("/p/core", "").publishes("shop", "core"));
        assert!(build("/p/core", "group = 'shop'").publishes("shop", "core"));
        assert!(!build("/p/core", "group = 'other'").publishes("shop", "core"));
        assert!(build("/p/core", "group = 'other'").publishes("$group", "core"));
        assert!(build("/p/x", "rootProject.name = \"core\"").publishes("shop", "core"));
        assert!(build("/p/x", "  artifactId = 'core'").publishes("shop", "core"));
        assert!(!build("/p/x", "").publishes("shop", "core"));
    }

    #[test]
    fn an_included_build_is_used_as_it_is() {
        let builds = [Build {
            folder: PathBuf::from("/p/app"),
            text: "includeBuild('../core')\n".to_owned(),
            needs: Vec::new(),
        }];
        assert!(is_included(&builds, Path::new("/p/core")));
        assert!(!is_included(&builds, Path::new("/p/kit")));
    }
}
