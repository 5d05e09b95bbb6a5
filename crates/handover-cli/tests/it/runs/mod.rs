//! Runs: the real program, real git, and an agent program with every fault that agents have.
//!
//! Faults of 0.1.0, by the number that the tests name, and where each is tested:
//!
//! | | tests |
//! |---|---|
//! | R1 | `base::gates_check_the_worktree_despite_an_editable_install`, `base::gates_that_cannot_check_the_worktree_are_refused`, `base::agents_import_the_worktree_too`, `base::gates_check_the_packages_of_the_worktree`, `base::gates_check_the_modules_of_the_worktree`, `base::cargo_must_not_build_packages_of_the_checkout`, `base::tools_that_cannot_be_redirected_are_refused`, `base::gates_check_the_packages_of_the_worktree_with_pnpm`, `base::gates_of_a_component_use_its_own_python`, `base::gates_find_what_is_installed_in_a_folder_of_the_project`, `base::a_gate_that_only_passes_in_the_checkout_is_refused`, `base::gates_of_a_manager_check_the_worktree`, `canary::a_gate_that_follows_a_file_to_the_checkout_is_refused` |
//! | R2 | `chain::resuming_a_chain_that_has_ended_continues_with_the_answers` |
//! | R3 | `faults::a_grave_finding_is_fixed_although_the_verdict_is_passed` |
//! | R4 | `party::answers::answered_work_that_conflicts_is_merged_by_the_developer` |
//! | R5 | `layouts::finds_the_layout_of_bmad_6`, `layouts::finds_sharded_and_plain_layouts`, `layouts::configured_folders_are_searched` |
//! | R6 | `basics::a_run_uses_the_only_active_session`, `basics::a_run_uses_the_default_session_if_it_holds_packages` |
//! | R7 | `basics::a_large_lock_file_does_not_hide_the_code` |
//! | R8 | `party::kickoff::a_kickoff_survives_a_blocked_story_without_work` |
//! | R9 | `parallel::conflicts_do_not_use_up_the_fixes` |
//! | R10 | `faults::a_missing_file_is_not_a_network_failure` |
//! | R11 | `budget::the_limit_of_a_story_ends_only_that_story`, `budget::a_cost_limit_is_questioned_if_no_cost_is_reported`, `budget::an_agent_that_exceeds_the_limit_of_its_phase_fails`, `budget::an_unfinished_run_can_be_abandoned`, `budget::an_agent_is_stopped_when_it_passes_a_limit` |
//! | R12 | `basics::the_first_preview_shows_a_whole_prompt` |
//! | R13 | `base::a_broken_test_setup_is_found_before_an_agent_is_paid`, `base::a_missing_pytest_is_named` |
//! | R14 | `closing::a_finished_epic_can_be_closed_later` |
//! | R15 | `basics::a_result_is_not_beside_the_files_of_other_agents` |
//! | R16 | `faults::work_inside_a_submodule_is_refused` |
//! | R17 | `faults::a_filled_in_template_is_kept` |
//! | R18 | `layouts::dependencies_are_read_as_people_write_them` |
//! | R19 | `faults::findings_without_a_category_stay_apart` |
//! | R20 | `faults::a_new_run_knows_the_findings_of_the_failed_one` |
//! | R21 | `closing::scenarios_are_compared_with_the_criteria` |
//! | R22 | `basics::a_finished_run_names_the_next_step`, `basics::the_clock_moves_while_an_agent_is_silent`, `basics::the_voices_of_a_party_are_counted`, `chain::a_dependency_that_never_ran_is_named`, `faults::a_model_that_cannot_be_reached_is_tried_again_after_a_pause` |

mod base;
mod basics;
mod budget;
mod canary;
mod chain;
mod closing;
mod crashes;
mod faults;
mod gates;
mod guard;
mod killed;
mod later;
mod layouts;
mod machines;
mod many;
mod parallel;
pub(crate) mod party;
mod prompts;
mod random_kills;
mod real;
mod team;
mod test_setup;
mod uat;

use std::path::PathBuf;

use handover_testkit::{FakeAgent, Output, TestEnv};
use serde_json::Value;

/// A repository with an epic, and an agent that does what its script says.
pub(crate) struct Epic {
    pub(crate) env: TestEnv,
    script: PathBuf,
}

/// A developer that completes its work, and a reviewer that passes it.
pub(crate) const GOOD: &str = r#"
* dev * | write {HANDOVER_STORY}.txt work print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* fix * | append {HANDOVER_STORY}.txt fixed print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* review * | print "REVIEW PASSED: {HANDOVER_STORY}"
"#;

impl Epic {
    /// Epic 1 with stories of these names, committed.
    pub(crate) fn new(stories: &[&str]) -> Self {
        let env = TestEnv::empty(crate::handover());
        env.git("", &["init", "--quiet"]);
        env.run(["init"]).ok();
        env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
        for id in stories {
            env.write(&format!("docs/stories/{id}.md"), story(id));
        }
        env.write("README.md", "a shop\n");
        let script = env.folder().join("script");
        fs_err::write(&script, GOOD).unwrap();
        let epic = Self { env, script };
        epic.commit_all("base");
        epic
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.env.git("", &["add", "--all"]);
        self.env.git("", &["commit", "--quiet", "--message", message]);
    }

    /// Lines that come before those of [`GOOD`].
    pub(crate) fn script(&self, lines: &str) {
        fs_err::write(&self.script, format!("{lines}\n{GOOD}")).unwrap();
    }

    pub(crate) fn agent(&self) -> String {
        format!("{} --script {}", FakeAgent::program().display(), self.script.display())
    }

    pub(crate) fn args(&self, more: &[&str]) -> Vec<String> {
        let mut args = vec!["run".to_owned(), "1".to_owned()];
        args.extend(["--agent-command".to_owned(), self.agent()]);
        args.extend(more.iter().map(|&arg| arg.to_owned()));
        args
    }

    #[must_use = "look at the output or at least at the exit code"]
    pub(crate) fn run(&self, more: &[&str]) -> Output {
        self.env.run(self.args(more))
    }

    /// What a terminal shows of a run that succeeds.
    pub(crate) fn in_terminal(&self, more: &[&str]) -> String {
        let words: Vec<String> = self.args(more).iter().map(|arg| format!("'{arg}'")).collect();
        let command = format!("{} {}", self.env.binary().display(), words.join(" "));
        let mut terminal = self.env.tool("script");
        terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        let output = terminal.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{shown}");
        shown
    }

    /// The latest run as `status --json` shows it.
    pub(crate) fn status(&self) -> Value {
        self.env.run(["status", "--json"]).ok().json()["run"].clone()
    }

    /// The state of each story.
    pub(crate) fn states(&self) -> Vec<String> {
        let status = self.status();
        let stories = status["stories"].as_array().unwrap();
        stories.iter().map(|story| story["state"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn reason(&self, at: usize) -> String {
        self.status()["stories"][at]["reason"].as_str().unwrap_or_default().to_owned()
    }

    /// What git prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.env.path(""))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn subjects(&self, branch: &str) -> Vec<String> {
        let log = self.git(&["log", "--format=%s", &format!("main..{branch}")]);
        log.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn story(id: &str) -> String {
    format!("# Story {id}\n\nStatus: ready-for-dev\n\n## Tasks\n\n- [ ] do {id}\n")
}
