use super::*;

/// Texts of which every column accepts at least one.
const TEXTS: &[&str] = &[
    "s1",
    "P1",
    "active",
    "pending",
    "group",
    "research",
    "high",
    "risks",
    "architecture",
    "normal",
    "assembled",
    "package",
    "full",
    "running",
    "passed",
    "intent",
    "rewrite",
    "claude",
    "doc",
    "live",
    "outside",
    "retire",
    "rejected",
    "opened",
    r#"{"kind":"note","id":"n","at":"2026-01-02T03:04:05Z","how":"another value"}"#,
    "r_1",
    "[]",
    "{}",
    r#"{"context":{"state":"present"},"specialization":{"state":"missing"}}"#,
    r#"{"host":"h","pid":1}"#,
];

fn sample(kind: &'static Kind) -> Record {
    let value = |column: &Column| match column.holds {
        Holds::Int => Value::Int(7),
        Holds::Real => Value::Real(0.5),
        Holds::Name | Holds::Words | Holds::Json | Holds::Facts => {
            let json = matches!(column.holds, Holds::Json | Holds::Facts);
            let fits = |text: &&&str| {
                (!json || serde_json::from_str::<Json>(text).is_ok())
                    && check::is_valid(kind.name, column.name, text)
            };
            let text = TEXTS.iter().find(fits);
            let name = (kind.name, column.name);
            Value::Text((*text.unwrap_or_else(|| panic!("{name:?}"))).to_owned())
        }
    };
    Record { kind, values: kind.columns.iter().map(value).collect() }
}

fn all_kinds() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().chain([SEQUENCE])
}

#[test]
fn records_of_every_kind_survive_json() {
    for kind in all_kinds() {
        let record = sample(kind);
        assert_eq!(Record::from_json(record.to_json()).unwrap(), record);
        assert_eq!(Kind::named(kind.name), Some(kind));
        // Without the columns that may be null.
        let mut short = record.clone();
        for (column, value) in kind.columns.iter().zip(&mut short.values) {
            if column.optional {
                *value = Value::Null;
            }
        }
        assert_eq!(Record::from_json(short.to_json()).unwrap(), short);
    }
}

#[test]
fn only_private_notes_and_what_was_done_with_them_are_private() {
    let is_private = |kind: &str, column: &str, text: &str| {
        let mut record = sample(Kind::named(kind).unwrap());
        let at = record.column(column).unwrap();
        record.values[at] = Value::Text(text.to_owned());
        record.is_private()
    };
    for kind in ["note", "note_unit"] {
        assert!(is_private(kind, "kind", "conversation"), "{kind}");
        assert!(!is_private(kind, "kind", "doc"), "{kind}");
    }
    assert!(!is_private("package", "kind", "research"));
    assert!(!is_private("operation", "changes", "[]"));
    assert!(is_private("operation", "changes", "garbage"), "what cannot be read may be private");
}

#[test]
fn every_value_counts_in_the_hash() {
    for kind in all_kinds() {
        let record = sample(kind);
        let hashes: std::collections::BTreeSet<String> = (0..=record.values.len())
            .map(|at| {
                let mut other = record.clone();
                if let Some(value) = other.values.get_mut(at) {
                    *value = Value::Null;
                }
                other.hash().to_hex().to_string()
            })
            .collect();
        assert_eq!(hashes.len(), record.values.len() + 1, "{}", kind.name);
    }
    // The boundary between two values counts, too.
    let text = |one: &str, two: &str| Record {
        kind: SEQUENCE,
        values: vec![Value::Text(one.to_owned()), Value::Text(two.to_owned())],
    };
    assert_ne!(text("ab", "c").hash(), text("a", "bc").hash());
}

#[test]
fn invalid_records_are_rejected() {
    let session = Kind::named("session").unwrap();
    let json = |change: &dyn Fn(&mut Map<String, Json>)| {
        let Json::Object(mut object) = sample(session).to_json() else { panic!() };
        change(&mut object);
        Record::from_json(Json::Object(object)).unwrap_err()
    };
    let (kind, column) = ("session", "status");
    let set = |name: &'static str, value: Json| {
        json(&move |object| drop(object.insert(name.to_owned(), value.clone())))
    };
    assert_eq!(Record::from_json(Json::Null).unwrap_err(), BadRecord::Shape);
    assert_eq!(set("kind", Json::Null), BadRecord::Shape);
    assert_eq!(set("kind", "nothing".into()), BadRecord::Kind("nothing".to_owned()));
    assert_eq!(set("status", "wondering".into()), BadRecord::Value { kind, column });
    assert_eq!(set("key", "1".into()), BadRecord::Value { kind, column: "key" });
    let column = "colour".to_owned();
    assert_eq!(set("colour", "red".into()), BadRecord::Column { kind, column });
    let missing = json(&|object| drop(object.remove("id")));
    assert_eq!(missing, BadRecord::Missing { kind, column: "id" });
}

#[test]
fn only_what_can_be_retired_may_lack_a_state() {
    let without = |kind: &str, column: &str| {
        let Json::Object(mut object) = sample(Kind::named(kind).unwrap()).to_json() else {
            panic!()
        };
        object.remove(column).unwrap();
        Record::from_json(Json::Object(object))
    };
    assert_eq!(without("package", "state").unwrap().text("state"), Some("live"));
    for (kind, column) in [("package", "priority"), ("run", "state")] {
        assert_eq!(without(kind, column).unwrap_err(), BadRecord::Missing { kind, column });
    }
}

#[test]
fn only_text_of_people_is_redacted() {
    let secret = "password=correct-horse-battery";
    let reasoning = Kind::named("reasoning").unwrap();
    let mut record = sample(reasoning);
    for (column, value) in reasoning.columns.iter().zip(&mut record.values) {
        match column.holds {
            Holds::Words | Holds::Name => *value = Value::Text(secret.to_owned()),
            Holds::Json => *value = Value::Text(format!("[\"{secret}\"]")),
            Holds::Int | Holds::Real | Holds::Facts => {}
        }
    }
    let clean = CleanRecord::redacted(record.clone(), &Redactor::default());
    for ((column, before), after) in
        reasoning.columns.iter().zip(&record.values).zip(&clean.record().values)
    {
        let redacted = matches!(column.holds, Holds::Words | Holds::Json);
        assert_eq!(before != after, redacted, "{}", column.name);
    }
}

#[test]
fn digests_find_the_kind_that_differs() {
    let digest = |records: &[Record]| {
        let mut sums = DigestSums::default();
        records.iter().for_each(|record| sums.add(record));
        sums.finish()
    };
    let (session, run) = (sample(&KINDS[0]), sample(Kind::named("run").unwrap()));
    let sequence = sample(SEQUENCE);
    let all = digest(&[session.clone(), run.clone(), sequence.clone()]);
    assert_eq!(all.records(), 2, "sequences do not count");
    assert_eq!(all.difference(&all.clone()), None);
    let mut other = run;
    other.values[0] = Value::Int(8);
    assert_eq!(all.difference(&digest(&[session.clone(), other, sequence.clone()])), Some("run"));
    assert_eq!(all.difference(&digest(&[session, sequence])), Some("run"));
}

#[test]
fn messages_name_a_record_by_its_key() {
    assert_eq!(sample(Kind::named("task_group").unwrap()).name(), "task_group 7/s1");
    assert_eq!(sample(&KINDS[0]).name(), "session 7");
}
