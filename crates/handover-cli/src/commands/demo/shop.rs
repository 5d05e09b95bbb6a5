//! The shop of the demo: two tasks, and tests that know a rule which neither task mentions.

/// What the two agents are asked to do: the name of the thing, and the task.
pub(super) const TASKS: [(&str, &str); 2] = [
    ("cart", "Write src/cart.sh: print the total of the given prices in cents, with 19 % tax"),
    (
        "invoice",
        "Write src/invoice.sh: print the total of the given prices in cents, with 19 % tax",
    ),
];

/// Where both tasks are done.
pub(super) const SESSION: &str = "totals";
/// The agent's script.
pub(super) const AGENT: &str = "agent.sh";
/// One line per agent: what it made and how many tests failed on the way.
pub(super) const LOG: &str = ".agents.log";

pub(super) const FILES: &[(&str, &str)] = &[
    ("README.md", "# Shop\n\nPrices are in cents.\n"),
    ("tests/totals.sh", TESTS),
    ("accounting/2026-10.csv", "invoice,price,tax\n1041,150,29\n1041,150,29\n1041,150,29\n"),
];

/// Three items at 1.50: tax on the sum is 0.86, but accounting books 0.29 for each line.
const TESTS: &str = r#"# Totals as accounting books them: sh tests/totals.sh cart|invoice
total=$(sh "src/$1.sh" 150 150 150)
if [ "$total" = 537 ]; then
  echo "ok: $1 adds up"
else
  echo "FAILED: $1: accounting expects 537, got $total"
  exit 1
fi
"#;

/// What the first agent finds out, as a phrase that only its findings contain.
pub(super) const LESSON: &str = "on each line";

/// Where it writes that down.
pub(super) const FOUND_IN: &str = "docs/tax.md";

/// The findings of the agent that found the rule. The password is fake; it is there to be redacted.
pub(super) const FINDINGS: &str = "\
---
group_id: global
---
# How accounting rounds tax

## Summary
Accounting rounds tax on each line, half up, and then adds. Tax on the sum is a cent off.

## Details
Seen in accounting/2026-10.csv: three lines of 150 have 29 cents of tax each, which is 87; 19 % of the sum would be 86.
The export was checked with login=demo password=correct-horse-battery.
";
