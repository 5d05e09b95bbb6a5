//! Many engines, many stories.

use super::{Epic, story};

#[test]
fn rejects_a_second_engine() {
    let epic = Epic::new(&["1-1-a"]);
    let (ready, go) = (epic.env.folder().join("ready"), epic.env.folder().join("go"));
    epic.script(&format!(
        "* dev 1 | write a.txt b write {} x wait-for {} print \"IMPLEMENTATION COMPLETE: 1-1-a\"",
        ready.display(),
        go.display()
    ));
    let first = epic.env.start(epic.args(&[]));
    while !ready.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for more in [&["--json"][..], &["--json", "--resume"]] {
        assert_eq!(epic.run(more).fails(5).error()["code"], "locked");
    }
    assert_eq!(epic.status()["state"], "running");
    fs_err::write(&go, "").unwrap();
    epic.env.output(first).ok();
    assert_eq!(epic.states(), ["done"]);
}

#[test]
fn runs_eight_epics_concurrently() {
    let epic = Epic::new(&[]);
    for n in 1..=8 {
        for s in 1..=2 {
            let id = format!("{n}-{s}-x");
            epic.env.write(&format!("docs/stories/{id}.md"), story(&id));
        }
    }
    epic.commit_all("stories");
    let agent = epic.agent();
    let outputs = epic.env.at_once(8, |n| {
        ["run", &(n + 1).to_string(), "--agent-command", &agent].map(str::to_owned).to_vec()
    });
    for output in outputs {
        output.ok();
    }
    for n in 1..=8 {
        assert_eq!(epic.subjects(&format!("handover/epic-{n}")).len(), 2, "{n}");
    }
}

#[test]
fn thirty_stories_do_not_make_prompts_grow() {
    let ids: Vec<String> = (1..=30).map(|n| format!("1-{n}-x")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let epic = Epic::new(&ids);
    let prompts = epic.env.folder().join("prompts");
    fs_err::create_dir_all(&prompts).unwrap();
    let thoughts = "a long thought ".repeat(40);
    epic.script(&format!(
        "* dev 1 | echo-prompt {}/{{HANDOVER_STORY}} write {{HANDOVER_STORY}}.txt x result '{{\"nonce\":\"{{HANDOVER_NONCE}}\",\"story\":\"{{HANDOVER_STORY}}\",\"phase\":\"dev\",\"verdict\":\"complete\",\"reasoning\":{{\"decisions\":\"{thoughts}\",\"completion\":\"{thoughts}\"}}}}'",
        prompts.display()
    ));
    epic.run(&[]).ok();
    let size = |id: &str| fs_err::metadata(prompts.join(id)).unwrap().len();
    let sizes: Vec<u64> = ids.iter().map(|id| size(id)).collect();
    let (first, most) = (sizes[0], *sizes.iter().max().unwrap());
    assert!(most < first + 8_000, "{sizes:?}");
}
