//! A story that changes how it is tested says so.

use super::Epic;

#[test]
fn a_replaced_test_command_is_named_to_the_reviewer_and_in_the_record() {
    let epic = Epic::new(&["1-1-a"]);
    epic.env.write("package.json", r#"{"name":"shop","scripts":{"test":"node --test"}}"#);
    epic.commit_all("npm");
    let prompt = epic.env.folder().join("review");
    epic.script(&format!(
        "* dev * | write package.json '{{\"name\":\"shop\",\"scripts\":{{\"test\":\"true\"}}}}' write a.txt x \
         print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review * | echo-prompt {} print \"REVIEW PASSED: 1-1-a\"",
        prompt.display()
    ));
    let output = epic.run(&[]).ok();
    let named = "`scripts.test` is now \"true\"; it was \"node --test\"";
    assert!(output.stderr.contains(named), "{}", output.stderr);
    let prompt = fs_err::read_to_string(prompt).unwrap();
    let heading = "### This story changed how it is tested";
    let section = prompt.split(heading).nth(1).unwrap().split("###").next().unwrap();
    assert!(section.contains(named), "{section}");
    let status = epic.status();
    assert_eq!(
        status["stories"][0]["test_setup"],
        serde_json::json!([format!("package.json: {named}")])
    );
    let shown = epic.env.run(["status"]).ok().stdout;
    assert!(shown.contains("1-1-a changed how it is tested: package.json"), "{shown}");
    let journal = epic.env.run(["journal", "--json"]).ok().stdout;
    assert!(journal.contains("test_setup"), "{journal}");
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(
        story.contains("### Changed How It Is Tested") && story.contains("scripts.test"),
        "{story}"
    );
    let report = epic.env.run(["report", "--html", "-"]).ok().stdout;
    assert!(report.contains("changed how it is tested"), "{report}");
}

#[test]
fn ordinary_work_is_not_said_to_change_its_tests() {
    let epic = Epic::new(&["1-1-a"]);
    let prompt = epic.env.folder().join("review");
    epic.script(&format!(
        "* review * | echo-prompt {} print \"REVIEW PASSED: 1-1-a\"",
        prompt.display()
    ));
    epic.run(&[]).ok();
    assert!(!fs_err::read_to_string(prompt).unwrap().contains("changed how it is tested"));
    assert_eq!(epic.status()["stories"][0]["test_setup"], serde_json::json!([]));
}
