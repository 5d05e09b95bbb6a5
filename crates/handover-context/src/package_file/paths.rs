//! Where package files may be: inside the project, or inside another worktree of it.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use handover_files::{FileError, Folder, Irregular};
use handover_model::SessionId;

use super::PackageFileError;

/// The project and its other worktrees; every other path is outside.
#[derive(Debug, Clone)]
pub struct ProjectPaths {
    root: PathBuf,
    worktrees: Vec<PathBuf>,
    /// The checkout an agent works in, if it is not this one.
    pub(super) checkout: Option<Box<Self>>,
    shared: bool,
}

/// A file that was checked to be inside the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The real path, with symlinks resolved.
    pub absolute: PathBuf,
    /// The path in the store: relative to the project with `/`, or absolute in another worktree, where a
    /// relative path would refer to a different file.
    pub stored: String,
}

impl ProjectPaths {
    /// The project's root and the other worktrees of its repository. All must exist.
    pub fn new(root: &Path, worktrees: &[PathBuf]) -> std::io::Result<Self> {
        Ok(Self {
            root: fs_err::canonicalize(root)?,
            worktrees: worktrees.iter().map(fs_err::canonicalize).collect::<Result<_, _>>()?,
            checkout: None,
            shared: false,
        })
    }

    /// These paths for an agent in another checkout, whose files take precedence.
    pub fn seen_from(&self, checkout: &Path) -> std::io::Result<Self> {
        let checkout = Some(Box::new(Self::new(checkout, &[])?));
        Ok(Self { checkout, ..self.clone() })
    }

    /// These paths for a store shared with other machines, where a missing file may exist.
    pub fn shared(self, shared: bool) -> Self {
        Self { shared, ..self }
    }

    /// Whether the store is shared with other machines.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The default folder for a session's files.
    pub fn artifacts(&self, session: &SessionId) -> PathBuf {
        self.artifacts_folder(session).path()
    }

    /// The folder of [`context_folder`](Self::context_folder), for code that writes to it.
    pub(super) fn context(&self, session: &SessionId) -> Folder {
        self.artifacts_folder(session).inside("context")
    }

    fn artifacts_folder(&self, session: &SessionId) -> Folder {
        Folder::of(&self.root).inside("artifacts").inside(session.as_str())
    }

    /// The folder inside [`artifacts`](Self::artifacts) whose files follow the naming convention.
    pub fn context_folder(&self, session: &SessionId) -> PathBuf {
        self.artifacts(session).join("context")
    }

    /// The absolute form of a stored path.
    pub fn absolute(&self, stored: &str) -> PathBuf {
        self.root.join(stored)
    }

