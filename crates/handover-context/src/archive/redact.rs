//! Applies the present redaction rules to what is stored already.
//!
//! Hashes stay as they are: that of a receipt is the hash of the prompt as it was delivered, that of a
//! package the hash of its file.

use std::collections::BTreeMap;

use handover_store::archive::{CleanRecord, Holds, Record, Value};
use handover_store::{Result, Store};
use handover_text::Redactor;

/// What redaction finds in a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redacted {
    /// How many records it changes, by kind.
    pub records: BTreeMap<&'static str, u64>,
    /// How many secrets it finds in them, by rule.
    pub rules: BTreeMap<String, u64>,
}

impl Redacted {
    /// The number of records that change.
    pub fn total(&self) -> u64 {
        self.records.values().sum()
    }
}

/// Whether the store is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Only looks.
    DryRun,
    /// Writes, all or nothing.
    Apply,
}

/// Redacts every text of a store by the present rules, in one transaction; the text index is rebuilt.
pub fn redact(store: &dyn Store, redactor: &Redactor, mode: Mode) -> Result<Redacted> {
    let work = |store: &dyn Store| {
        let (mut found, mut changes) = (Redacted::default(), Vec::new());
        store.each_record(&mut |kept| {
            let before = kept.record();
            let after = CleanRecord::redacted(before.clone(), redactor);
            if after.record() != before {
                *found.records.entry(before.kind.name).or_default() += 1;
                count(before, redactor, &mut found.rules);
                changes.push((before.clone(), after));
            }
            Ok(())
        })?;
        if mode == Mode::DryRun || changes.is_empty() {
            return Ok(found);
        }
        for (before, after) in &changes {
            store.replace_record(before, after)?;
        }
        if changes.iter().any(|(before, _)| before.kind.is_indexed()) {
            store.reindex(None)?;
        }
        Ok(found)
    };
    match mode {
        Mode::DryRun => store.reading(work),
        Mode::Apply => store.writing(work),
    }
}

fn count(record: &Record, redactor: &Redactor, rules: &mut BTreeMap<String, u64>) {
    for (column, value) in record.kind.columns.iter().zip(&record.values) {
        if let (Holds::Words | Holds::Json, Value::Text(text)) = (column.holds, value) {
            for finding in redactor.find(text) {
                *rules.entry(finding.rule).or_default() += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use handover_model::config::{ExtraRule, RedactionConfig};
    use handover_store::{PackageFilter, Packages};

    use super::*;
    use crate::search::{Query, search};
    use crate::testing::{TestProject, at};

    fn with_rule() -> Redactor {
        let rule = ExtraRule { name: "ticket".to_owned(), pattern: "TICKET-[0-9]+".to_owned() };
        Redactor::new(&RedactionConfig { rules: vec![rule], ..RedactionConfig::default() }).unwrap()
    }

    fn project() -> TestProject {
        let project = TestProject::new();
        project.register(project.package(
            "a.md",
            "about TICKET-4711",
            "see TICKET-4711 for dragons",
        ));
        project.register(project.package("b.md", "harmless", "harmless"));
        project
    }

    #[test]
    fn a_dry_run_counts_and_changes_nothing() {
        let project = project();
        let found = redact(&project.store, &with_rule(), Mode::DryRun).unwrap();
        assert_eq!(found.records.get("package"), Some(&1));
        assert_eq!(found.records.get("package_body"), Some(&1));
        assert_eq!(found.rules.get("ticket"), Some(&2));
        let first = project.store.packages(&project.session, &PackageFilter::default()).unwrap();
        assert!(first.iter().any(|package| package.summary.contains("TICKET-4711")));
    }

    #[test]
    fn rules_apply_to_what_is_stored_and_indexed() {
        let project = project();
        let applied = redact(&project.store, &with_rule(), Mode::Apply).unwrap();
        assert_eq!(applied, redact(&self::project().store, &with_rule(), Mode::DryRun).unwrap());
        // Nothing is left for a second time.
        assert_eq!(redact(&project.store, &with_rule(), Mode::Apply).unwrap().total(), 0);
        let config = handover_model::config::AssemblyConfig::default();
        let hits = |text| {
            let query = Query {
                session: &project.session,
                group: None,
                text,
                limit: 9,
                config: &config,
                now: at(0),
            };
            search(&project.store, &query).unwrap().len()
        };
        assert_eq!((hits("4711"), hits("dragons")), (0, 1));
        let checks = handover_store::Store::check(&project.store).unwrap();
        assert!(checks.iter().all(|check| check.problems.is_empty()), "{checks:?}");
    }
}
