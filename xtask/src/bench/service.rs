//! `handover serve` on a free port, and the memory of its process.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::Project;

/// A running service; killed on drop.
pub struct Service {
    child: Child,
    pub address: String,
}

/// Memory in MiB: what the service itself has allocated, and file-backed pages (the program and the store),
/// which the system can reclaim.
pub struct Memory {
    pub own: f64,
    pub files: f64,
}

impl Service {
    pub fn start(project: &Project) -> Result<Self> {
        let mut child = project
            .command()
            .args(["serve", "--port", "0", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().context("no pipe")?).read_line(&mut line)?;
        let started: serde_json::Value = serde_json::from_str(&line)?;
        let address = started["service"]["address"].as_str().context("no address")?.to_owned();
        Ok(Self { child, address })
    }

    pub fn memory(&self) -> Result<Memory> {
        let text = fs_err::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| -> Result<f64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).context("no RSS")?;
            Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
        };
        Ok(Memory { own: field("RssAnon:")?, files: field("RssFile:")? })
    }

    /// Memory now and after each of `parts` parts of a duration.
    pub fn watch(&self, time: Duration, parts: u32) -> Result<Vec<Memory>> {
        let mut seen = vec![self.memory()?];
        for _ in 0..parts {
            std::thread::sleep(time / parts);
            seen.push(self.memory()?);
        }
        Ok(seen)
    }

    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(stream)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
