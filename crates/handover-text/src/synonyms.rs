//! Words of our field that mean the same: abbreviations and their long forms.
//!
//! For searches that would find nothing, or too little, with the word as it was typed. A synonym is a guess, so
//! callers weigh it less than the word itself.

use std::sync::LazyLock;

use foldhash::HashMap;

use crate::words;

/// Each line is a set of words that stand for each other. Words are stemmed before they are compared, so a line
/// has one form of each.
const GROUPS: &[&[&str]] = &[
    &["admin", "administrator"],
    &["api", "endpoint"],
    &["app", "application"],
    &["arg", "argument"],
    &["async", "asynchronous"],
    &["attr", "attribute"],
    &["auth", "authentication", "authenticate", "authenticator"],
    &["authz", "authorization", "authorize"],
    &["bool", "boolean"],
    &["buf", "buffer"],
    &["cert", "certificate"],
    &["char", "character"],
    &["cmd", "command"],
    &["cmp", "compare", "comparison"],
    &["col", "column"],
    &["config", "configuration", "settings", "conf", "cfg"],
    &["conn", "connection"],
    &["const", "constant"],
    &["creds", "credentials"],
    &["ctx", "context"],
    &["db", "database"],
    &["decl", "declaration"],
    &["def", "definition", "define"],
    &["delete", "remove", "erase"],
    &["deps", "dependency"],
    &["dest", "dst", "destination"],
    &["dev", "development"],
    &["dict", "dictionary"],
    &["dir", "directory", "folder"],
    &["doc", "documentation", "document"],
    &["elem", "element"],
    &["env", "environment"],
    &["err", "error"],
    &["exec", "execute", "execution"],
    &["expr", "expression"],
    &["ext", "extension"],
    &["fd", "descriptor"],
    &["fmt", "format", "formatter"],
    &["fn", "func", "function"],
    &["gen", "generate", "generator"],
    &["hex", "hexadecimal"],
    &["i18n", "internationalization", "translation"],
    &["id", "identifier"],
    &["idx", "index"],
    &["impl", "implementation", "implement"],
    &["info", "information"],
    &["init", "initialize", "initialization"],
    &["int", "integer"],
    &["iter", "iterator", "iterate"],
    &["k8s", "kubernetes"],
    &["l10n", "localization", "locale"],
    &["len", "length"],
    &["lib", "library"],
    &["loc", "location"],
    &["log", "logging", "logger"],
    &["login", "signin", "logon"],
    &["logout", "signout"],
    &["max", "maximum"],
    &["mem", "memory"],
    &["mgr", "manager"],
    &["min", "minimum"],
    &["misc", "miscellaneous"],
    &["msg", "message"],
    &["mutex", "lock"],
    &["nav", "navigation"],
    &["num", "number"],
    &["obj", "object"],
    &["ops", "operations"],
    &["opt", "option"],
    &["param", "parameter"],
    &["perf", "performance"],
    &["perm", "permission"],
    &["pkg", "package"],
    &["pred", "predicate"],
    &["prefs", "preferences"],
    &["prev", "previous"],
    &["proc", "process"],
    &["prod", "production"],
    &["prop", "property"],
    &["ptr", "pointer"],
    &["pwd", "passwd", "password"],
    &["ref", "reference"],
    &["regex", "regexp"],
    &["repo", "repository"],
    &["req", "request"],
    &["res", "resp", "response"],
    &["sec", "security"],
    &["sess", "session"],
    &["spec", "specification"],
    &["src", "source"],
    &["stmt", "statement"],
    &["str", "string"],
    &["sync", "synchronize", "synchronization"],
    &["sys", "system"],
    &["temp", "tmp", "temporary"],
    &["txn", "tx", "transaction"],
    &["ui", "interface", "frontend"],
    &["url", "uri", "link"],
    &["util", "utility", "helper"],
    &["val", "value"],
    &["var", "variable"],
    &["ver", "version"],
    &["ws", "websocket"],
];

static TABLE: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut table: HashMap<String, Vec<String>> = HashMap::default();
    for group in GROUPS {
        let mut terms: Vec<String> = group.iter().flat_map(|word| words::terms(word)).collect();
        terms.sort();
        terms.dedup();
        for term in &terms {
            let others = terms.iter().filter(|other| *other != term).cloned();
            table.entry(term.clone()).or_default().extend(others);
        }
    }
    table
});

/// The terms that mean the same as a term of [`words::terms`]; most have none.
pub fn of(term: &str) -> &'static [String] {
    TABLE.get(term).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn share(one: &str, other: &str) -> bool {
        let (one, other) = (words::terms(one), words::terms(other));
        of(&one[0]).contains(&other[0])
    }

    #[test]
    fn abbreviations_and_long_forms_find_each_other() {
        for (short, long) in [
            ("auth", "authentication"),
            ("db", "database"),
            ("config", "settings"),
            ("repo", "repositories"),
            ("env", "environment"),
            ("msg", "messages"),
            ("err", "errors"),
        ] {
            assert!(share(short, long) && share(long, short), "{short} {long}");
        }
        assert!(of("gargoyl").is_empty());
        assert!(!share("auth", "authorization"));
    }

    #[test]
    fn no_word_is_its_own_synonym_or_in_two_groups() {
        let mut seen = HashSet::new();
        for group in GROUPS {
            let terms: HashSet<String> = group.iter().flat_map(|word| words::terms(word)).collect();
            for term in terms {
                assert!(!of(&term).contains(&term), "{term}");
                assert!(seen.insert(term.clone()), "{term} is in two groups");
            }
        }
    }
}
