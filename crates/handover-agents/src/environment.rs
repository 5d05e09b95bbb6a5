//! What an agent sees of the environment: what is on the list, and nothing else.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use handover_model::Host;

/// What programs need to find themselves, their user, their language and the network. A name that
/// ends in `*` stands for every name that begins so.
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

const CLAUDE: &[&str] = &[
    "ANTHROPIC_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_*",
    "DISABLE_TELEMETRY",
    "DISABLE_AUTOUPDATER",
    "DISABLE_ERROR_REPORTING",
    "API_TIMEOUT_MS",
    "IS_SANDBOX",
];
const CODEX: &[&str] = &["OPENAI_*", "CODEX_HOME", "CODEX_API_KEY"];
const GEMINI: &[&str] = &["GEMINI_*", "GOOGLE_*"];

/// Variables by which a program knows that it runs inside another one of its kind.
const NESTING: &[&str] =
    &["CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "GEMINI_CLI"];

/// The environment of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    vars: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Of `vars`, what the host needs and what `allow` adds (a trailing `*` stands for any rest).
    pub fn scrubbed(
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        host: Host,
        allow: &[String],
    ) -> Self {
        let own = match host {
            Host::Claude => CLAUDE,
            Host::Codex => CODEX,
            Host::Gemini => GEMINI,
            Host::Command => &[],
        };
        let allowed = |name: &OsStr| {
            let asked_for = allow.iter().any(|pattern| fits(name, pattern));
            let needed = ALL.iter().chain(own).any(|pattern| fits(name, pattern));
            asked_for || needed && !NESTING.iter().any(|pattern| fits(name, pattern))
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

fn fits(name: &OsStr, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.as_encoded_bytes().starts_with(start.as_bytes()),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
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
    fn a_host_gets_its_own_keys_and_no_others() {
        assert_eq!(
            names(Host::Claude, &[]),
            ["ANTHROPIC_API_KEY", "HANDOVER_RUN", "HOME", "LC_ALL", "PATH"]
        );
        assert_eq!(
            names(Host::Codex, &[]),
            ["HANDOVER_RUN", "HOME", "LC_ALL", "OPENAI_API_KEY", "PATH"]
        );
        assert_eq!(names(Host::Command, &[]), ["HANDOVER_RUN", "HOME", "LC_ALL", "PATH"]);
    }

    #[test]
    fn the_list_can_be_extended() {
        assert_eq!(
            names(Host::Command, &["AWS_*", "SSH_AUTH_SOCK"]),
            ["AWS_SECRET_ACCESS_KEY", "HANDOVER_RUN", "HOME", "LC_ALL", "PATH", "SSH_AUTH_SOCK"]
        );
    }
}
