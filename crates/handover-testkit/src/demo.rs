//! The dashboard of the demo project: a service with content on every page.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A running `handover demo --web`; stops when dropped.
pub struct Demo {
    /// The URL of the dashboard, without a trailing slash.
    pub url: String,
    process: Child,
    _folder: tempfile::TempDir,
}

impl Demo {
    /// Starts the demo; `program` is the binary.
    pub fn start(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut process = Command::new(program)
            .args(["demo", "--web", "--still", "--port", "0", "--json"])
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.path())
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).expect("the demo says where it is");
        let url = said["service"]["url"].as_str().unwrap().trim_end_matches('/').to_owned();
        Self { url, process, _folder: folder }
    }

    /// The body of a page.
    pub fn get(&self, path: &str) -> String {
        let answer = ureq::get(format!("{}{path}", self.url)).call();
        answer.unwrap().body_mut().read_to_string().unwrap()
    }

    /// The name and path of every page.
    pub fn pages(&self) -> Vec<(&'static str, String)> {
        let session = "/sessions/login-rework";
        let first = |page: &str, start: &str, nth: usize| {
            let html = self.get(page);
            let mut links = html.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
            let link = links
                .by_ref()
                .map(|(link, _)| link)
                .filter(|link| link.starts_with(start))
                .nth(nth);
            link.unwrap_or_else(|| panic!("no {start} on {page}")).to_owned()
        };
        let receipts = format!("{session}/receipts");
        // The developer's second brief has a predecessor, packages and reasoning.
        let receipt = first(&format!("{receipts}?role=developer"), "/receipts/", 0);
        let run = first("/runs", "/runs/", 0);
        vec![
            ("overview", "/".to_owned()),
            ("sessions", "/sessions".to_owned()),
            ("session", session.to_owned()),
            ("packages", format!("{session}/packages")),
            ("package", "/packages/6".to_owned()),
            ("reasoning", format!("{session}/reasoning")),
            ("receipts", receipts),
            ("receipt", receipt),
            ("runs", "/runs".to_owned()),
            ("run", run.clone()),
            ("journal", format!("{run}/journal")),
            ("errors", "/errors".to_owned()),
            ("error", first("/errors", "/errors/", 0)),
            ("strategies", "/strategies".to_owned()),
            ("search", "/search?q=refresh+token".to_owned()),
            ("not-found", "/nothing/here".to_owned()),
        ]
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // On SIGTERM it stops its service and removes its folder.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}
