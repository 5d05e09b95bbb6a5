use serde_json::json;

use super::*;

fn problems(value: &Value) -> Vec<String> {
    from_value(value).unwrap_err().iter().map(ScenarioProblem::to_string).collect()
}

#[test]
fn documents_round_trip() {
    let value = json!({"schema": 1, "epic": "1", "scenarios": [
        {"id": "S1", "criterion": "1-1-a AC1", "kind": "auto", "argv": ["cargo", "run"],
         "expect": {"exit": 2, "text": "no such user", "json": {"ok": false}}, "timeout": 5,
         "setup": [["cargo", "build"]], "cleanup": [["cargo", "--version"]]},
        {"id": "S2", "title": "Looks", "criterion": "1-1-a AC2", "kind": "manual",
         "steps": ["Open the page", "Look"], "expected": "It is blue"},
    ]});
    let document = from_value(&value).unwrap();
    assert_eq!(document.scenarios[0].expect.as_ref().unwrap().text, ["no such user"]);
    assert_eq!(document.scenarios[1].timeout, TIMEOUT);
    assert_eq!(parse(&document.to_json()).unwrap(), document);
    // A list alone is enough.
    assert_eq!(from_value(&value["scenarios"]).unwrap().scenarios, document.scenarios);
}

#[test]
fn every_invalid_field_is_reported() {
    let found = problems(&json!({"schema": 2, "other": 1, "scenarios": [
        {"id": "a b", "kind": "magic", "criterion": " ", "argv": "rm -rf /", "timeout": 0,
         "shell": true, "expect": {"exit": 256, "regex": "x", "text": [1]}},
        {"id": "S2", "criterion": "x", "kind": "auto"},
        {"id": "S2", "criterion": "x", "kind": "manual", "argv": ["cargo"]},
        {"id": "S3", "criterion": "x", "kind": "semi"},
        {"id": "S4", "criterion": "x", "kind": "auto", "argv": [""], "setup": ["cargo build"]},
        {"id": "S5", "criterion": "x", "kind": "manual", "steps": "look", "cleanup": [["cargo"]]},
        7,
    ]}));
    for place in [
        "schema:",
        "other:",
        "scenarios[0].id:",
        "scenarios[0].kind: `magic`",
        "scenarios[0].criterion:",
        "scenarios[0].argv: a list of words",
        "scenarios[0].timeout:",
        "scenarios[0].shell:",
        "scenarios[0].expect.exit:",
        "scenarios[0].expect.regex:",
        "scenarios[0].expect.text[0]:",
        "scenarios[1].argv:",
        "scenarios[2].id: `S2` is used twice",
        "scenarios[2].argv:",
        "scenarios[3].steps:",
        "scenarios[4].argv[0]:",
        "scenarios[4].setup:",
        "scenarios[5].cleanup:",
        "scenarios[6]:",
    ] {
        assert!(found.iter().any(|text| text.starts_with(place)), "{place} is missing: {found:#?}");
    }
}

#[test]
fn rejects_empty_documents() {
    for bad in
        [json!({}), json!({"scenarios": []}), json!([]), json!("x"), json!({"scenarios": {}})]
    {
        assert!(from_value(&bad).is_err(), "{bad}");
    }
    assert!(parse("{").unwrap_err()[0].rule.contains("no JSON"));
    assert!(parse(&" ".repeat(MAX_BYTES + 1)).unwrap_err()[0].rule.contains("bytes"));
    let many: Vec<Value> = (0..200).map(|_| json!({"id": ""})).collect();
    assert_eq!(from_value(&json!(many)).unwrap_err().len(), MAX_PROBLEMS + 1);
}

fn scenario(more: Value) -> Value {
    let mut whole =
        json!({"id": "S1", "criterion": "AC1", "kind": "auto", "argv": ["cargo", "test"]});
    for (name, value) in more.as_object().unwrap() {
        if value.is_null() {
            whole.as_object_mut().unwrap().remove(name);
        } else {
            whole[name] = value.clone();
        }
    }
    json!([whole])
}

