//! Processes that die, disks that fill up, files that are damaged.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::project;

/// Many writers in a loop, each saying what was acknowledged; then all are killed at once.
#[test]
fn what_was_acknowledged_survives_kill_9() {
    let env = project();
    let script = "i=0; while :; do i=$((i+1)); \
        \"$0\" reasoning add --role developer --phase risks \"thought $1-$i\" -q >/dev/null && echo \"thought $1-$i\"; done";
    let mut children = Vec::new();
    for writer in 0..4 {
        let mut shell = env.command();
        let program = shell.get_program().to_owned();
        shell = {
            let mut command = Command::new("setsid");
            command.args(["sh", "-c", script]).arg(program).arg(writer.to_string());
            command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
            command.env("HOME", env.folder().join("home")).current_dir(env.path(""));
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
            command
        };
        children.push(shell.spawn().unwrap());
    }
    // Read until a thousand are acknowledged, one writer after the other; all go on meanwhile.
    let mut acknowledged = Vec::new();
    let mut readers: Vec<_> = children
        .iter_mut()
        .map(|child| BufReader::new(child.stdout.take().unwrap()).lines())
        .collect();
    for reader in &mut readers {
        acknowledged.extend(reader.by_ref().take(250).map(Result::unwrap));
    }
    for child in &children {
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-9", "--", &group]).status().unwrap().success());
    }
    for reader in readers {
        acknowledged.extend(reader.map_while(Result::ok));
    }
    for mut child in children {
        child.wait().unwrap();
    }
    assert!(acknowledged.len() >= 1000, "{}", acknowledged.len());
    let list = env.run(["reasoning", "list", "--json"]).ok().json();
    let kept: std::collections::BTreeSet<&str> = list["reasoning"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["content"].as_str().unwrap())
        .collect();
    for thought in &acknowledged {
        assert!(kept.contains(thought.as_str()), "{thought} was acknowledged and is gone");
    }
    env.run(["doctor"]).ok();
}

#[test]
fn a_damaged_store_is_an_environment_error() {
    let env = project();
    let path = env.path(".handover/store.db");
    let whole = fs_err::read(&path).unwrap();
    for damaged in [&whole[..whole.len() / 2], b"not a database at all, but long enough".as_slice()]
    {
        for file in ["store.db-wal", "store.db-shm"] {
            let _ = fs_err::remove_file(env.path(".handover").join(file));
        }
        fs_err::write(&path, damaged).unwrap();
        let error = env.run(["session", "list", "--json"]).fails(5).error();
        assert!(error["code"].as_str().unwrap().starts_with("store_"), "{error}");
        assert!(!error["hint"].is_null());
        let doctor = env.run(["doctor", "--json"]).fails(1).json();
        assert!(doctor["checks"].as_array().unwrap().iter().any(|c| c["ok"] == false));
    }
}

#[test]
fn a_newer_store_is_refused() {
    let mut env = project();
    let path = env.path("newer.db");
    fs_err::copy(env.path(".handover/store.db"), &path).unwrap();
    // The format number is at byte 60 of the file's header.
    let mut bytes = fs_err::read(&path).unwrap();
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    fs_err::write(&path, bytes).unwrap();
    env.set("HANDOVER_STORE", "newer.db");
    let error = env.run(["session", "list", "--json"]).fails(5).error();
    assert_eq!(error["code"], "store_newer");
    assert!(error["message"].as_str().unwrap().contains("999"));
}

#[test]
fn a_full_disk_loses_nothing_and_says_so() {
    let env = project();
    env.write("a.md", "text ".repeat(20_000));
    let program = env.command().get_program().to_owned();
    // No file may grow beyond 100 blocks of 512 bytes; without the trap the signal would kill.
    let output = env
        .output(
            Command::new("sh")
                .args(["-c", "trap '' XFSZ; ulimit -f 100; exec \"$0\" package add a.md --kind research --json"])
                .arg(program)
                .env_clear()
                .env("PATH", std::env::var_os("PATH").unwrap())
                .current_dir(env.path(""))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        )
        .fails(5);
    assert!(output.error()["code"].as_str().unwrap().starts_with("store_"), "{output}");
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!(counts["packages"], 0);
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    env.run(["doctor"]).ok();
}

#[test]
fn a_folder_that_cannot_be_written_is_an_environment_error() {
    let env = crate::empty();
    fs_err::create_dir_all(env.path("locked")).unwrap();
    fs_err::set_permissions(env.path("locked"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let probe = fs_err::write(env.path("locked/probe"), "x");
    if probe.is_ok() {
        // Root may write anywhere: a file in the place of the folder stands in.
        fs_err::remove_file(env.path("locked/probe")).unwrap();
        fs_err::write(env.path("locked/.handover"), "in the way").unwrap();
    }
    let error = env.run_in("locked", ["init", "--project", ".", "--json"]).fails(5).error();
    assert_eq!(error["code"], "io");
}

#[test]
fn a_lost_store_is_noticed() {
    let env = project();
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        let _ = fs_err::remove_file(env.path(".handover").join(file));
    }
    let output = env.run(["session", "list"]).ok();
    assert!(output.stderr.contains("s1"), "{output}");
    let doctor = env.run(["doctor", "--json"]).fails(1).json();
    let bad: Vec<_> =
        doctor["checks"].as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert_eq!(bad.len(), 1);
    assert_eq!(bad[0]["name"], "artifacts");
    env.run(["session", "new", "s1"]).ok();
    env.run(["doctor"]).ok();
}
