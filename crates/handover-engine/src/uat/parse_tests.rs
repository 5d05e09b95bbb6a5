use serde_json::json;

use super::*;

fn problems(value: &Value) -> Vec<String> {
    from_value(value).unwrap_err().iter().map(Problem::to_string).collect()
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
fn every_bad_field_is_named() {
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
        "scenarios[2].id: `S2` is there twice",
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