#[test]
fn limits_are_exact() {
    let long = |n: usize| "x".repeat(n);
    let many = |n: usize| vec!["x"; n];
    for (fits, too_much, place) in [
        (json!({"id": long(64)}), json!({"id": long(65)}), "scenarios[0].id"),
        (json!({"title": long(1_000)}), json!({"title": long(1_001)}), "scenarios[0].title"),
        (
            json!({"criterion": long(1_000)}),
            json!({"criterion": long(1_001)}),
            "scenarios[0].criterion",
        ),
        (json!({"timeout": 600}), json!({"timeout": 601}), "scenarios[0].timeout"),
        (json!({"timeout": 1}), json!({"timeout": 0}), "scenarios[0].timeout"),
        (json!({"argv": many(64)}), json!({"argv": many(65)}), "scenarios[0].argv"),
        (
            json!({"argv": ["a", long(4_096)]}),
            json!({"argv": ["a", long(4_097)]}),
            "scenarios[0].argv[1]",
        ),
        (
            json!({"setup": vec![["a"]; 10]}),
            json!({"setup": vec![["a"]; 11]}),
            "scenarios[0].setup",
        ),
        (json!({"cleanup": [["a"]]}), json!({"cleanup": [[]]}), "scenarios[0].cleanup[0]"),
        (json!({"steps": many(30)}), json!({"steps": many(31)}), "scenarios[0].steps"),
        (
            json!({"expect": {"exit": 255}}),
            json!({"expect": {"exit": 256}}),
            "scenarios[0].expect.exit",
        ),
        (
            json!({"expect": {"exit": 0}}),
            json!({"expect": {"exit": -1}}),
            "scenarios[0].expect.exit",
        ),
        (
            json!({"expect": {"text": many(30)}}),
            json!({"expect": {"text": many(31)}}),
            "scenarios[0].expect.text",
        ),
    ] {
        assert!(
            from_value(&scenario(fits.clone())).is_ok(),
            "{fits}: {:?}",
            problems(&scenario(fits.clone()))
        );
        let found = problems(&scenario(too_much));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(&format!("{place}: ")), "{place}: {found:?}");
    }
}

#[test]
fn the_number_of_scenarios_is_limited() {
    let one =
        |n: usize| json!({"id": format!("S{n}"), "criterion": "AC", "kind": "auto", "argv": ["a"]});
    let of = |n: usize| Value::Array((0..n).map(one).collect());
    assert_eq!(from_value(&of(100)).unwrap().scenarios.len(), 100);
    assert_eq!(problems(&of(101)), ["scenarios: at most 100 are allowed"]);
    // A size is checked before anything is parsed.
    let huge = parse(&" ".repeat(MAX_BYTES + 1)).unwrap_err();
    assert_eq!(
        huge[0].to_string(),
        format!("the file: it has {} bytes, and {MAX_BYTES} are allowed", MAX_BYTES + 1)
    );
    assert!(parse("{").unwrap_err()[0].rule.starts_with("no JSON"));
}

#[test]
fn problems_are_listed_up_to_a_number() {
    let bad = json!({"id": "", "criterion": 7, "kind": "?"});
    let found = problems(&Value::Array(vec![bad; 10]));
    assert_eq!(found.len(), 21);
    assert!(found[20].starts_with("the file: more problems: "), "{}", found[20]);
}

#[test]
fn each_kind_has_its_required_fields() {
    assert_eq!(
        problems(&scenario(json!({"argv": null}))),
        ["scenarios[0].argv: an automatic scenario needs a program"]
    );
    assert_eq!(
        problems(&scenario(json!({"kind": "manual", "steps": "look"}))),
        ["scenarios[0].argv: a manual scenario starts no program"]
    );
    assert_eq!(
        problems(&scenario(json!({"kind": "semi"}))),
        ["scenarios[0].steps: what the person does is expected"]
    );
    assert!(from_value(&scenario(json!({"kind": "semi", "steps": ["look"]}))).is_ok());
    assert!(
        from_value(&scenario(json!({"kind": "manual", "argv": null, "steps": "look"}))).is_ok()
    );
    let pointless =
        json!({"kind": "manual", "argv": null, "steps": "look", "expect": {}, "setup": [["a"]]});
    assert_eq!(
        problems(&scenario(pointless)),
        [
            "scenarios[0].expect: it makes no sense without `argv`",
            "scenarios[0].setup: it makes no sense without `argv`",
        ]
    );
}

#[test]
fn words_are_texts_without_zero_bytes() {
    assert_eq!(
        problems(&scenario(json!({"argv": ["a", 7, "b\u{0}"]}))),
        [
            "scenarios[0].argv[1]: a text of at most 4096 bytes is expected",
            "scenarios[0].argv[2]: a text of at most 4096 bytes is expected",
        ]
    );
    assert_eq!(
        problems(&scenario(json!({"argv": ["  "]}))),
        ["scenarios[0].argv[0]: the name of a program is expected"]
    );
    assert_eq!(
        problems(&scenario(json!({"setup": ["cargo build"]}))),
        ["scenarios[0].setup: a list of commands is expected, each a list of words"]
    );
}

#[test]
fn texts_are_trimmed_and_numbers_are_epics() {
    let value = json!({"epic": 7, "scenarios": scenario(json!({"title": " t ", "expect": {"text": " a "}}))});
    let document = from_value(&value).unwrap();
    assert_eq!((document.epic.as_str(), document.scenarios[0].title.as_str()), ("7", "t"));
    assert_eq!(document.scenarios[0].expect.as_ref().unwrap().text, ["a"]);
    let error =
        UatError { path: "x.json".to_owned(), problems: from_value(&json!(7)).unwrap_err() };
    assert_eq!(
        error.to_string(),
        "`x.json` has no usable scenarios: the file: an object with `scenarios` is expected"
    );
}
