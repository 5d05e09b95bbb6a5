//! What a later run knows of the stories that earlier ones have finished.

use super::Epic;

/// Run 1 finishes 1-1 and 1-3, in words and in a result; run 2 does 1-2 and looks back on all.
#[test]
fn a_later_run_knows_what_earlier_ones_did() {
    let epic = Epic::new(&["1-1-a", "1-2-b", "1-3-c"]);
    let folder = epic.env.folder();
    let result = r#"{"nonce":"{HANDOVER_NONCE}","story":"1-3-c","phase":"dev","verdict":"complete","summary":"The third_part.","decisions":["rows are *never* deleted"],"tests":["keeps_rows"]}"#;
    let first = format!(
        "1-1-a dev * | write a.txt x print \"I looked around.\" print \"\" print \"The first part works.\" print \"\" print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         1-3-c dev * | write c.txt x result '{result}'\n"
    );
    epic.script(&format!(
        "1-2-b dev * | print \"IMPLEMENTATION BLOCKED: 1-2-b - no key\"\n{first}"
    ));
    epic.run(&[]).fails(3);
    assert_eq!(epic.states(), ["done", "blocked", "done"]);
    let story = epic.git(&["show", "handover/epic-1:docs/stories/1-1-a.md"]);
    assert!(story.contains("### Implementation Summary\n\n> The first part works."), "{story}");
    let (dev, retro) = (folder.join("dev"), folder.join("retro"));
    epic.script(&format!(
        "1-2-b dev * | echo-prompt {} write b.txt x print \"IMPLEMENTATION COMPLETE: 1-2-b\"\n\
         * retro * | echo-prompt {} print \"RETRO COMPLETE: Epic 1\"\n",
        dev.display(),
        retro.display()
    ));
    epic.run(&["--retro"]).ok();
    let dev = fs_err::read_to_string(dev).unwrap();
    let (_, known) = dev.split_once("### What earlier stories of this epic did").expect(&dev);
    for part in [
        "Built: The first part works.",
        "Built: The third_part.",
        "Decided: rows are *never* deleted",
        "Tests: keeps_rows",
        "Files: c.txt",
    ] {
        assert!(known.contains(part), "{part}\n{known}");
    }
    let retro = fs_err::read_to_string(retro).unwrap();
    assert!(retro.contains("Epic 1: 3 stories, 3 done."), "{retro}");
    assert!(
        retro.contains("State: done by an earlier run\nBuilt: The first part works."),
        "{retro}"
    );
    let handoff = epic.git(&["show", "handover/epic-1:docs/handoffs/epic-1-handoff.md"]);
    assert!(handoff.contains("3 of 3 stories are done"), "{handoff}");
    assert!(handoff.contains("stories_done: 3\n"), "{handoff}");
    let written = epic.git(&["show", "handover/epic-1:docs/sprints/epic-1-retro.md"]);
    assert!(written.contains("| 1-1-a | done | 0 | 0.0000 | in an earlier run |"), "{written}");
}

/// The words of the developer survive a fix without any.
#[test]
fn a_second_reviewer_knows_what_the_developer_said() {
    let epic = Epic::new(&["1-1-a"]);
    let prompt = epic.env.folder().join("review");
    epic.script(&format!(
        "* dev * | write a.txt x print \"I chose a file.\" print \"\" print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review 1 | print \"- [HIGH] a.txt:1 - it is empty\" print \"REVIEW FAILED: 1-1-a - empty\"\n\
         * fix * | append a.txt more print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         * review 2 | echo-prompt {} print \"REVIEW PASSED: 1-1-a\"\n",
        prompt.display()
    ));
    epic.run(&[]).ok();
    let prompt = fs_err::read_to_string(prompt).unwrap();
    let (_, said) = prompt.split_once("### What the developer says").expect(&prompt);
    assert!(said.contains("I chose a file."), "{said}");
}

/// All agents of a run can be read in advance.
#[test]
fn a_preview_shows_the_prompt_of_every_agent() {
    let epic = Epic::new(&["1-1-a"]);
    let shown = |more: &[&str]| -> Vec<String> {
        let args = [&["--dry-run", "--show-prompts", "--json"], more].concat();
        let plan = epic.run(&args).ok().json();
        let prompts = plan["plan"]["stories"][0]["prompts"].as_array().unwrap().clone();
        let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        prompts
            .iter()
            .map(|prompt| {
                format!(
                    "{} {} {}",
                    word(&prompt["phase"]),
                    word(&prompt["role"]),
                    word(&prompt["persona"])
                )
            })
            .collect()
    };
    let party = shown(&["--party-all"]);
    for phase in ["kickoff", "dev", "review", "analysis"] {
        assert!(party.iter().any(|prompt| prompt.starts_with(phase)), "{phase}: {party:?}");
    }
    let team = shown(&["--pipeline", "team", "--config", "specialization.testing_mode=\"full\""]);
    for role in ["developer", "senior_software_engineer", "qa_expert", "tech_lead", "investigator"]
    {
        assert!(team.iter().any(|prompt| prompt.contains(role)), "{role}: {team:?}");
    }
}
