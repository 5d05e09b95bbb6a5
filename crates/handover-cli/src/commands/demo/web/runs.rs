//! What `handover demo --web` plays before it serves: the two tasks of the story, and runs with git, worktrees
//! and gates. All of it is real but the agents, which are scripted.

use std::path::Path;
use std::process::{Command, Stdio};

use handover_agents::join_command;
use handover_files::{Folder, Sync};

use super::super::shop::{AGENT as CODER, FILES, SESSION, TASKS};
use super::super::story::script;
use crate::config;
use crate::env;
use crate::error::{CommandError, Exit, io};

/// Epic, file name, title.
const STORIES: [(&str, &str, &str); 8] = [
    ("1", "1-1-cart-totals", "Cart totals with tax"),
    ("1", "1-2-coupon-codes", "Coupon codes that expire"),
    ("1", "1-3-guest-checkout", "Checkout without an account"),
    ("1", "1-4-invoice-mail", "Invoices by mail"),
    ("1", "1-5-invoice-archive", "An archive of invoices"),
    ("2", "2-1-search-box", "A search box that forgives typing errors"),
    ("2", "2-2-filters", "Filters that remember"),
    ("2", "2-3-saved-searches", "Saved searches"),
];

/// The agent script. It is fast for the run in the past and slow for the live one; its cost depends on the
/// story and is that of the fraction of a second that it works.
const AGENT: &str = r#"#!/bin/sh
prompt=$(cat)
nonce=$(printf '%s\n' "$prompt" | sed -n 's/^{"nonce": "\([^"]*\)".*/\1/p' | tail -n 1)
# What its brief names, it reads.
research=$(printf '%s\n' "$prompt" | grep -o 'docs/research/[a-z]*\.md' | head -n 1)
handed=$(printf '%s\n' "$prompt" | grep -o 'docs/handoffs/[a-z0-9-]*\.md' | head -n 1)
pace=0.2; case "$HANDOVER_STORY" in 2-*) pace=5;; esac
say() { echo "$1"; sleep "$pace"; }
cost=0.0042; tokens=610; turns=2; verdict=complete; findings='[]'; packages='[]'
summary="Done, with tests."
case "$HANDOVER_PHASE" in
  dev)
    say "reading the story${research:+ and $research}"
    echo "// $HANDOVER_STORY" > "src/$HANDOVER_STORY.rs"
    say "writing src/$HANDOVER_STORY.rs"
    summary="Written with tests; rounding happens once, at the end."
    case "$HANDOVER_STORY" in
    1-1*) cost=0.0086; tokens=1204; turns=4;;
    1-2*) cost=0.0061; tokens=882; turns=3; echo broken > "src/broken.txt";;
    1-3*) cost=0.0112; tokens=1619; turns=5; summary="Guests check out with a mail address alone.";;
    1-4*) cost=0.0019; tokens=213; turns=1
          # Once a person has answered, it goes on.
          [ "$HANDOVER_ATTEMPT" != 1 ] || { verdict=blocked
          summary="The mail provider's key for the sandbox is missing: which account should send invoices?"; };;
    esac
    handoff="docs/handoffs/$HANDOVER_STORY.md"
    mkdir -p docs/handoffs
    printf '# What changed in %s\n\n## Summary\n%s\n' "$HANDOVER_STORY" "$summary" > "$handoff"
    packages='[{"path":"'$handoff'","kind":"handoff","priority":"high","summary":"'$summary'","consumers":["tech_lead","developer"]}]';;
  fix)
    cost=0.0023; tokens=301; turns=2
    say "fixing the findings"
    rm -f src/broken.txt
    echo "// fixed" >> "src/$HANDOVER_STORY.rs"
    summary="Fixed; the check is green again.";;
  review)
    cost=0.0031; tokens=448; turns=2; verdict=passed
    say "reviewing the change${handed:+ with $handed}"
    summary="No findings."
    case "$HANDOVER_STORY-$HANDOVER_ATTEMPT" in
      1-3*-1) verdict=failed; summary="A guest can read the order of another guest."
              findings='[{"severity":"high","file":"src/1-3-guest-checkout.rs","line":1,"issue":"Orders can be looked up by number alone; require the mail address too"}]';;
    esac;;
esac
printf '{"nonce":"%s","story":"%s","phase":"%s","verdict":"%s","summary":"%s","findings":%s,"packages":%s,"reasoning":{"completion":"%s"},"usage":{"cost_usd":%s,"tokens":%s,"turns":%s}}' \
  "$nonce" "$HANDOVER_STORY" "$HANDOVER_PHASE" "$verdict" "$summary" "$findings" "$packages" "$summary" "$cost" "$tokens" "$turns" > "$HANDOVER_RESULT"
"#;

