//! `/metrics`: the text format, the rights, and that nothing is shown that should not be.

use std::collections::BTreeMap;

use handover_model::{TokenKind, TokenScope};

use crate::fixture::{TestService, bearer};

/// One sample: its labels and its value.
type Sample = (BTreeMap<String, String>, f64);

/// Parses the text format strictly: every metric is announced before its samples, once, and every line is one of three.
fn parse(text: &str) -> BTreeMap<String, (String, Vec<Sample>)> {
    assert!(text.ends_with('\n'));
    let mut metrics: BTreeMap<String, (String, Vec<Sample>)> = BTreeMap::new();
    let mut announced = String::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            announced = help.split_once(' ').unwrap().0.to_owned();
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, announced);
            assert!(["gauge", "counter", "summary"].contains(&kind), "{line}");
            let before = metrics.insert(name.to_owned(), (kind.to_owned(), Vec::new()));
            assert!(before.is_none(), "{name} twice");
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = match series.split_once('{') {
                Some((name, rest)) => (name, rest.strip_suffix('}').unwrap()),
                None => (series, ""),
            };
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
            let labels = labels.split(',').filter(|pair| !pair.is_empty()).map(|pair| {
                let (label, value) = pair.split_once('=').unwrap();
                let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap();
                (label.to_owned(), value.to_owned())
            });
            let family = metrics.get_mut(&announced).unwrap();
            let stem =
                name.strip_suffix("_sum").or_else(|| name.strip_suffix("_count")).unwrap_or(name);
            assert!(name == announced || family.0 == "summary" && stem == announced, "{line}");
            family.1.push((labels.collect(), value.parse().unwrap()));
        }
    }
    metrics
}

#[test]
fn figures_are_in_the_text_format() {
    let service = TestService::start();
    let body = serde_json::json!({
        "text": "# Gateway\n\nThe password is hunter2sEcret\n", "kind": "research", "producer": "developer",
    });
    service.post("/api/v1/sessions/s1/packages", &body).is(200);
    let assemble = serde_json::json!({"role": "developer", "task": "the gateway"});
    service.post("/api/v1/sessions/s1/assemble", &assemble).is(200);
    let reply = service.get("/metrics").is(200);
    assert_eq!(reply.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    let metrics = parse(&reply.body);
    let one = |name: &str| metrics[name].1[0].1;
    assert_eq!((one("handover_build_info"), one("handover_packages")), (1.0, 1.0));
    let receipts: f64 = metrics["handover_receipts"].1.iter().map(|(_, value)| value).sum();
    assert_eq!(receipts, 1.0);
    assert_eq!(metrics["handover_sessions"].1[0].0["status"], "active");
    assert_eq!(metrics["handover_http_requests_total"].0, "counter");
    let ok = |text: &str| {
        let requests = &parse(text)["handover_http_requests_total"].1;
        requests.iter().find(|(labels, _)| labels["status"] == "2xx").unwrap().1
    };
    assert!(ok(&reply.body) >= 2.0);
    assert!(ok(&service.get("/metrics").is(200).body) > ok(&reply.body));
    assert!(!reply.body.contains("hunter2") && !reply.body.contains("Gateway"));
    assert!(!reply.body.contains("s1"), "no ids");
}

#[test]
fn a_token_with_any_scope_reads_the_figures_of_its_own_project() {
    let service = TestService::requiring_tokens();
    service.get("/metrics").fails(401, "unauthorized");
    let reader = service.token(TokenScope::Read);
    let mine = |token: &str| {
        let headers = [("authorization", &*bearer(token))];
        parse(&service.send("GET", "/metrics", &headers, "").is(200).body)
    };
    assert_eq!(mine(&reader)["handover_sessions"].1[0].1, 1.0);
    service.open_session(Some("garden"), "g1");
    service.open_session(Some("garden"), "g2");
    let theirs = service.token_for(TokenScope::Read, Some("garden"), TokenKind::Bearer, None);
    assert_eq!(mine(&theirs)["handover_sessions"].1[0].1, 2.0);
    assert_eq!(mine(&reader)["handover_sessions"].1[0].1, 1.0);
}
