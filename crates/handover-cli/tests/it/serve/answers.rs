//! Answering questions of runs, over the API and with a form.

use handover_testkit::Service;
use serde_json::json;

use super::{bearer, token};
use crate::runs::party::{asking, prompt};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

#[test]
fn an_answer_over_the_api_unblocks_the_run() {
    let epic = asking(&["1-1-a", "1-2-b"]);
    let service = Service::start(&epic.env, &[]);
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/runs/{run}/answers");
    let refused = |body: serde_json::Value, status: u16, code: &str| {
        let reply = service.post(&path, &body).is(status).json();
        assert_eq!(reply["error"]["code"], code, "{reply}");
    };
    refused(json!({"text": "8080"}), 409, "ambiguous");
    refused(json!({"story": "1-9-z", "text": "8080"}), 404, "not_found");
    refused(json!({"story": "1-1-a", "text": " \n "}), 400, "invalid_input");
    refused(json!({"story": "1-1-a", "text": "x".repeat(70_000)}), 400, "invalid_input");
    refused(json!({"story": "1-1-a"}), 400, "invalid_input");
    refused(json!({"story": "1-1-a", "text": "8080", "resume": true}), 400, "invalid_input");
    service.post("/api/v1/runs/run_none/answers", &json!({"text": "8080"})).is(404);
    assert_eq!(epic.states(), ["blocked", "blocked"]);

    let response =
        service.post(&path, &json!({"story": "1-1-a", "text": " Use 8080. "})).is(200).json();
    assert_eq!(
        response,
        json!({"schema": 1, "answer": {"run": run, "story": "1-1-a", "question": "Which port for 1-1-a?"}})
    );
    refused(json!({"story": "1-1-a", "text": "again"}), 404, "not_found");
    // The only open question needs no story, and the command line agrees.
    let open = epic.env.run(["answer", "--json"]).ok().json();
    assert_eq!(open["questions"].as_array().unwrap().len(), 1, "{open}");
    service.post(&path, &json!({"text": "Use 9090. password=hunter2secret"})).is(200);
    refused(json!({"text": "again"}), 404, "not_found");
    assert!(!epic.env.run(["journal"]).ok().stdout.contains("hunter2secret"));

    epic.run(&["--resume"]).ok();
    assert_eq!(epic.states(), ["done", "done"]);
    assert!(prompt(&epic, "1-1-a.dev.2..").contains("Use 8080."));
    assert!(prompt(&epic, "1-2-b.dev.2..").contains("Use 9090."));
}

#[test]
fn answering_requires_write_scope() {
    let epic = asking(&["1-1-a"]);
    let run = epic.status()["id"].as_str().unwrap().to_owned();
    let (reads, writes) = (token(&epic.env, "read", &[]), token(&epic.env, "write", &[]));
    let service = Service::start(&epic.env, &["--require-token"]);
    let (page, form) = (format!("/runs/{run}"), format!("/runs/{run}/answers"));
    let shown = |token: &str| {
        service.send("GET", &page, &[("authorization", &bearer(token))], "").is(200).body
    };
    assert!(shown(&reads).contains("Which port") && !shown(&reads).contains("<textarea"));
    assert!(shown(&writes).contains("<textarea"));

    let form_token = |page: &str| {
        let field = page.split_once("name=\"token\" value=\"").unwrap().1;
        field.split_once('"').unwrap().0.to_owned()
    };
    let ours = form_token(&shown(&writes));
    assert!(!shown(&reads).contains("name=\"token\""));
    let text = &format!("story=1-1-a&text=Use+8080.%0D%0AOnly+there.&token={ours}");
    let by = |token: &str| [FORM, ("authorization", token)].map(|(a, b)| (a, b.to_owned()));
    let send = |headers: &[(&str, String)], path: &str| {
        let headers: Vec<(&str, &str)> = headers.iter().map(|(a, b)| (*a, b.as_str())).collect();
        service.send("POST", path, &headers, text)
    };
    send(&by(&bearer(&reads)), &form).is(403);
    send(&[(FORM.0, FORM.1.to_owned())], &form).is(401);
    let cookie = ("cookie", format!("handover_token={writes}"));
    let elsewhere = ("origin", "http://evil.example".to_owned());
    send(&[(FORM.0, FORM.1.to_owned()), cookie.clone(), elsewhere], &form).is(403);
    send(&[(FORM.0, FORM.1.to_owned()), cookie.clone()], &form).is(403);
    send(&by(&bearer(&writes)), "/runs/run_none/answers").is(404);
    // The token of another caller's page, and none.
    let other = token(&epic.env, "write", &[]);
    send(&by(&bearer(&other)), &form).is(403);
    let plain = [FORM, ("authorization", &*bearer(&writes))];
    service.send("POST", &form, &plain, "story=1-1-a&text=8080").is(403);
    let body = json!({"text": "8080"}).to_string();
    let json = [("content-type", "application/json"), ("authorization", &*bearer(&reads))];
    service.send("POST", &format!("/api/v1/runs/{run}/answers"), &json, &body).is(403);
    assert_eq!(epic.states(), ["blocked"]);

    let ours = ("origin", service.url.clone());
    let done = send(&[(FORM.0, FORM.1.to_owned()), cookie, ours], &form).is(303);
    assert_eq!(done.header("location"), format!("/runs/{run}#answers"));
    assert!(shown(&reads).contains("handover run 1 --resume"));
    let again = send(&by(&bearer(&writes)), &form).is(400);
    assert!(again.body.contains("no question is open for story `1-1-a`"), "{}", again.body);
    epic.run(&["--resume"]).ok();
    assert!(prompt(&epic, "1-1-a.dev.2..").contains("Use 8080.\nOnly there."));
}
