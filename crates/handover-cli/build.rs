//! How the program is linked, and what `handover --version` says of its build.

use std::path::Path;
use std::process::Command;

/// What `git archive` writes about its commit: sources without a repository know where they come from.
const ARCHIVED: &str = "archived";

fn main() {
    // Every hook and every spawn is a process of its own, and a position-independent program starts by
    // relocating twenty thousand addresses, which takes a noticeable part of its start.
    let target = |name: &str| variable(&format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
        // A static program would still be linked as a position-independent one, and crash at its start.
        if target("FEATURE").split(',').any(|feature| feature == "crt-static") {
            println!("cargo::rustc-link-arg-bins=-static");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    let version = variable("CARGO_PKG_VERSION").unwrap_or_default();
    let build: Vec<String> = build().into_iter().chain(without()).collect();
    println!("cargo::rustc-env=HANDOVER_VERSION={version} ({})", build.join(", "));
}

/// The optional parts that are missing, if any.
fn without() -> Option<String> {
    let missing =
        |name: &&str| variable(&format!("CARGO_FEATURE_{}", name.to_uppercase())).is_none();
    let parts: Vec<_> = ["dashboard", "mcp", "postgres", "service", "telemetry"]
        .into_iter()
        .filter(missing)
        .collect();
    (!parts.is_empty()).then(|| format!("without {}", parts.join(" and ")))
}

/// Commit, date and target, as far as they are known. The date is the commit's, so that the same sources always
/// become the same program.
fn build() -> Vec<String> {
    let target = variable("TARGET").unwrap_or_default();
    // Otherwise every commit would compile the command line again.
    if variable("PROFILE").as_deref() != Some("release") {
        return vec!["development build".to_owned(), target];
    }
    println!("cargo::rerun-if-changed={ARCHIVED}");
    for name in ["HANDOVER_COMMIT", "SOURCE_DATE_EPOCH"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let (commit, date) = repository().or_else(archive).unzip();
    let commit = variable("HANDOVER_COMMIT").or(commit);
    let date =
        variable("SOURCE_DATE_EPOCH").and_then(|epoch| day(epoch.trim().parse().ok()?)).or(date);
    [commit, date, Some(target)].into_iter().flatten().collect()
}

/// The commit that is checked out, and its date. A repository that merely contains the folder of unpacked sources
/// is not theirs.
fn repository() -> Option<(String, String)> {
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // It grows with every commit and every checkout.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    commit_and_date(&git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])?)
}

#[expect(clippy::disallowed_methods, reason = "a missing file is no error here")]
fn archive() -> Option<(String, String)> {
    let text = std::fs::read(ARCHIVED).ok()?;
    commit_and_date(std::str::from_utf8(&text).ok()?).filter(|(commit, _)| !commit.starts_with('$'))
}

fn commit_and_date(text: &str) -> Option<(String, String)> {
    let (commit, date) = text.trim().split_once(' ')?;
    Some((commit.get(..9).unwrap_or(commit).to_owned(), date.to_owned()))
}

fn git(args: &[&str]) -> Option<String> {
    let output =
        Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// The day of a moment in seconds since 1970, by the calendar's cycle of 400 years, whose years begin in March.
fn day(epoch: i64) -> Option<String> {
    let days = epoch.div_euclid(86_400) + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (0..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

#[expect(clippy::disallowed_methods, reason = "this is how cargo speaks to build scripts")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
