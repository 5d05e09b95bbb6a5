//! Files that set tool versions: asdf, mise, SDKMAN, nvm, pyenv, rustup and similar tools.

use super::scan::lines;
use super::{Manifest, toml_version};
use crate::stack::catalog;

/// Files that contain only one version.
const PLAIN: &[(&str, &str)] = &[
    (".python-version", "python"),
    ("runtime.txt", "python"),
    (".nvmrc", "nodejs"),
    (".node-version", "nodejs"),
    (".ruby-version", "ruby"),
    (".go-version", "go"),
    (".java-version", "java"),
    (".swift-version", "swift"),
    (".php-version", "php"),
    (".bun-version", "bun"),
    (".terraform-version", "terraform"),
    (".opentofu-version", "opentofu"),
    (".elixir-version", "elixir"),
];

pub(super) fn read(manifest: &mut Manifest<'_>) {
    let name = manifest.name();
    match name {
        ".tool-versions" => pairs(manifest, char::is_whitespace),
        ".sdkmanrc" => pairs(manifest, |c| c == '='),
        ".mise.toml" | "mise.toml" => {
            let file = manifest.toml();
            for (tool, value) in file.get("tools").and_then(|v| v.as_table()).into_iter().flatten()
            {
                let first = value.as_array().and_then(|list| list.first());
                let version = toml_version(first.unwrap_or(value)).map(str::to_owned);
                hint(manifest, tool, version.as_deref());
            }
        }
        "rust-toolchain.toml" => toolchain(manifest),
        // The old form is a single word, the new one is the same as `.toml`.
        "rust-toolchain" if manifest.text.contains('[') => toolchain(manifest),
        "rust-toolchain" => manifest.hint("rust", name, Some(manifest.text)),
        _ => {
            let first = lines(manifest.text, "#").next();
            if let Some((_, technology)) = PLAIN.iter().find(|(file, _)| *file == name) {
                manifest.hint(technology, name, first);
            }
        }
    }
}

fn toolchain(manifest: &mut Manifest<'_>) {
    let file = manifest.toml();
    let channel = file.get("toolchain").and_then(|t| t.get("channel")).and_then(|v| v.as_str());
    // `nightly-2024-05-01` is a date.
    let channel = channel.filter(|channel| channel.starts_with(char::is_numeric));
    manifest.hint("rust", "toolchain.channel", channel);
}

/// One tool and its version per line.
fn pairs(manifest: &mut Manifest<'_>, separator: fn(char) -> bool) {
    for line in lines(manifest.text, "#") {
        if let Some((tool, version)) = line.split_once(separator) {
            hint(manifest, tool.trim(), version.split_whitespace().next());
        }
    }
}

fn hint(manifest: &mut Manifest<'_>, tool: &str, version: Option<&str>) {
    // Tools may be qualified: `core:python`, `npm:prettier`.
    let plain = tool.strip_prefix("core:").unwrap_or(tool);
    if let Some(technology) = catalog::known(plain) {
        manifest.hint(technology, tool, version);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn plain_files_hold_one_version() {
        for (file, technology) in super::PLAIN {
            check(file, "# pinned\n\n 1.2.3 \n4.5\n", &[&format!("?{technology} 1.2.3 ({file})")]);
        }
        check(".nvmrc", "", &["?nodejs (.nvmrc)"]);
    }

    #[test]
    fn tools_are_known_by_any_spelling() {
        check(
            ".tool-versions",
            "# tools\npython 3.12.3 3.11.0\nnodejs 20.11.0\ncore:golang\t1.22\nunheard-of 1\nterraform\n",
            &["?python 3.12.3 (python)", "?nodejs 20.11.0 (nodejs)", "?go 1.22 (core:golang)"],
        );
        check(
            ".sdkmanrc",
            "# sdk\njava=17.0.2-tem\nkotlin = 2.0\nodd\n",
            &["?java 17.0.2-tem (java)", "?kotlin 2.0 (kotlin)"],
        );
    }

    #[test]
    fn mise_knows_lists_and_tables() {
        let text = "[tools]\nnode = '22'\npython = ['3.12', '3.11']\njava = { version = '21' }\n'npm:prettier' = '3'\nruby = []\n";
        for name in ["mise.toml", ".mise.toml"] {
            check(
                name,
                text,
                &["?nodejs 22 (node)", "?python 3.12 (python)", "?java 21 (java)", "?ruby (ruby)"],
            );
        }
    }

    #[test]
    fn toolchains_have_two_forms() {
        let table = "[toolchain]\nchannel = '1.85.0'\n";
        check("rust-toolchain.toml", table, &["?rust 1.85.0 (toolchain.channel)"]);
        check("rust-toolchain", table, &["?rust 1.85.0 (toolchain.channel)"]);
        check("rust-toolchain", "1.84\n", &["?rust 1.84 (rust-toolchain)"]);
        for channel in ["stable", "nightly-2024-05-01"] {
            let text = format!("[toolchain]\nchannel = '{channel}'\n");
            check("rust-toolchain.toml", &text, &["?rust (toolchain.channel)"]);
        }
    }
}
