//! Version guards: `<!-- version: spring-boot >= 3.0, java >= 17 -->`.

use std::cmp::Ordering;

use crate::stack::{Version, View, canonical};

/// A guard: every condition must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guard {
    conditions: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    name: String,
    operator: Operator,
    bound: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    AtLeast,
    Above,
    AtMost,
    Below,
    Equal,
}

/// Longer ones first: `>=` begins with `>`.
const OPERATORS: &[(&str, Operator)] = &[
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    (">", Operator::Above),
    ("<", Operator::Below),
    ("=", Operator::Equal),
];

/// A comment that begins or ends a guard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// `<!-- version: … -->`
    Begin(Result<Guard, String>),
    /// `<!-- /version -->`
    End,
}

/// The guard mark in a comment, if it is one.
pub(super) fn mark(comment: &str) -> Option<Mark> {
    let inside = comment.strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    if matches!(inside, "/version" | "/ version" | "end version") {
        return Some(Mark::End);
    }
    let conditions = inside.strip_prefix("version")?.trim_start().strip_prefix(':')?;
    Some(Mark::Begin(Guard::parse(conditions)))
}

impl Guard {
    /// Parses `python >= 3.12, django < 5`.
    fn parse(text: &str) -> Result<Self, String> {
        let conditions = text.split(',').map(Condition::parse).collect::<Result<_, _>>()?;
        Ok(Self { conditions })
    }

    /// Whether the guarded text is shown. An unknown version counts as the newest: of a pair `>= 3` and `< 3`
    /// only the first is shown.
    pub(super) fn holds(&self, view: &View) -> bool {
        self.conditions.iter().all(|condition| condition.holds(view))
    }
}

impl Condition {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some(at) = text.find(['<', '>', '=']) else {
            return Err(format!("`{}` compares nothing", shown(text)));
        };
        let (name, rest) = text.split_at(at);
        let name = name.trim();
        let allowed =
            |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '+' | '#' | ' ');
        if name.is_empty() || !name.chars().all(allowed) {
            return Err(format!("`{}` has no name before its operator", shown(text)));
        }
        let found = OPERATORS.iter().find(|(sign, _)| rest.starts_with(sign));
        let Some((sign, operator)) = found else {
            return Err(format!("`{}` has no operator; >=, >, <=, <, == exist", shown(text)));
        };
        let name = canonical(name);
        let version = rest[sign.len()..].trim();
        match Version::strict(&name, version) {
            Some(bound) => Ok(Self { name, operator: *operator, bound }),
            None => Err(format!("`{}` is no version", shown(version))),
        }
    }

    fn holds(&self, view: &View) -> bool {
        match view.version(&self.name) {
            None => matches!(self.operator, Operator::AtLeast | Operator::Above),
            Some(version) => {
                let order = version.against(&self.bound);
                match self.operator {
                    Operator::AtLeast => order != Ordering::Less,
                    Operator::Above => order == Ordering::Greater,
                    Operator::AtMost => order != Ordering::Greater,
                    Operator::Below => order == Ordering::Less,
                    Operator::Equal => order == Ordering::Equal,
                }
            }
        }
    }
}

fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use handover_model::Category;

    use super::*;
    use crate::stack::Item;

    fn view(versions: &[(&str, Option<&str>)]) -> View {
        let item = |(name, version): &(&str, Option<&str>)| Item {
            name: (*name).to_owned(),
            category: Category::Framework,
            version: version.map(str::to_owned),
            ecosystem: None,
            evidence: Vec::new(),
        };
        View { component: None, items: versions.iter().map(item).collect() }
    }

    #[track_caller]
    fn holds(guard: &str, versions: &[(&str, Option<&str>)]) -> bool {
        let comment = format!("<!-- version: {guard} -->");
        let Some(Mark::Begin(guard)) = mark(&comment) else { panic!("{comment}") };
        guard.unwrap().holds(&view(versions))
    }

    #[test]
    fn evaluates_operators() {
        for (guard, version, expected) in [
            ("python >= 3.10", "3.10", true),
            ("python >= 3.10", "3.9", false),
            ("python > 3.10", "3.10", false),
            ("python > 3.10", "3.11", true),
            ("python <= 3.10", "3.10", true),
            ("python <= 3.10", "3.11", false),
            ("python < 3.10", "3.9", true),
            ("python < 3.10", "3.10", false),
            ("python == 3.10", "3.10", true),
            ("python = 3.10", "3.10", true),
            ("python == 3", "3.10", true),
            ("python == 3.10", "3.11", false),
            ("PYTHON>=3.10", "3.12", true),
            ("  python   >=   3.10  ", "3.12", true),
            ("python >= 3.x", "3.12", true),
            ("python >= v3", "3.12", true),
        ] {
            assert_eq!(holds(guard, &[("python", Some(version))]), expected, "{guard} {version}");
        }
    }

    #[test]
    fn compares_hyphenated_and_alternative_names() {
        for guard in
            ["spring-boot >= 3.0", "spring_boot >= 3", "springboot >= 3", "Spring Boot >= 3"]
        {
            assert!(holds(guard, &[("spring-boot", Some("3.2"))]), "{guard}");
            assert!(!holds(guard, &[("spring-boot", Some("2.7"))]), "{guard}");
        }
        for name in ["react-native", "github-actions", "openid-connect"] {
            assert!(!holds(&format!("{name} >= 2"), &[(name, Some("1.9"))]), "{name}");
        }
        assert!(!holds("py >= 3.12", &[("python", Some("3.9"))]));
        assert!(!holds("c++ >= 20", &[("cpp", Some("17"))]));
        assert!(!holds("next.js >= 14", &[("nextjs", Some("13.4"))]));
        assert!(!holds("k8s >= 1.29", &[("kubernetes", Some("1.25"))]));
        assert!(!holds(".net >= 8", &[("dotnet", Some("6.0"))]));
    }

    #[test]
    fn all_conditions_must_hold() {
        let both = "spring-boot >= 3.0, java >= 17";
        assert!(holds(both, &[("spring-boot", Some("3.1")), ("java", Some("21"))]));
        assert!(!holds(both, &[("spring-boot", Some("3.1")), ("java", Some("11"))]));
        assert!(!holds(both, &[("spring-boot", Some("2.7")), ("java", Some("21"))]));
    }

    #[test]
    fn java_eight_equals_one_point_eight() {
        for written in ["1.8", "8", "8.0"] {
            assert!(holds("java >= 8", &[("java", Some(written))]), "{written}");
            assert!(holds("java >= 1.8", &[("java", Some(written))]), "{written}");
            assert!(holds("java < 11", &[("java", Some(written))]), "{written}");
        }
        assert!(!holds("java <= 1.8", &[("java", Some("17"))]));
    }

    #[test]
    fn unknown_version_shows_only_the_newer_branch() {
        for versions in [&[("python", None)][..], &[]] {
            assert!(holds("python >= 3.12", versions) && holds("python > 3.11", versions));
            assert!(!holds("python < 3.12", versions) && !holds("python <= 3.11", versions));
            assert!(!holds("python == 3.11", versions));
            assert!(!holds("python >= 3.8, python < 3.12", versions));
        }
    }

    #[test]
    fn reports_invalid_guards() {
        for (guard, complaint) in [
            ("jwt >= rfc9068", "`rfc9068` is no version"),
            ("bcrypt < argon2", "`argon2` is no version"),
            ("python", "`python` compares nothing"),
            ("", "`` compares nothing"),
            (">= 3", "`>= 3` has no name before its operator"),
            ("python >= 3.10,", "`` compares nothing"),
            ("python => 3", "`> 3` is no version"),
            ("python ! 3", "`python ! 3` compares nothing"),
        ] {
            let Some(Mark::Begin(found)) = mark(&format!("<!-- version: {guard} -->")) else {
                panic!("{guard}")
            };
            assert_eq!(found.unwrap_err(), complaint, "{guard}");
        }
        assert_eq!(mark("<!-- style: uses_lombok -->"), None);
        assert_eq!(mark("<!-- versions: x -->"), None);
        assert_eq!(mark("<!--/version-->"), Some(Mark::End));
    }
}