    /// Checks a path typed by a person, relative to `base`. `..` is allowed as long as the file is inside.
    pub fn locate(&self, base: &Path, path: &Path) -> Result<Located, PackageFileError> {
        let given = base.join(path);
        let absolute = match fs_err::canonicalize(&given) {
            Ok(absolute) => absolute,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(PackageFileError::Missing { path: path.to_owned() });
            }
            Err(source) => {
                return Err(PackageFileError::Read { path: path.to_owned(), source });
            }
        };
        let (inside, stored) = if let Ok(relative) = absolute.strip_prefix(&self.root) {
            (true, relative)
        } else {
            let inside = self.worktrees.iter().any(|tree| absolute.starts_with(tree));
            (inside, absolute.as_path())
        };
        if !inside {
            return Err(PackageFileError::Outside {
                path: path.to_owned(),
                target: absolute,
                root: self.root.clone(),
            });
        }
        let metadata = fs_err::metadata(&absolute)
            .map_err(|source| PackageFileError::Read { path: path.to_owned(), source })?;
        if !metadata.is_file() {
            let found = if metadata.is_dir() { Irregular::Folder } else { Irregular::Special };
            return Err(PackageFileError::NotAFile { path: path.to_owned(), found });
        }
        let stored =
            storable(stored).ok_or_else(|| PackageFileError::Name { path: path.to_owned() })?;
        if stored.starts_with(".handover/") && !stored.starts_with(".handover/artifacts/") {
            return Err(PackageFileError::Ours { path: path.to_owned() });
        }
        Ok(Located { absolute, stored })
    }

    /// Checks a path from a file or an agent: relative to the project, and without `..`.
    pub fn locate_untrusted(&self, path: &Path) -> Result<Located, PackageFileError> {
        self.locate_untrusted_in(&self.root, path)
    }

    /// Like [`locate_untrusted`](Self::locate_untrusted), relative to the agent's checkout.
    pub fn locate_untrusted_in(
        &self,
        checkout: &Path,
        path: &Path,
    ) -> Result<Located, PackageFileError> {
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(PackageFileError::Climbs { path: path.to_owned() });
        }
        let located = self.locate(checkout, path)?;
        // Where a link leads is what counts.
        let trees = self.worktrees.iter().chain([&self.root]);
        let inside = trees.filter_map(|tree| located.absolute.strip_prefix(tree).ok());
        // A worktree may be inside the project.
        let inside = inside.min_by_key(|path| path.components().count()).and_then(Path::to_str);
        if !inside.is_some_and(is_document) {
            return Err(PackageFileError::NotADocument { path: path.to_owned() });
        }
        Ok(located)
    }

    /// Opens a located file and checks what was opened: it may have been replaced by a link or a pipe in the
    /// meantime.
    pub fn open(&self, located: &Located) -> Result<File, PackageFileError> {
        let path = || PathBuf::from(&located.stored);
        let read_error = |source| PackageFileError::Read { path: path(), source };
        let file = File::options()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&located.absolute)
            .map_err(read_error)?;
        if !file.metadata().map_err(read_error)?.is_file() {
            return Err(PackageFileError::NotAFile { path: path(), found: Irregular::Special });
        }
        let opened = fs_err::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .or_else(|_| fs_err::canonicalize(&located.absolute))
            .map_err(read_error)?;
        if opened.starts_with(&self.root)
            || self.worktrees.iter().any(|tree| opened.starts_with(tree))
        {
            Ok(file)
        } else {
            let root = self.root.clone();
            Err(PackageFileError::Outside { path: path(), target: opened, root })
        }
    }

    /// Reads a located file as text; fails beyond `max` bytes.
    pub fn read(&self, located: &Located, max: u64) -> Result<String, PackageFileError> {
        let path = || PathBuf::from(&located.stored);
        let read_error = |source| PackageFileError::Read { path: path(), source };
        let file = self.open(located)?;
        let size = file.metadata().map_err(read_error)?.len();
        let mut bytes = Vec::with_capacity(size.min(max) as usize);
        // The file may have grown since: the limit applies to what is read.
        file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(read_error)?;
        if size > max || bytes.len() as u64 > max {
            let size = size.max(bytes.len() as u64);
            return Err(PackageFileError::TooLarge { path: path(), size, max });
        }
        if let Some(offset) = bytes.iter().position(|b| *b == 0) {
            return Err(PackageFileError::NotText { path: path(), offset });
        }
        String::from_utf8(bytes).map_err(|error| PackageFileError::NotText {
            path: path(),
            offset: error.utf8_error().valid_up_to(),
        })
    }

    /// Creates the folder for a session's packages. No folder on the way may be a symlink.
    pub fn make_context_folder(&self, session: &SessionId) -> Result<PathBuf, PackageFileError> {
        let folder = self.context(session);
        folder.create_shared().map_err(not_ours)?;
        Ok(folder.path())
    }

    /// Removes a session's folder, if it exists.
    pub fn remove_artifacts(&self, session: &SessionId) -> Result<(), PackageFileError> {
        let all = Folder::of(&self.root).inside("artifacts");
        all.remove_folder(session.as_str()).map_err(not_ours)
    }
}

pub(super) fn not_ours(error: FileError) -> PackageFileError {
    match error {
        FileError::NotAFolder { path, found: Irregular::Link } => PackageFileError::Link { path },
        FileError::NotAFolder { path, .. }
        | FileError::NotAFile { path, .. }
        | FileError::TooLarge { path, .. }
        | FileError::NotText { path, .. }
        | FileError::Name { path } => {
            let source = std::io::ErrorKind::NotADirectory.into();
            PackageFileError::Read { path, source }
        }
        FileError::Io { path, source } => PackageFileError::Read { path, source },
    }
}

