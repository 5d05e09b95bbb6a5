//! The filters: `redact` and `tokens`.

use serde_json::{Value, json};

use crate::empty;

#[test]
fn redact_filters_outside_a_project() {
    let env = empty();
    let input = b"+\xffpassword=correct-horse-battery\r\n \ttail";
    let output = env.run_with(input, ["redact"]).ok();
    assert!(output.stdout.contains("password=[REDACTED-1]\r\n \ttail"), "{output}");
    assert_eq!(env.run_with("", ["redact"]).ok().stdout, "");
    let plain = "nothing to hide\n\n";
    assert_eq!(env.run_with(plain, ["redact"]).ok().stdout, plain);
}

#[test]
fn redact_reports_offsets() {
    let env = empty();
    let lines = "{\"text\": \"é password=correct-horse-battery and password=correct-horse-battery\"}\n\n{\"text\": \"fine\"}\n";
    let output = env.run_with(lines, ["redact", "--jsonl"]).ok();
    let answers: Vec<Value> =
        output.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[0]["text"], "é password=[REDACTED-1] and password=[REDACTED-1]");
    let redactions = answers[0]["redactions"].as_array().unwrap();
    assert_eq!((&redactions[0]["start"], &redactions[0]["end"]), (&json!(12), &json!(33)));
    assert_eq!(redactions.len(), 2);
    assert_eq!(answers[1], json!({"schema": 1, "text": "fine", "redactions": []}));
    let error = env.run_with("{\"text\": \"a\"}\n{", ["redact", "--jsonl", "--json"]).fails(2);
    assert!(error.stderr.contains("line 2"), "{error}");
    let one = env.run_with("password=correct-horse-battery", ["redact", "--json"]).ok().json();
    assert_eq!(one["redactions"][0]["rule"], "assignment");
}

#[test]
fn counts_tokens_for_a_model() {
    let env = empty();
    let text = "Hello, world! fn main() {}\n";
    assert_eq!(env.run_with(text, ["tokens", "--model", "gpt-4o"]).ok().stdout, "8\n");
    let exact = env.run_with(text, ["tokens", "--model", "gpt-4o", "--json"]).ok().json();
    assert_eq!(exact, json!({"schema": 1, "tokens": 8, "tokenizer": "o200k", "exact": true}));
    let claude = env.run_with(text, ["tokens", "--model", "opus", "--json"]).ok().json();
    assert_eq!(claude["exact"], false);
    assert!(claude["tokens"].as_u64().unwrap() >= 8);
    let lines = "{\"text\": \"\"}\n{\"text\": \"a b\"}\n";
    let output = env.run_with(lines, ["tokens", "--jsonl"]).ok();
    let first: Value = serde_json::from_str(output.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((output.stdout.lines().count(), &first["tokens"]), (2, &json!(0)));
    env.run_with("{\"txt\": 1}", ["tokens", "--jsonl"]).fails(2);
}