/// What an analyst wrote down before each run: epic, path, content.
const RESEARCH: [(&str, &str, &str); 2] = [
    (
        "1",
        "docs/research/checkout.md",
        "---\ntype: research\nproducer: requirements_engineer\nconsumers: [developer, tech_lead]\npriority: high\n---\n# What checkout must keep\n\n## Summary\nPrices are whole cents; tax is rounded on each line, a coupon applies before tax, and an order is found by number and mail address.\n",
    ),
    (
        "2",
        "docs/research/search.md",
        "---\ntype: research\nproducer: requirements_engineer\nconsumers: [developer, tech_lead]\npriority: high\n---\n# How customers search\n\n## Summary\nOne search in six has a typing error; filters are set once and kept for weeks. Saved searches need an account.\n",
    ),
];

/// The project's gate fails if a certain file exists, or without the code of the shop.
const CONFIG: &str = "\n[gates]\ndetect = false\ncommands = [{ name = \"unit\", argv = [\"sh\", \"check.sh\"], format = \"tap\" }]\n";
const CHECK: &str = "echo 1..2\nif ! grep -q '^// The shop' src/lib.rs; then echo not ok 1 - totals; exit 1; fi\necho ok 1 - totals\nif [ -e src/broken.txt ]; then echo not ok 2 - a coupon that has expired is refused; exit 1; fi\necho ok 2 - a coupon that has expired is refused\n";

/// Writes the stories and the agent script.
pub(super) fn write(root: &Path) -> Result<(), CommandError> {
    let put = |path: &str, text: &str| {
        let path = root.join(path);
        let folder = path.parent().unwrap_or(root);
        fs_err::create_dir_all(folder)
            .and_then(|()| fs_err::write(&path, text))
            .map_err(|error| io(&error))
    };
    for (path, text) in FILES {
        put(path, text)?;
    }
    put(CODER, &script("0", None)?)?;
    for (_, path, text) in RESEARCH {
        put(path, text)?;
    }
    put("src/lib.rs", "// The shop.\n")?;
    put("check.sh", CHECK)?;
    put("agent-of-runs.sh", AGENT)?;
    put("docs/epics/epic-1-checkout.md", "# Epic 1: Checkout\n")?;
    put("docs/epics/epic-2-search.md", "# Epic 2: Search\n")?;
    for (_, id, title) in STORIES {
        let after = if id == "1-5-invoice-archive" { "Depends on: 1.4\n" } else { "" };
        let text =
            format!("# {title}\n\nStatus: ready-for-dev\n{after}\n## Tasks\n\n- [ ] {title}\n");
        put(&format!("docs/stories/{id}.md"), &text)?;
    }
    Ok(())
}

/// Turns the project into a git repository.
pub(super) fn commit(root: &Path) -> Result<(), CommandError> {
    let folder = Folder::of(root);
    let text = folder.read_text(config::FILE, config::MAX_BYTES)?.unwrap_or_default() + CONFIG;
    folder.replace(config::FILE, text.as_bytes(), Sync::No)?;
    let who = [
        "-c",
        "user.name=Demo",
        "-c",
        "user.email=demo@example.com",
        "-c",
        "init.defaultBranch=main",
    ];
    for args in
        [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "A shop"]]
    {
        let status = Command::new("git")
            .args(who)
            .args(args)
            .current_dir(root)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .map_err(|error| io(&error))?;
        if !status.success() {
            return Err(CommandError::new(
                Exit::Environment,
                "git",
                "git failed to create the demo repository",
            ));
        }
    }
    Ok(())
}

/// The two tasks of the story, done by agents that Handover starts.
pub(super) fn story(root: &Path) -> Result<(), CommandError> {
    handover(root, &["session", "new", SESSION])?;
    let agent = format!("sh {CODER}");
    for (what, task) in TASKS {
        let args =
            ["--agent-command", &agent, "--role", "developer", "--group", what, "--task", task];
        handover(
            root,
            &[&["spawn", "--session", SESSION, "--host", "command"][..], &args].concat(),
        )?;
    }
    handover(root, &["session", "close", SESSION])
}

/// Runs an epic, after its research was registered. Some stories fail on purpose.
pub(super) fn run(root: &Path, epic: &str) -> Result<(), CommandError> {
    let session = format!("epic-{epic}");
    handover(root, &["session", "new", &session])?;
    for (_, path, _) in RESEARCH.iter().filter(|(of, ..)| *of == epic) {
        handover(root, &["package", "add", path, "--session", &session])?;
    }
    let agent = join_command("sh".as_ref(), &[root.join("agent-of-runs.sh").into_os_string()]);
    handover(root, &["run", epic, "--session", &session, "--agent-command", &agent])
}

/// Runs a command in a separate process, to hide its output.
fn handover(root: &Path, args: &[&str]) -> Result<(), CommandError> {
    let program = std::env::current_exe().map_err(|error| io(&error))?;
    let status = Command::new(program)
        .args(args)
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", root)
        .env(env::TRUST, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| io(&error))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(1 | 3) if args[0] == "run" => Ok(()),
        _ => Err(CommandError::new(
            Exit::Failed,
            "demo",
            format!("`handover {}` failed in the demo project", args.join(" ")),
        )),
    }
}
