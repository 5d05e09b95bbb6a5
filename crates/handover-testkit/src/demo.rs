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

    /// Every page of a table (`handover_web::demo_paths`) with its address in the demo: parameters such as
    /// `{session}` are replaced by existing ids. Finally, a page that does not exist.
    pub fn pages(&self, table: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
        let first_link = |page: &str, prefix: &str| {
            let html = self.get(page);
            let links = html.split("href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
            let link = links.map(|(link, _)| link).find(|link| link.starts_with(prefix));
            let link = link.unwrap_or_else(|| panic!("no {prefix} on {page}"));
            link.trim_start_matches(prefix).to_owned()
        };
        let ids = [
            ("{session}", "login-rework".to_owned()),
            ("{package}", "6".to_owned()),
            // The second brief of the developer: it has a predecessor, packages and reasoning.
            (
                "{receipt}",
                first_link("/sessions/login-rework/receipts?role=developer", "/receipts/"),
            ),
            ("{run}", first_link("/runs", "/runs/")),
            ("{error}", first_link("/errors", "/errors/")),
            ("{strategy}", first_link("/strategies", "/strategies/")),
            ("{note}", first_link("/notes", "/notes/")),
        ];
        let fill = |path: String| ids.iter().fold(path, |path, (name, id)| path.replace(name, id));
        let mut pages: Vec<_> = table.into_iter().map(|(name, path)| (name, fill(path))).collect();
        pages.push(("not-found", "/nothing/here".to_owned()));
        pages
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // On SIGTERM it stops its service and removes its folder.
        let _ = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
    }
}
