//! Conversations with agent programs.

use std::sync::mpsc;

use handover_model::{Host, SourceName};

use crate::extract;
use crate::source::Unit;
use crate::transcripts::{self, Transcript};
use crate::{Found, Learned, SkipReason, Skipped, Source, SourceContext, SourceError};

/// Changes when conversations are read differently, so that they are read anew.
const VERSION: &str = "1";

/// How many conversations are read at once.
const MAX_THREADS: usize = 4;

/// Conversations.
pub(super) struct Transcripts;

impl Source for Transcripts {
    fn name(&self) -> SourceName {
        SourceName::Transcripts
    }

    fn discover(&self, context: &SourceContext<'_>) -> Result<Found, SourceError> {
        let (transcripts, skipped) = transcripts::find(context);
        let mut units: Vec<Unit> = transcripts.into_iter().map(unit).collect();
        // A conversation may have been found twice, as a copy in a folder that was asked for.
        let mut seen = std::collections::HashSet::new();
        units.retain(|unit| seen.insert(unit.source.clone()));
        Ok(Found { units, skipped })
    }

    fn read(
        &self,
        context: &SourceContext<'_>,
        units: &[Unit],
        learned: &mut dyn FnMut(Learned),
    ) -> Result<(), SourceError> {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        // Bounded, so that what is read waits for what is stored.
        let (sender, receiver) = mpsc::sync_channel(2 * threads);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(units.len()) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || {
                    loop {
                        let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(unit) = units.get(at).filter(|_| !context.stopped()) else {
                            return;
                        };
                        if sender.send(learn(at, unit, context)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            receiver.iter().for_each(learned);
        });
        Ok(())
    }

    fn outlives_its_units(&self) -> bool {
        true
    }
}

fn unit(transcript: Transcript) -> Unit {
    Unit {
        source: format!("{}:{}", transcript.host, transcript.id),
        fingerprint: format!("{VERSION}:{}", transcript.state),
        place: Some(transcript.place),
    }
}

fn learn(at: usize, unit: &Unit, context: &SourceContext<'_>) -> Learned {
    let mut learned = Learned { unit: at, drafts: Vec::new(), skipped: Vec::new() };
    let mut skip = |reason| learned.skipped.push(Skipped { what: unit.source.clone(), reason });
    let Some(transcript) = transcript(unit) else {
        skip(SkipReason::Foreign);
        return learned;
    };
    match transcripts::read(&transcript, context.tables) {
        Ok(conversation) => {
            // The last line of a conversation that goes on may be incomplete.
            if conversation.damaged > 1 {
                skip(SkipReason::Damaged);
            }
            learned.drafts = extract::drafts(&conversation, &unit.source, context.checkouts);
            learned.drafts.retain(|draft| !context.is_too_old(draft.created_at));
        }
        Err(reason) => skip(reason),
    }
    learned
}

/// The transcript that a unit was made of.
fn transcript(unit: &Unit) -> Option<Transcript> {
    let (host, id) = unit.source.split_once(':')?;
    Some(Transcript {
        host: Host::new(host).ok()?,
        id: id.to_owned(),
        place: unit.place.clone()?,
        state: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use handover_model::{NoteKind, Trust};

    use super::*;
    use crate::testing::{Home, Tables, learn_in};

    #[test]
    fn a_conversation_of_this_project_becomes_notes_and_goes_on() {
        let home = Home::new();
        let path = ".claude/projects/-home-ada-settings/1627ef0f.jsonl";
        home.put("claude-2.1.197.jsonl", path);
        home.put("opencode-1.18.33.json", ".local/share/opencode/opencode.db");
        let (homes, checkouts) = (home.homes(), [PathBuf::from("/home/ada/settings")]);
        let context = SourceContext {
            root: Path::new("/home/ada/settings"),
            git: None,
            checkouts: &checkouts,
            homes: &homes,
            paths: &[],
            since: None,
            tables: Some(&Tables),
            stop: &|| false,
        };
        let learned = learn_in(&Transcripts, &context);
        let [asked, concluded, ..] = learned.drafts.as_slice() else { panic!("{learned:?}") };
        assert_eq!(asked.source, "claude:1627ef0f");
        assert_eq!(asked.origin, "claude:1627ef0f#0f3e3cac-d8cc-4fdb-9ce9-c77b8159e327");
        assert_eq!(asked.text, "Use WAL mode, never DELETE, for the settings database");
        // `claude -p`: a script may have asked.
        assert_eq!((asked.kind, asked.trust), (NoteKind::Conversation, Trust::Agent));
        assert!(concluded.text.contains("because two processes write to it"), "{}", concluded.text);
        assert_eq!(concluded.paths, ["src/db.rs"]);
        assert!(learned.drafts.iter().any(|draft| draft.source.starts_with("opencode:ses_")));
        let more = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"content":"Actually, use DELETE mode on network drives"}}"#;
        let text = fs_err::read_to_string(home.path(path)).unwrap();
        home.write(path, &format!("{text}{more}\n"));
        let again = learn_in(&Transcripts, &context);
        assert_ne!(again.units[0].fingerprint, learned.units[0].fingerprint);
        assert_eq!(again.units[1], learned.units[1]);
        assert!(again.drafts.iter().any(|draft| draft.text.contains("network drives")));
        assert!(Transcripts.outlives_its_units());
        let stopped = SourceContext { stop: &|| true, ..context };
        let mut count = 0;
        Transcripts.read(&stopped, &again.units, &mut |_| count += 1).unwrap();
        assert_eq!(count, 0);
    }
}