/// What documents end with. A person can register any text with `handover package add`.
const DOCUMENTS: [&str; 6] = ["md", "markdown", "mdx", "txt", "rst", "adoc"];

/// Whether a path from an agent or over a network may become a package: a document that is not hidden. Settings,
/// keys and code of the project would otherwise be readable for everybody who may search.
fn is_document(stored: &str) -> bool {
    let visible = stored.strip_prefix(".handover/artifacts/").unwrap_or(stored);
    let extension = Path::new(visible).extension().and_then(|end| end.to_str());
    let extension = extension.unwrap_or_default().to_lowercase();
    DOCUMENTS.contains(&extension.as_str()) && !visible.split('/').any(|part| part.starts_with('.'))
}

/// A path as text with `/`, if all of it can be displayed.
fn storable(path: &Path) -> Option<String> {
    let mut text = String::new();
    for part in path.components() {
        match part {
            Component::RootDir => text.push('/'),
            Component::Normal(name) => {
                if !text.is_empty() && !text.ends_with('/') {
                    text.push('/');
                }
                text.push_str(name.to_str()?);
            }
            Component::Prefix(_) | Component::CurDir | Component::ParentDir => return None,
        }
    }
    (!text.is_empty() && !text.chars().any(char::is_control)).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Project {
        folder: tempfile::TempDir,
    }

    impl Project {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for dir in ["p/docs", "p/sub", "outside", "tree/docs"] {
                fs_err::create_dir_all(folder.path().join(dir)).unwrap();
            }
            for file in ["p/docs/a.md", "outside/secret.md", "tree/docs/b.md"] {
                fs_err::write(folder.path().join(file), "text").unwrap();
            }
            Self { folder }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        fn paths(&self) -> ProjectPaths {
            ProjectPaths::new(&self.path("p"), &[self.path("tree")]).unwrap()
        }
    }

    #[test]
    fn agents_register_documents_only() {
        for stored in ["docs/a.md", "a.MD", "notes.txt", ".handover/artifacts/s1/context/a.md"] {
            assert!(is_document(stored), "{stored}");
        }
        for stored in [
            ".env",
            ".env.md",
            "config/.env",
            "docs/.private/a.md",
            "id_rsa",
            "key.pem",
            "src/main.rs",
            ".git/COMMIT.md",
            ".handover/artifacts/s1/.x/a.md",
            "docs/a",
            "credentials.json",
        ] {
            assert!(!is_document(stored), "{stored}");
        }
    }

    #[test]
    fn locates_files_from_any_base() {
        let project = Project::new();
        let paths = project.paths();
        for (base, path) in
            [("p", "docs/a.md"), ("p/sub", "../docs/a.md"), ("p", "./sub/../docs/a.md")]
        {
            let located = paths.locate(&project.path(base), Path::new(path)).unwrap();
            assert_eq!(located.stored, "docs/a.md");
        }
        symlink(project.path("p/docs/a.md"), project.path("p/sub/link.md")).unwrap();
        let located = paths.locate(&project.path("p"), Path::new("sub/link.md")).unwrap();
        assert_eq!(located.stored, "docs/a.md");
    }

    #[test]
    fn stores_other_worktrees_as_absolute_paths() {
        let project = Project::new();
        let located =
            project.paths().locate(&project.path("tree"), Path::new("docs/b.md")).unwrap();
        assert!(located.stored.ends_with("/tree/docs/b.md") && located.stored.starts_with('/'));
        assert_eq!(project.paths().absolute(&located.stored), located.absolute);
    }

    #[test]
    fn rejects_paths_outside_the_project() {
        let project = Project::new();
        let paths = project.paths();
        symlink(project.path("outside/secret.md"), project.path("p/docs/link.md")).unwrap();
        symlink(project.path("outside"), project.path("p/way")).unwrap();
        for path in ["../outside/secret.md", "docs/link.md", "way/secret.md", "/etc/passwd"] {
            let error = paths.locate(&project.path("p"), Path::new(path)).unwrap_err();
            assert!(matches!(error, PackageFileError::Outside { .. }), "{path}: {error}");
        }
        let climbing = paths.locate_untrusted(Path::new("docs/../docs/a.md")).unwrap_err();
        assert!(matches!(climbing, PackageFileError::Climbs { .. }));
        assert!(paths.locate_untrusted(Path::new("docs/a.md")).is_ok());
    }

    #[test]
    fn accepts_only_regular_files() {
        let project = Project::new();
        let paths = project.paths();
        let at = |path: &str| paths.locate(&project.path("p"), Path::new(path)).unwrap_err();
        for folder in ["docs", "."] {
            assert!(matches!(
                at(folder),
                PackageFileError::NotAFile { found: Irregular::Folder, .. }
            ));
        }
        fs_err::create_dir_all(project.path("p/.handover")).unwrap();
        fs_err::write(project.path("p/.handover/config.toml"), "x").unwrap();
        assert!(matches!(at(".handover/config.toml"), PackageFileError::Ours { .. }));
        assert!(matches!(at("none.md"), PackageFileError::Missing { .. }));
        assert!(matches!(at("/dev/null"), PackageFileError::Outside { .. }));
        let made = std::process::Command::new("mkfifo").arg(project.path("p/pipe")).status();
        assert!(made.unwrap().success());
        assert!(matches!(at("pipe"), PackageFileError::NotAFile { .. }));
        fs_err::write(project.path("p/new\nline.md"), "x").unwrap();
        assert!(matches!(at("new\nline.md"), PackageFileError::Name { .. }));
    }

    #[test]
    fn does_not_follow_a_file_replaced_by_a_link() {
        let project = Project::new();
        let paths = project.paths();
        let located = paths.locate(&project.path("p"), Path::new("docs/a.md")).unwrap();
        fs_err::remove_file(project.path("p/docs/a.md")).unwrap();
        symlink(project.path("outside/secret.md"), project.path("p/docs/a.md")).unwrap();
        assert!(paths.read(&located, 100).is_err());
        // A parent folder that becomes a link is detected too.
        fs_err::remove_file(project.path("p/docs/a.md")).unwrap();
        fs_err::write(project.path("p/docs/secret.md"), "mine").unwrap();
        let located = paths.locate(&project.path("p"), Path::new("docs/secret.md")).unwrap();
        fs_err::rename(project.path("p/docs"), project.path("p/gone")).unwrap();
        symlink(project.path("outside"), project.path("p/docs")).unwrap();
        assert!(matches!(paths.read(&located, 100), Err(PackageFileError::Outside { .. })));
    }

    #[test]
    fn rejects_linked_session_folders() {
        let project = Project::new();
        let paths = project.paths();
        let session = SessionId::new("s1").unwrap();
        assert!(paths.make_context_folder(&session).unwrap().is_dir());
        paths.remove_artifacts(&session).unwrap();
        symlink(project.path("outside"), project.path("p/.handover/artifacts/s1")).unwrap();
        assert!(paths.make_context_folder(&session).is_err());
        assert!(paths.remove_artifacts(&session).is_err());
        assert!(project.path("outside/secret.md").exists());
    }

    #[test]
    fn reads_only_text_within_the_limit() {
        let project = Project::new();
        let paths = project.paths();
        let read = |content: &[u8]| {
            fs_err::write(project.path("p/x.md"), content).unwrap();
            let located = paths.locate(&project.path("p"), Path::new("x.md")).unwrap();
            paths.read(&located, 10)
        };
        assert_eq!(read(b"0123456789").unwrap(), "0123456789");
        assert!(matches!(read(b"0123456789a"), Err(PackageFileError::TooLarge { size: 11, .. })));
        assert!(matches!(read(b"ab\xff"), Err(PackageFileError::NotText { offset: 2, .. })));
        assert!(matches!(read(b"ab\0"), Err(PackageFileError::NotText { offset: 2, .. })));
    }
}
