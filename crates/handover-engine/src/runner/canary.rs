//! Tries whether a configured gate checks the worktree, as nothing is known about its tools: in a worktree whose
//! files are damaged it must not pass.
//!
//! One that passes anyway is refused if it ran tests, or if something of it leads to the user's checkout. Otherwise
//! it may be meant that way (`git diff --check`), and the run says what it is worth.

use std::path::{Path, PathBuf};
use std::slice::from_ref;

use handover_model::config::GateCommand;

use super::gates::{Base, GateRun};
use super::workers::WorkerLink;
use crate::EngineError;
use crate::gates::{Gate, GateError, GateResult};
use crate::git::Damage;
use crate::{bounded, test_setup};

/// The configured gates of a base.
pub(super) struct Canary<'a> {
    pub(super) run: &'a GateRun,
    pub(super) base: &'a Base,
    pub(super) commands: &'a [GateCommand],
}

impl Canary<'_> {
    /// Tries one gate that passes on the base. Returns what a person should know about it.
    pub(super) fn try_gate(
        &self,
        passed: &GateResult,
        link: &WorkerLink<'_>,
    ) -> Result<Option<String>, EngineError> {
        let gate = self.run.gates.iter().find(|gate| gate.name == passed.name);
        let Some(gate) = gate.filter(|gate| !gate.kind.is_redirected()) else { return Ok(None) };
        let tree = format!("{}-damaged", self.base.tree()?);
        let known = self.base.known.get(&tree, from_ref(gate)).and_then(|mut known| known.pop());
        let result = match known {
            Some(result) => result,
            None => self.on_damaged(gate, passed, link)?,
        };
        if result.passed {
            let leads = self.leads(gate, &result)?;
            let ran = result.ran.filter(|ran| *ran > 0);
            if leads.is_some() || ran.is_some() {
                let gate = gate.name.clone();
                return Err(GateError::IgnoresWorktree { gate, ran, leads }.into());
            }
        }
        self.base.known.put(&tree, from_ref(gate), from_ref(&result));
        Ok(result.passed.then(|| {
            format!(
                "gate `{}` passes even if every file is damaged: it says nothing about the work",
                gate.name
            )
        }))
    }

    /// The result where files are damaged, first in one way, then in another: some tools only read what is there.
    fn on_damaged(
        &self,
        gate: &Gate,
        passed: &GateResult,
        link: &WorkerLink<'_>,
    ) -> Result<GateResult, EngineError> {
        let worktree = &self.base.worktree;
        let files = self.base.repo.files(&self.base.commit)?;
        let mut last = passed.clone();
        for how in [Damage::Overwritten, Damage::Removed] {
            if !worktree.ensure()? {
                worktree.restore(&self.base.tree()?)?;
            }
            let paths = files.iter().map(String::as_str);
            let code: Vec<&str> = paths.filter(|path| !self.starts_tests(path)).collect();
            let damage = || Ok(worktree.damage(&code, how)?);
            last = match self.run.on_damaged(gate, worktree, damage, link) {
                // Its own program was damaged.
                Err(EngineError::Gate(GateError::Missing { .. })) => {
                    GateResult { passed: false, ..last }
                }
                result => result?,
            };
            if !last.passed {
                break;
            }
        }
        worktree.remove()?;
        Ok(last)
    }

    /// Whether a file may say how tests are started: it stays, or a gate would fail because of that.
    fn starts_tests(&self, path: &str) -> bool {
        let prefix = &self.base.repo.prefix;
        let own = Path::new(path).strip_prefix(prefix).ok().and_then(Path::to_str).unwrap_or(path);
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_lock = name.ends_with(".lock") || name.contains("-lock.") || name == "go.sum";
        name.starts_with('.') || is_lock || test_setup::concerns(own, self.commands)
    }

    /// What of a gate leads to the user's checkout, and where.
    fn leads(
        &self,
        gate: &Gate,
        result: &GateResult,
    ) -> Result<Option<(&'static str, PathBuf)>, EngineError> {
        let tracked = self.base.repo.files(&self.base.commit)?;
        let root = &self.base.repo.root;
        let is_code = |path: &str| {
            let is_inside = |file: &String| Path::new(file).starts_with(path);
            path.is_empty() || tracked.iter().any(is_inside)
        };
        let find = |text: &str| place_in(text, root, &is_code);
        let args = gate.args.iter().map(|arg| arg.to_string_lossy().into_owned());
        let command = args.chain([gate.program.display().to_string()]).collect::<Vec<_>>();
        if let Some(place) = find(&command.join(" ")) {
            return Ok(Some(("its command", place)));
        }
        if let Some(place) = find(&result.tail) {
            return Ok(Some(("its output", place)));
        }
        // Tools find this file from any folder below; one that prints nothing hardly runs tests.
        let settings = bounded::text(&self.run.checkout.join(".env"));
        let settings = settings.filter(|_| !result.tail.trim().is_empty());
        Ok(settings.and_then(|text| find(&text)).map(|place| ("`.env`", place)))
    }
}

/// The first place in a folder that a text names and that holds code.
fn place_in(text: &str, root: &Path, is_code: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
    let folder = root.to_str()?;
    let ends = |c: char| c.is_whitespace() || "\"'`:;,()[]{}<>|&=$".contains(c);
    text.match_indices(folder).find_map(|(at, _)| {
        let rest = &text[at + folder.len()..];
        let inside = &rest[..rest.find(ends).unwrap_or(rest.len())];
        let is_it = inside.is_empty() || inside.starts_with('/');
        let inside = inside.trim_matches('/').trim_end_matches('.');
        let place = || if inside.is_empty() { root.to_owned() } else { root.join(inside) };
        (is_it && is_code(inside)).then(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_with_code_count() {
        let root = Path::new("/home/me/shop");
        let is_code = |path: &str| path.is_empty() || path.starts_with("src");
        let place = |text: &str| place_in(text, root, &is_code);
        for (text, expected) in [
            ("cd /home/me/shop && sh tests.sh", "/home/me/shop"),
            ("Entering directory '/home/me/shop/src'", "/home/me/shop/src"),
            ("/home/me/shop/.venv/bin/python /home/me/shop/src/a.py:3", "/home/me/shop/src/a.py"),
            ("done in /home/me/shop/.", "/home/me/shop"),
        ] {
            assert_eq!(place(text), Some(PathBuf::from(expected)), "{text}");
        }
        for text in ["/home/me/shop/.venv/bin/python", "/home/me/shop-two", "/home/me", ""] {
            assert_eq!(place(text), None, "{text}");
        }
    }
}
