//! `open`.

use handover_testkit::{Browser, Service};

use crate::project;

#[test]
fn open_uses_the_running_service() {
    let env = project();
    env.write("docs/a.md", "# A\n\nText.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research"]).ok();
    let service = Service::start(&env, &[]);
    let page = |word: &str| {
        let document = env.run(["open", word, "--print", "--json"]).ok().json();
        assert_eq!(document["page"]["opened"], false);
        document["page"]["url"].as_str().unwrap().strip_prefix(&service.url).unwrap().to_owned()
    };
    assert_eq!(page("overview"), "/");
    assert_eq!(page("session"), "/sessions/s1");
    assert_eq!(page("s1"), "/sessions/s1");
    assert_eq!(page("1"), "/packages/1");
    assert_eq!(page("run"), "/runs");
    assert_eq!(page("errors"), "/errors");
    let error = env.run(["open", "nothing-like-it", "--print", "--json"]).fails(2).error();
    assert_eq!(error["code"], "not_found");
    // Without a screen the address is printed.
    let printed = env.run(["open"]).ok().stdout;
    assert_eq!(printed, format!("{}/\n", service.url));
}

#[test]
fn open_starts_a_service_and_a_browser() {
    let mut env = project();
    let note = env.path("opened");
    env.write("browser.sh", format!("#!/bin/sh\necho \"$1\" > {}\n", note.display()));
    let program = env.path("browser.sh");
    std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    env.set("BROWSER", program.to_str().unwrap());
    let child = env.start(["open", "session"]);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let url = loop {
        let url = fs_err::read_to_string(&note).unwrap_or_default();
        if url.ends_with('\n') {
            break url.trim().to_owned();
        }
        assert!(std::time::Instant::now() < until, "no browser was opened");
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(url.ends_with("/sessions/s1"), "{url}");
    let browser = Browser::start();
    browser.go(&url);
    assert!(browser.text("h1").starts_with("Session s1"));
    std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    let output = env.output(child).ok();
    assert!(output.stdout.contains("Serving at"), "{output}");
}
