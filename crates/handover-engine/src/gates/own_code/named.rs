//! Files of any build tool that name the checkout by its absolute path: a composite build of Gradle, a link of
//! npm, a dependency of Python. Nothing can redirect them.

use super::{OwnCode, elsewhere, walk};
use crate::bounded;
use crate::gates::GateError;

/// Files that say where code is.
const FILES: &[&str] = &[
    "settings.gradle",
    "settings.gradle.kts",
    "build.gradle",
    "build.gradle.kts",
    "gradle.properties",
    "pom.xml",
    "package.json",
    "pnpm-workspace.yaml",
    ".npmrc",
    ".yarnrc.yml",
    "pyproject.toml",
    "requirements.txt",
    "go.mod",
];

pub(super) fn prove(own: &OwnCode<'_>) -> Result<(), GateError> {
    let checkout = own.checkout.display().to_string();
    let mut found = None;
    walk(own.folder, &mut |folder| {
        let names = |name: &&&str| {
            let text = bounded::text(&folder.join(name)).unwrap_or_default();
            names_folder(&text, &checkout)
        };
        found = FILES.iter().find(names).map(|name| folder.join(name));
        found.is_none()
    });
    match found {
        Some(file) => {
            let file = file.strip_prefix(own.folder).unwrap_or(&file).display();
            Err(elsewhere(format!("the absolute path in `{file}`"), own.checkout))
        }
        None => Ok(()),
    }
}

/// Whether a text names this folder or something inside, and not one whose name only begins the same.
fn names_folder(text: &str, folder: &str) -> bool {
    let is_end = |rest: &str| {
        !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    text.match_indices(folder).any(|(at, _)| is_end(&text[at + folder.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_folder_itself_counts() {
        for text in
            ["includeBuild('/home/me/shop/lib')", "path = \"/home/me/shop\"", "/home/me/shop"]
        {
            assert!(names_folder(text, "/home/me/shop"), "{text}");
        }
        for text in ["/home/me/shop-two", "/home/me/shop.old/x", "/home/me", ""] {
            assert!(!names_folder(text, "/home/me/shop"), "{text}");
        }
    }
}
