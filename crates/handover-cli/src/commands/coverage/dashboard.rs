//! Coverage for the dashboard and MCP.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use handover_agents::Environment;
use handover_engine::git::Repo;
use handover_mcp::CoverageSource;
use handover_model::{Coverage, Host, Timestamp};

use super::lately;
use crate::app::App;

/// For how many seconds the dashboard shows the same counts: reading transcripts takes a while.
const CACHE_SECONDS: i64 = 60;

/// The latest counts, by project.
static COUNTED: Mutex<BTreeMap<PathBuf, (Timestamp, Counts)>> = Mutex::new(BTreeMap::new());

/// How many subagents were covered in which way; none if that is unknown.
type Counts = Option<BTreeMap<Coverage, u64>>;

impl CoverageSource for App {
    fn coverage(&self) -> Counts {
        // A project that is only served has no checkout here, and no agent programs.
        let root = self.project().ok().filter(|_| !self.hosts())?.root.clone();
        let mut counted = COUNTED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, counts)) = counted.get(&root)
            && at.plus_seconds(CACHE_SECONDS) > self.now()
        {
            return counts.clone();
        }
        let spawns = lately(self).ok()?.spawns;
        let counts = (!spawns.is_empty()).then(|| {
            let of =
                |state: &Coverage| spawns.iter().filter(|one| one.state == *state).count() as u64;
            Coverage::ALL.iter().map(|state| (*state, of(state))).collect()
        });
        counted.insert(root, (self.now(), counts.clone()));
        counts
    }

    fn patch(&self, from: &str, to: &str, most: usize) -> Option<String> {
        // They come from a journal; git would take anything else as a name or an option.
        let is_hash = |text: &str| {
            (40..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
        };
        if self.hosts() || !is_hash(from) || !is_hash(to) {
            return None;
        }
        let root = self.project().ok()?.root.clone();
        let environment = Environment::scrubbed(self.environment().ok()?, Host::COMMAND, &[]);
        let repo = Repo::open(&root, environment).ok()?;
        repo.patch(from, to, &[], most).ok()
    }
}
