//! The environment of an agent: an allowlist, and nothing else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// What programs need to find their files, the user, the locale and the network. A trailing `*` matches
/// any suffix.
const ALL: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "TERM",
    "TMPDIR",
    "XDG_*",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "PNPM_HOME",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_GLOBAL",
    "HANDOVER_*",
];

/// Variables by which a program detects that it is nested inside another instance.
const NESTING: &[&str] =
    &["CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "GEMINI_CLI"];

/// The environment of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    vars: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Selects from `vars` what every program needs, what this program needs, and what `allow` adds (a
    /// trailing `*` matches any suffix).
    pub(crate) fn allowed(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        own: &[&str],
        allow: &[String],
    ) -> Self {
        let allowed = |name: &OsStr| {
            let configured = allow.iter().any(|pattern| matches(name, pattern));
            let needed = ALL.iter().chain(own).any(|pattern| matches(name, pattern));
            configured || needed && !NESTING.iter().any(|pattern| matches(name, pattern))
        };
        Self { vars: vars.into_iter().filter(|(name, _)| allowed(name)).collect() }
    }

    /// Sets a variable.
    pub fn set(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.vars.insert(name.into(), value.into());
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.vars.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// Every variable, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.vars.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn matches(name: &OsStr, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use handover_model::Host;

    use super::*;

    fn names(host: Host, allow: &[&str]) -> Vec<String> {
        let vars = [
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "GITHUB_TOKEN",
            "HANDOVER_RUN",
            "HOME",
            "LC_ALL",
            "OPENAI_API_KEY",
            "PATH",
            "SSH_AUTH_SOCK",
        ];
        let vars = vars.map(|name| (name.into(), "x".into()));
        let allow: Vec<String> = allow.iter().map(|&name| name.to_owned()).collect();
        let environment = Environment::scrubbed(vars, host, &allow);
        environment.iter().map(|(name, _)| name.display().to_string()).collect()
    }

    #[test]
    fn passes_on_only_the_keys_of_the_host() {
        assert_eq!(
            names(Host::CLAUDE, &[]),
            ["ANTHROPIC_API_KEY", "HANDOVER_RUN", "HOME", "LC_ALL", "PATH"]
        );
        assert_eq!(
            names(Host::CODEX, &[]),
            ["HANDOVER_RUN", "HOME", "LC_ALL", "OPENAI_API_KEY", "PATH"]
        );
        assert_eq!(names(Host::COMMAND, &[]), ["HANDOVER_RUN", "HOME", "LC_ALL", "PATH"]);
    }

    #[test]
    fn the_allowlist_can_be_extended() {
        assert_eq!(
            names(Host::COMMAND, &["AWS_*", "SSH_AUTH_SOCK"]),
            ["AWS_SECRET_ACCESS_KEY", "HANDOVER_RUN", "HOME", "LC_ALL", "PATH", "SSH_AUTH_SOCK"]
        );
    }

    #[test]
    fn a_configured_name_overrides_the_nesting_rule() {
        let nested = names(Host::CLAUDE, &["CLAUDE_CODE_ENTRYPOINT"]);
        assert!(nested.contains(&"CLAUDE_CODE_ENTRYPOINT".to_owned()), "{nested:?}");
        assert!(!names(Host::CLAUDE, &[]).contains(&"CLAUDE_CODE_ENTRYPOINT".to_owned()));
    }

    #[test]
    fn variables_can_be_set_read_and_replaced() {
        let mut environment = Environment::default();
        assert_eq!(environment.get("A"), None);
        environment.set("B", "2");
        environment.set("A", "1");
        environment.set("B", "3");
        let all: Vec<_> = environment.iter().collect();
        assert_eq!(all, [("A".as_ref(), "1".as_ref()), ("B".as_ref(), OsStr::new("3"))]);
        assert_eq!(environment.get("B"), Some(OsStr::new("3")));
    }

    #[test]
    fn patterns_match_whole_names_or_prefixes() {
        for (name, pattern, expected) in [
            ("LC_ALL", "LC_*", true),
            ("LC_", "LC_*", true),
            ("LANG", "LC_*", false),
            ("HOME", "HOME", true),
            ("HOMEX", "HOME", false),
            ("ANYTHING", "*", true),
        ] {
            assert_eq!(matches(OsStr::new(name), pattern), expected, "{name} {pattern}");
        }
    }
}
