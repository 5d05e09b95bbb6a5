//! Which settings of the user and of the repository our own git uses.
//!
//! Any agent can write the repository's configuration, and git starts the programs named in it: filters,
//! drivers, hooks, editors, helpers. So only the settings listed here are copied.

use std::fmt::Write as _;

/// A setting, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitSetting {
    scope: Scope,
    key: String,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The user's or the machine's configuration.
    User,
    /// The repository's, which agents can write.
    Repository,
}

/// Settings for how files are stored and compared; none of them names a program.
const PLAIN: &[&str] = &[
    "core.autocrlf",
    "core.bigfilethreshold",
    "core.checkroundtripencoding",
    "core.checkstat",
    "core.compression",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.loosecompression",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",
    "core.symlinks",
    "core.trustctime",
    "diff.algorithm",
    "diff.renamelimit",
    "extensions.compatobjectformat",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.preciousobjects",
    "extensions.refstorage",
    "extensions.relativeworktrees",
    "index.version",
    "merge.directoryrenames",
    "merge.renamelimit",
    "merge.renames",
    "user.email",
    "user.name",
];

/// The last words of `SECTION.NAME.LAST` settings that locate a remote.
const REMOTE: &[(&str, &[&str])] = &[
    ("remote", &["url", "pushurl", "promisor", "partialclonefilter", "proxy"]),
    ("url", &["insteadof", "pushinsteadof"]),
];

/// Settings that name programs for reaching a remote. Only the user's own are used.
const TRANSPORT: &[&str] = &["core.askpass", "core.gitproxy", "core.sshcommand", "ssh.variant"];

/// Settings of `http.*` that write a file.
const WRITING: &[&str] = &["cookiefile", "savecookies"];

impl GitSetting {
    /// Reads the output of `git config --list --show-scope -z`.
    pub(super) fn read_all(listed: &[u8]) -> Vec<Self> {
        let mut parts = listed.split(|byte| *byte == 0).map(String::from_utf8_lossy);
        let mut all = Vec::new();
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            let scope = match &*scope {
                "system" | "global" | "command" => Scope::User,
                _ => Scope::Repository,
            };
            // A name without a value means `true`.
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            all.push(Self { scope, key: key.to_owned(), value: value.to_owned() });
        }
        all
    }

    /// A setting that makes the user's checkout sparse, as `key=value`.
    pub(super) fn sparse(&self) -> Option<String> {
        const SPARSE: &[&str] = &["core.sparsecheckout", "core.sparsecheckoutcone", "index.sparse"];
        SPARSE.contains(&self.key.as_str()).then(|| format!("{}={}", self.key, self.value))
    }

    /// Whether our own git uses it.
    pub(super) fn is_allowed(&self) -> bool {
        let Some((section, rest)) = self.key.split_once('.') else { return false };
        let (middle, last) = rest.rsplit_once('.').unwrap_or(("", rest));
        PLAIN.contains(&self.key.as_str())
            || !middle.is_empty()
                && REMOTE.iter().any(|(name, ends)| *name == section && ends.contains(&last))
            || section == "http" && !WRITING.contains(&last)
            || self.scope == Scope::User
                && (section == "credential" || TRANSPORT.contains(&self.key.as_str()))
    }
}

/// The text of a configuration file with the settings that are used.
pub(super) fn config_file(settings: &[GitSetting]) -> String {
    let mut text = String::from("[core]\n\trepositoryformatversion = 0\n\tbare = false\n");
    for GitSetting { key, value, .. } in settings.iter().filter(|setting| setting.is_allowed()) {
        let Some((section, rest)) = key.split_once('.') else { continue };
        let heading = match rest.rsplit_once('.') {
            Some((middle, _)) => format!("[{section} \"{}\"]", escaped(middle)),
            None => format!("[{section}]"),
        };
        let name = rest.rsplit_once('.').map_or(rest, |(_, name)| name);
        let _ = writeln!(text, "{heading}\n\t{name} = \"{}\"", escaped(value));
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(entries: &[(&str, &str)]) -> String {
        let listed: String =
            entries.iter().map(|(scope, entry)| format!("{scope}\0{entry}\0")).collect();
        config_file(&GitSetting::read_all(listed.as_bytes()))
    }

    #[test]
    fn settings_that_name_a_program_are_ignored() {
        let programs = [
            "filter.x.clean",
            "filter.x.smudge",
            "filter.x.process",
            "filter.x.required",
            "diff.x.textconv",
            "diff.x.command",
            "diff.external",
            "merge.x.driver",
            "merge.default",
            "core.hookspath",
            "core.fsmonitor",
            "core.editor",
            "core.pager",
            "core.sshcommand",
            "core.gitproxy",
            "core.askpass",
            "core.alternaterefscommand",
            "core.attributesfile",
            "core.worktree",
            "credential.helper",
            "credential.https://example.com.helper",
            "gpg.program",
            "gpg.ssh.defaultkeycommand",
            "include.path",
            "includeif.gitdir:/.path",
            "alias.add",
            "protocol.ext.allow",
            "remote.origin.uploadpack",
            "remote.origin.receivepack",
            "remote.origin.vcs",
            "submodule.x.update",
            "submodule.recurse",
            "extensions.worktreeconfig",
            "uploadpack.packobjectshook",
            "sequence.editor",
            "trailer.x.command",
            "http.cookiefile",
        ];
        let entries = programs.map(|key| ("local", format!("{key}\n/bin/evil")));
        let entries: Vec<(&str, &str)> =
            entries.iter().map(|(scope, entry)| (*scope, entry.as_str())).collect();
        assert_eq!(config(&entries), config(&[]));
    }

    #[test]
    fn programs_that_reach_a_remote_are_the_users_own() {
        let text =
            config(&[("global", "credential.helper\nstore"), ("local", "credential.helper\nevil")]);
        assert!(text.contains("store") && !text.contains("evil"), "{text}");
    }

    #[test]
    fn kept_settings_are_written_in_gits_format() {
        let text = config(&[
            ("local", "remote.my \"odd\" one.url\nfile:///a\\b"),
            ("local", "core.ignorecase"),
            ("global", "user.name\nA \"B\"\nC"),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs_err::write(&path, text).unwrap();
        let output = std::process::Command::new("git")
            .args(["config", "--list", "-z", "--file"])
            .arg(&path)
            .output()
            .unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        let listed: Vec<&str> = listed.split('\0').collect();
        for entry in [
            "remote.my \"odd\" one.url\nfile:///a\\b",
            "core.ignorecase\ntrue",
            "user.name\nA \"B\"\nC",
            "core.bare\nfalse",
        ] {
            assert!(listed.contains(&entry), "{entry}: {listed:?}");
        }
    }
}
