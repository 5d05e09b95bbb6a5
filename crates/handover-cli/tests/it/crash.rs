//! Processes that die, disks that fill up, files that are damaged.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use handover_testkit::{Writers, assert_kept};

use crate::project;

#[test]
fn acknowledged_writes_survive_kill_9() {
    let env = project();
    let mut writers = Writers::start(&env, 4);
    writers.wait_for(250);
    let acknowledged = writers.kill();
    assert!(acknowledged.len() >= 1000, "{}", acknowledged.len());
    assert_kept(&env, &acknowledged);
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
fn rejects_a_newer_store() {
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
fn a_full_disk_loses_nothing_and_is_reported() {
    let env = project();
    env.write("a.md", "text ".repeat(20_000));
    // No file may grow beyond 100 blocks of 512 bytes; without the trap the signal would kill.
    let script = "trap '' XFSZ; ulimit -f 100; exec \"$0\" package add a.md --kind research --json";
    let mut shell = env.tool("sh");
    shell.args(["-c", script]).arg(env.binary()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = env.output(shell.spawn().unwrap()).fails(5);
    assert!(output.error()["code"].as_str().unwrap().starts_with("store_"), "{output}");
    let counts = env.run(["session", "show", "--json"]).ok().json()["session"]["counts"].clone();
    assert_eq!(counts["packages"], 0);
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    env.run(["doctor"]).ok();
}

#[test]
fn an_unwritable_folder_is_an_environment_error() {
    let env = crate::empty();
    fs_err::create_dir_all(env.path("locked")).unwrap();
    fs_err::set_permissions(env.path("locked"), std::fs::Permissions::from_mode(0o555)).unwrap();
    let probe = fs_err::write(env.path("locked/probe"), "x");
    if probe.is_ok() {
        // Root may write anywhere, so a file in place of the folder simulates it.
        fs_err::remove_file(env.path("locked/probe")).unwrap();
        fs_err::write(env.path("locked/.handover"), "in the way").unwrap();
    }
    let error = env.run_in("locked", ["init", "--project", ".", "--json"]).fails(5).error();
    assert_eq!(error["code"], "io");
}

#[test]
fn warns_about_a_lost_store() {
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
