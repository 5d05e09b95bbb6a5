//! What is learned from: conversations of agent programs, documents, the memories of other tools, and what git prints.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handover_knowledge::{
    ForeignTables, ForeignValue, Git, Homes, MAX_TEXT_CHARS, SourceContext, source, transcripts,
};
use handover_model::SourceName;

use super::{halves, lossy};

/// A conversation, whatever program wrote it.
pub(super) fn conversation(data: &[u8]) {
    in_folder(|folder| {
        for name in ["conversation.jsonl", "conversation.json"] {
            let path = folder.join(name);
            fs_err::write(&path, data).expect("a file");
            let _ = transcripts::read_file(&path);
        }
    });
}

/// A document, down to the passages that become notes.
pub(super) fn document(data: &[u8]) {
    in_folder(|folder| {
        fs_err::write(folder.join("NOTES.md"), data).expect("a file");
        learn(SourceName::Docs, folder, None, None);
    });
}

/// The memories of other tools: beads' lines, the files of Claude Code, the rows of claude-mem.
pub(super) fn memories(data: &[u8]) {
    in_folder(|folder| {
        let (lines, rest) = halves(data);
        let project: String = folder
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let memory = format!("home/projects/{project}/memory/MEMORY.md");
        for (name, text) in [(".beads/issues.jsonl", lines), (&memory, rest), ("home/claude-mem.db", &[])] {
            let path = folder.join(name);
            fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs_err::write(path, text).expect("a file");
        }
        learn(SourceName::Memories, folder, None, Some(&Rows(rest)));
    });
}

/// What git prints: a program that prints the input, whatever it is asked.
pub(super) fn git_log(data: &[u8]) {
    in_folder(|folder| {
        let git = folder.join("bin/git");
        if !git.exists() {
            fs_err::create_dir_all(folder.join("bin")).expect("a folder");
            let script = "#!/bin/sh\nexec /bin/cat \"$PRINTED\"\n";
            fs_err::write(&git, script).expect("a file");
            fs_err::set_permissions(&git, Permissions::from_mode(0o755)).expect("its owner");
        }
        let printed = folder.join("printed");
        fs_err::write(&printed, data).expect("a file");
        let environment = [("PATH", folder.join("bin")), ("PRINTED", printed)];
        let environment = environment.map(|(name, path)| (name.into(), path.into()));
        if let Ok(Some(git)) = Git::open(folder, environment) {
            learn(SourceName::Git, folder, Some(&git), None);
        }
    });
}

/// Rows of another program's database, made of the input: every value is what is between two zero bytes.
struct Rows<'a>(&'a [u8]);

impl ForeignTables for Rows<'_> {
    fn rows(
        &self,
        _: &Path,
        _: &str,
        columns: &[&str],
        _: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[ForeignValue]),
    ) -> Result<(), String> {
        let values: Vec<ForeignValue> = self
            .0
            .split(|byte| *byte == 0)
            .map(|value| match lossy(value).into_owned() {
                text if text.is_empty() => ForeignValue::Null,
                text => text.parse().map_or(ForeignValue::Text(text), ForeignValue::Integer),
            })
            .collect();
        values.chunks_exact(columns.len()).for_each(each);
        Ok(())
    }
}

/// Everything that a source finds in a folder. No note is longer than notes may be.
fn learn(name: SourceName, folder: &Path, git: Option<&Git>, tables: Option<&dyn ForeignTables>) {
    let checkouts = [PathBuf::from(folder)];
    let home = Some(folder.join("home"));
    let homes = Homes { claude: home.clone(), claude_mem: home, ..Homes::default() };
    let context = SourceContext {
        root: folder,
        git,
        checkouts: &checkouts,
        homes: &homes,
        paths: &[],
        since: None,
        tables,
        stop: &|| false,
    };
    let source = source(name).expect("a source");
    let Ok(found) = source.discover(&context) else { return };
    let _ = source.read(&context, &found.units, &mut |learned| {
        for draft in learned.drafts {
            assert!(draft.text.chars().count() <= MAX_TEXT_CHARS, "{} characters", draft.text.len());
        }
    });
}

/// With a folder, the same for every input of a target.
pub(super) fn in_folder(work: impl FnOnce(&Path)) {
    thread_local! {
        static FOLDER: tempfile::TempDir = tempfile::tempdir().expect("a temporary folder");
    }
    FOLDER.with(|folder| work(folder.path()));
}
