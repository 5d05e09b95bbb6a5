//! Whole pages of one session, as a reader sees them.

use insta::assert_snapshot;

use crate::readable::{news, readable};
use crate::scene::{RICH_RECEIPT, login};

/// What a page of the session shows below the frame that all of them share.
fn tab(name: &str) -> String {
    let login = login();
    let (picture, page) = (
        readable(&login.page("/sessions/s1")),
        readable(&login.page(&format!("/sessions/s1/{name}"))),
    );
    let frame = |page: &str| page.lines().skip(1).take(3).collect::<Vec<_>>().join("\n");
    assert_eq!(frame(&page), frame(&picture));
    assert_eq!(page.lines().next(), Some("[Sessions](/sessions) / [s1](/sessions/s1) /"));
    page.lines().skip(4).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_overview() {
    assert_snapshot!(readable(&login().page("/")), @r"
    # shop
    Sessions: 1 active, 1 in total
    Runs: 0 running, 0 in total
    Cost today: $0.00 0 agents of runs
    Briefed today: 0 0 tokens
    Failed today: 0 no briefs yet
    ## Needs a person
    3 waiting. [What happened lately](/away)
    - brief failed[tech lead in s1: the agent was killed](/receipts/r_00000070)28 h ago
    - degraded[An agent in s1 got less than it should have. the store was busy](/sessions/s1)28 h ago
    - blocker[qa expert: The test tenant is down.](/sessions/s1/reasoning?role=qa_expert)28 h ago
    ## The last 7 days
    What agents got, and what it was good for.
    Agents briefed: 2 4,621 tokens
    Share of briefs used: – known once agents have ended
    Secrets kept out of briefs: 2 each time, on their way in
    Known errors passed on: 0 with what solved them
    ## Sessions
    [All sessions](/sessions)
    | Session | State | Packages | Reasoning | Receipts | Started | Ended
    | [s1](/sessions/s1) | active | 3 | 3 | 3 | 28 h ago | –
    ## Latest briefs
    What agents were given.
    | For | State | Tokens | Tokens as a bar | Zone | Left out | Redacted | When
    | [tech lead](/receipts/r_00000070)
    Rotate the tokens.
    the agent was killed
    | failed | 300 | | normal | 0 | 0 | 28 h ago
    | [qa expert](/receipts/r_00000060)
    Rotate the tokens.
    | delivered | 300 | | normal | 0 | 0 | 28 h ago
    | [developer](/receipts/r_rich) login iteration 2
    Rotate refresh tokens.
    | confirmed | 4,321 | | soft warning | 8 | 2 | 28 h ago
    ");
}

#[test]
fn the_list_of_sessions() {
    assert_snapshot!(readable(&login().page("/sessions")), @r"
    # Sessions
    A session is one piece of work: what agents wrote, thought and were given in it.
    ## All sessions
    Newest first.
    | Session | State | Packages | Reasoning | Receipts | Started | Ended
    | [s1](/sessions/s1) | active | 3 | 3 | 3 | 28 h ago | –
    ");
}

#[test]
fn a_session() {
    assert_snapshot!(readable(&login().page("/sessions/s1")), @r"
    [Sessions](/sessions) /
    # Session s1 active
    Started 28 h ago
    [Picture](/sessions/s1)[Packages 3](/sessions/s1/packages)[Reasoning 3](/sessions/s1/reasoning)[Receipts 3](/sessions/s1/receipts)
    [Download as HTML](/sessions/s1/report.html)
    {button } Copy link
    Packages: 3 in their latest version
    Reached someone: 2 of 3 1 read
    Reached nobody: 1 [which?](/sessions/s1/packages?reach=nobody)
    Agents briefed: 3 1 confirmed, 1 without effect
    Context delivered: 4,621 tokens
    ## Who knew what, and from whom
    Time runs from left to right; pauses are left out. Lines lead from the author of something to the agents that received it.
    - Package
    - read
    - arrived
    - delivered
    - reached nobody
    - Agent briefed
    - confirmed
    - delivered
    - never sent
    - failed
    - Reasoning
    - passed on
    - kept
    [To scale](/sessions/s1?scale=time)[As SVG](/sessions/s1/picture.svg)
    {button session-s1.png} As PNG
    - requirements engineer
    - qa expert
    - developer
    - tech lead
    (3 agents in 4 roles, 4 packages and 3 pieces of reasoning passed on)
    [
    * requirements engineer wrote How tokens rotate (reached nobody)
    ](/packages/1)[
    * requirements engineer wrote How tokens rotate (read)
    ](/packages/2)[
    * qa expert wrote Two refreshes sign the user out (confirmed)
    ](/packages/3)[
    * qa expert on blockers: The test tenant is down.
    ](/sessions/s1/reasoning?role=qa_expert)[
    * qa expert was briefed: 300 tokens, delivered
    ](/receipts/r_00000060)[
    * developer wrote What is left to do (reached nobody)
    ](/packages/4)[
    * developer on decisions: Keep the old token for a moment.
    ](/sessions/s1/reasoning?role=developer)[
    * developer was briefed: 4,321 tokens, confirmed
    ](/receipts/r_rich)[
    * developer on decisions: One refresh at a time, behind a lock.
    ](/sessions/s1/reasoning?role=developer)[
    * tech lead was briefed: 300 tokens, failed
    ](/receipts/r_00000070)
    ## Time
    From each brief to the verdict of its agent, to scale; pauses are shortened. Without a verdict, to the last sign of it.
    - developer
    - qa expert
    (The agents of the session over time)
    [
    * developer: no verdict, 1.0 s
    ](/receipts/r_rich)[
    * qa expert: no verdict, –
    ](/receipts/r_00000060)
    ## Reached nobody
    Written, but in no brief that arrived.
    - [What is left to do](/packages/4) by developer, 28 h ago
    ## What happened
    In order of time. Times are UTC.
    - 15 Jan
    - 08:00:10requirements engineerwrote [How tokens rotate](/packages/1) for developer, tech lead superseded
    - 08:00:20requirements engineercorrected [How tokens rotate](/packages/2) for developer, tech lead
    - 08:00:30qa expertwrote [Two refreshes sign the user out](/packages/3) for everyone
    - 08:00:40developerwrote [What is left to do](/packages/4) for everyone reached nobody
    - 08:00:45developerdecisions: “Keep the old token for a moment.”
    - 08:00:46qa expertblockers: “The test tenant is down.”
    - 08:00:50developer[brief delivered: 2 packages and 1 piece of reasoning](/receipts/r_rich), 4,321 tokens confirmed
    - 08:00:53developeropened [How tokens rotate](/packages/2)
    - 08:01:00qa expert[brief delivered: 2 packages](/receipts/r_00000060), 300 tokens delivered
    - 08:01:10tech lead[brief failed: 0 packages](/receipts/r_00000070), 300 tokens failed
    - 08:01:30developerdecisions: “One refresh at a time, behind a lock.”
    - 08:01:35developerverdict complete Refreshes are safe.
    - 08:01:36handoverdegraded the store was busy
    ## Groups
    Parallel streams of work.
    | Group | State | About | Counted
    | login | in progress | Sign in with OAuth | revisions 1
    ");
}

#[test]
fn the_packages_of_a_session() {
    assert_snapshot!(tab("packages"), @r"
    ## Packages
    3 packages, newest first. [Show those that reached nobody](/sessions/s1/packages?reach=nobody)
    | Package | Kind | By | For | Reached | Version | Tokens | Written
    | [What is left to do](/packages/4)
    What is left to do
    | handoff critical | developer | everyone | reached nobody | 1 | 10 | 28 h ago
    | [Two refreshes sign the user out](/packages/3)
    Two refreshes sign the user out
    | failures | qa expert | everyone | confirmed | 1 | 10 | 28 h ago
    | [How tokens rotate](/packages/2)
    How tokens rotate
    | research high | requirements engineer | developer, tech lead | read | 2 | 10 | 28 h ago
    ");
}

#[test]
fn a_package_in_its_second_version() {
    assert_snapshot!(readable(&login().page("/packages/2")), @r"
    [Sessions](/sessions) / [s1](/sessions/s1) / [Packages](/sessions/s1/packages) /
    # How tokens rotate
    How tokens rotate
    Kind: research, high priority
    By: requirements engineer, 28 h ago
    For: developer, tech lead
    Costs: 10 tokens to read
    File: docs/10.md gone
    About: How tokens rotate
    ## Versions
    2 versions
    - v2 How tokens rotate 28 h ago
    - v1 [How tokens rotate](/packages/1) 28 h ago
    ## The file
    As it was registered, 19 B, without secrets.
    Rotation
    After thirty seconds.
    - retry is safe
    ## Who got it
    Of any version.
    | Role | State | Read | Used | Version | Given
    | [qa expert](/receipts/r_00000060) | delivered | – | not known yet | 1 | 28 h ago
    | [developer](/receipts/r_rich) iteration 2 | confirmed | 28 h ago | not known yet | 2 | 28 h ago
    ");
}

#[test]
fn a_superseded_package() {
    let login = login();
    assert_snapshot!(news(&login.page("/packages/1"), &login.page("/packages/2")), @r"
    Superseded by a later version: [read that one](/packages/2).
    Kind: research, medium priority
    - v2 [How tokens rotate](/packages/2) 28 h ago
    - v1 How tokens rotate 28 h ago
    Always.
    ");
}

#[test]
fn the_reasoning_of_a_session() {
    assert_snapshot!(tab("reasoning"), @r"
    ## What agents thought
    Oldest first. Times are UTC.
    - 15 Jan
    -
    08:00:45 developer decisions
    Keep the old token for a moment.
    about Keep the old token for a moment.
    -
    08:00:46 qa expert blockers group login high confidence
    The test tenant is down.
    -
    08:01:30 developer decisions
    One refresh at a time, behind a lock.
    about One refresh at a time, behind a lock.
    ");
}

#[test]
fn the_receipts_of_a_session() {
    assert_snapshot!(tab("receipts"), @r"
    ## What agents were given
    Newest first.
    | For | State | Tokens | Tokens as a bar | Zone | Left out | Redacted | When
    | [tech lead](/receipts/r_00000070)
    Rotate the tokens.
    the agent was killed
    | failed | 300 | | normal | 0 | 0 | 28 h ago
    | [qa expert](/receipts/r_00000060)
    Rotate the tokens.
    | delivered | 300 | | normal | 0 | 0 | 28 h ago
    | [developer](/receipts/r_rich) login iteration 2
    Rotate refresh tokens.
    | confirmed | 4,321 | | soft warning | 8 | 2 | 28 h ago
    ");
}

#[test]
fn a_receipt_with_everything() {
    assert_snapshot!(readable(&login().page(&format!("/receipts/{RICH_RECEIPT}"))), @r"
    [Sessions](/sessions) / [s1](/sessions/s1) / [Receipts](/sessions/s1/receipts) /
    # What the developer was given confirmed
    2 packages, 1 piece of reasoning, 4,321 tokens, in iteration 2 in group login, model claude-opus-4-5. 8 more were left out.
    - Assembled 28 h ago, the text was rendered
    - Delivered 28 h ago, handed over
    - Confirmed 28 h ago, the agent has it
    Specialization is incomplete: the template is too long
    [Compare with another](/receipts/r_rich/compare) r_rich
    [Download as HTML](/receipts/r_rich/report.html)
    {button } Copy link
    ## Task
    What it was asked to do, without secrets.
    Rotate refresh tokens.
    ## Outcome
    No verdict. The agent is still working or ended without reporting.
    ## Where its budget went
    4,321 tokens in total, counted for claude.
    | Section | Share | Used | Allowed
    | packages | | 1,900 | of 2,000
    | error patterns | | 10 | of 800
    The window was in the zone soft warning. Trimmed: specialization.
    ## Why it knew what it knew
    What it got, in its order, then what was left out, best first. A score is a share of the best one.
    - Score
    - task
    - priority
    | Candidate | Why it is in or out | Trust | Freshness | Score | Terms of the score | Tokens | Use
    | package [How tokens rotate](/packages/2) by requirements engineer | in whole, v2 | agent | fresh | 100 |
    * task 0.68
    * priority 0.23
    task 0.68 + priority 0.23 | 120 | opened 28 h ago
    | package [Two refreshes sign the user out](/packages/3) by qa expert | in path only, v2 | agent | fresh | 44 |
    * task 0.30
    * priority 0.10
    task 0.30 + priority 0.10 | 120 | –
    | reasoning [decisions: Keep the old token for a moment.](/sessions/s1/reasoning) by developer | in shortened, v2 | agent | fresh | 22 |
    * task 0.15
    * priority 0.05
    task 0.15 + priority 0.05 | 120 | –
    | package [What is left to do](/packages/4) by developer | out low priority in this zone: the agent's window was so full that only higher priorities got in. | – | – | 11 | | – | –
    | package 99 | out over the budget: it was a candidate, but no form of it fits the tokens that were left. | – | – | 6 | | – | –
    Left out: 1 low priority in this zone, 7 over the budget. The 6 with the lowest scores are not listed.
    ## Why didn’t it know …?
    A package by its number or path, a note by its id, a file, or words.
    {form /receipts/r_rich}
    What it did not know
    {input why}
    {button } Ask
    ## Redacted secrets
    What was removed on the way to the agent.
    | Rule | Times
    | generic-password | 2
    ## Changes
    Since the previous brief of this role.
    This is the first brief of this role.
    ## The brief as the agent saw it
    Without its task; beside it, where each part is from.
    ## Context
    Rotation after thirty seconds.
    -
    package [How tokens rotate](/packages/2) by requirements engineer
    whole, 120 tokens, score 100, from agent
    fresh opened 28 h ago
    -
    package [Two refreshes sign the user out](/packages/3) by qa expert
    path only, 120 tokens, score 44, from agent
    fresh –
    -
    reasoning [decisions: Keep the old token for a moment.](/sessions/s1/reasoning) by developer
    shortened, 120 tokens, score 22, from agent
    fresh –
    BLAKE3 of the whole prompt: 5555555555555555555555555555555555555555555555555555555555555555. handover receipt verify r_rich FILE checks that a text is this one. Created 2027-01-15 08:00:50 UTC.
    ");
}

#[test]
fn a_failed_receipt() {
    let login = login();
    let rich = login.page(&format!("/receipts/{RICH_RECEIPT}"));
    assert_snapshot!(news(&login.page("/receipts/r_00000070"), &rich), @r"
    # What the tech lead was given failed
    nothing from others, 300 tokens, model Never arrived.
    - Delivered not yet
    - Confirmed not yet
    - Failed the agent was killed
    [Compare with another](/receipts/r_00000070/compare) 000070
    [Download as HTML](/receipts/r_00000070/report.html)
    Rotate the tokens.
    No verdict. The brief never arrived.
    300 tokens in total, counted for claude.
    | packages | | 300 | of 1,000
    The window was in the zone normal. Trimmed: Never arrived.
    There were no candidates. Nothing that others wrote was for this role, or nobody had written anything yet.
    {form /receipts/r_00000070}
    There was none to remove.
    Never arrived
    BLAKE3 of the whole prompt: 0000000000000000000000000000000000000000000000000000000000000000. handover receipt verify r_00000070 FILE checks that a text is this one. Created 2027-01-15 08:01:10 UTC.
    ");
}

#[test]
fn the_list_of_errors() {
    assert_snapshot!(readable(&login().page("/errors")), @r"
    # Errors
    Errors that the project has seen before, with their solutions. An error is recognized even if paths and numbers in it change.
    [Everything](/knowledge) [Notes](/notes) [Strategies](/strategies) [Errors](/errors) [Use](/use) [Changes by hand](/changes)
    ## Known errors
    2 patterns, highest confidence first. Agents see those above 0.7.
    | Error | What solved it | Confidence | Confidence as a bar | Seen | Last
    | [cannot read property of undefined](/errors/a39ebf226d2912ee)
    TypeError · typescript
    | nothing yet | 0.5 unsolved | | 1 | 28 h ago
    | [connect ECONNREFUSED &lt;n&gt;.&lt;n&gt;.&lt;n&gt;.&lt;n&gt;:&lt;n&gt;](/errors/bdf03217875de13d)
    TypeError · typescript
    | docker compose up -d db | 0.5 not shown yet | | 1 | 28 h ago
    ");
}

#[test]
fn errors_with_and_without_a_solution() {
    let scene = login();
    let list = scene.page("/errors");
    let paths: Vec<&str> = list.split('"').filter(|part| part.starts_with("/errors/")).collect();
    let page = |path: &str| scene.page(path).replace(path.trim_start_matches("/errors/"), "HASH");
    let (unsolved, solved) = (page(paths[0]), page(paths[1]));
    assert_snapshot!(readable(&unsolved), @r"
    [Errors](/errors) /
    # cannot read property of undefined
    Nobody has solved it yet.
    Type: TypeError
    Confidence: 0.5 unsolved
    Seen: 1 time, first 28 h ago, last 28 h ago
    Expires: after 90 days without a sighting
    Hash: HASH
    ## Confidence over time
    It rises with every use that helped and falls with every use that did not; above the line, agents see the solution.
    (Confidence, now 0.5)
    - 0.5 since 28 h ago
    ## Sightings
    1 time.
    | When | Who | Session | Command
    | 28 h ago | developer | [s1](/sessions/s1) | npm test
    ## Who got it
    And whether they used it.
    It has reached nobody yet. It is offered to the next agent whose task it answers:
    handover assemble --role developer --task &quot;…&quot; --explain
    ");
    assert_snapshot!(news(&solved, &unsolved), @r"
    # connect ECONNREFUSED &lt;n&gt;.&lt;n&gt;.&lt;n&gt;.&lt;n&gt;:&lt;n&gt;
    Solved by: docker compose up -d db
    Confidence: 0.5 not shown yet
    ");
}

#[test]
fn the_list_of_strategies() {
    assert_snapshot!(readable(&login().page("/strategies")), @r"
    # Strategies
    What worked in one session and is passed on to later ones with the same technology.
    [Everything](/knowledge) [Notes](/notes) [Strategies](/strategies) [Errors](/errors) [Use](/use) [Changes by hand](/changes)
    ## What worked
    1 strategy, most helpful first.
    | Insight | About | Applies to | Helped | Helped, as a bar | Last
    | [One refresh at a time, behind a lock.](/strategies/st_05a2b8ca4e76d7ee) | architecture | rust | 1 | | 28 h ago
    ");
}

#[test]
fn a_search_that_finds_every_kind() {
    assert_snapshot!(readable(&login().page_with("/search", &[("q", "refresh")])), @r"
    # Search
    3 things found for “refresh”.
    ## By words
    3
    - [Two refreshes sign the user out](/packages/3)
    package agent failures · docs/30.md, session s1, 28 h ago
    - [One refresh at a time, behind a lock.](/sessions/s1/reasoning)
    reasoning agent decisions of developer, session s1, 28 h ago
    - [One refresh at a time, behind a lock.](/strategies/st_05a2b8ca4e76d7ee)
    strategy agent helped 1 time, 28 h ago
    ");
}

#[test]
fn an_unknown_page() {
    let page = login().get("/packages/12345", &[]);
    assert_eq!(page.status, 404);
    assert_snapshot!(readable(&String::from_utf8(page.body).unwrap()), @r"
    # Not found
    There is no package 12345.
    It may have been purged, or the address is mistyped. Go to the [overview](/) or search.
    ");
}
