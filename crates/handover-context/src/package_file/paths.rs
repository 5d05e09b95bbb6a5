//! Where package files may be: inside the project, or inside another worktree of it.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use handover_model::SessionId;

use super::PackageFileError;

/// The folders that count as inside.
#[derive(Debug, Clone)]
pub struct ProjectPaths {
    root: PathBuf,
    worktrees: Vec<PathBuf>,
    /// Where an agent works, if it is another checkout of the project.
    pub(super) checkout: Option<Box<Self>>,
    shared: bool,
}

/// A file that is inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Where it is, symlinks followed.
    pub absolute: PathBuf,
    /// How the store names it: relative to the project with `/`, or absolute if it lies in another
    /// worktree, where a relative path would mean a different file.
    pub stored: String,
}

impl ProjectPaths {
    /// The project's root and those of the other worktrees of its repository. All must exist.
    pub fn new(root: &Path, worktrees: &[PathBuf]) -> std::io::Result<Self> {
        Ok(Self {
            root: fs_err::canonicalize(root)?,
            worktrees: worktrees.iter().map(fs_err::canonicalize).collect::<Result<_, _>>()?,
            checkout: None,
            shared: false,
        })
    }

    /// The same for an agent that works in another checkout: what is there counts before what is here.
    pub fn seen_from(&self, checkout: &Path) -> std::io::Result<Self> {
        let checkout = Some(Box::new(Self::new(checkout, &[])?));
        Ok(Self { checkout, ..self.clone() })
    }

    /// The same for a store that other machines use too: a file that is not here may be there.
    pub fn shared(self, shared: bool) -> Self {
        Self { shared, ..self }
    }

    /// Whether other machines use the store too.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a session's package files go by default.
    pub fn artifacts(&self, session: &SessionId) -> PathBuf {
        self.root.join(".handover").join("artifacts").join(session.as_str())
    }

    /// The folder inside [`artifacts`](Self::artifacts) where the naming convention holds.
    pub fn context_folder(&self, session: &SessionId) -> PathBuf {
        self.artifacts(session).join("context")
    }

    /// The absolute path of a stored one.
    pub fn absolute(&self, stored: &str) -> PathBuf {
        self.root.join(stored)
    }

    /// Checks a path that a person typed. Relative means relative to `base`; `..` is fine as long as
    /// the file is inside.
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
            let what = if metadata.is_dir() { "a folder" } else { "a device or a pipe" };
            return Err(PackageFileError::NotAFile { path: path.to_owned(), what });
        }
        let stored =
            storable(stored).ok_or_else(|| PackageFileError::Name { path: path.to_owned() })?;
        if stored.starts_with(".handover/") && !stored.starts_with(".handover/artifacts/") {
            return Err(PackageFileError::Ours { path: path.to_owned() });
        }
        Ok(Located { absolute, stored })
    }

    /// Checks a path that came from a file or an agent: relative to the project, and never climbing.
    pub fn locate_untrusted(&self, path: &Path) -> Result<Located, PackageFileError> {
        self.locate_untrusted_in(&self.root, path)
    }

    /// The same, relative to the checkout in which the agent works.
    pub fn locate_untrusted_in(
        &self,
        checkout: &Path,
        path: &Path,
    ) -> Result<Located, PackageFileError> {
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(PackageFileError::Climbs { path: path.to_owned() });
        }
        self.locate(checkout, path)
    }

    /// Opens a located file and looks at what was opened: between the check and now somebody may have
    /// put a link or a pipe in its place.
    pub fn open(&self, located: &Located) -> Result<File, PackageFileError> {
        let path = || PathBuf::from(&located.stored);
        let read_error = |source| PackageFileError::Read { path: path(), source };
        let file = File::options()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(&located.absolute)
            .map_err(read_error)?;
        if !file.metadata().map_err(read_error)?.is_file() {
            return Err(PackageFileError::NotAFile { path: path(), what: "a device or a pipe" });
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

    /// Reads a located file as text, at most `max` bytes of it.
    pub fn read(&self, located: &Located, max: u64) -> Result<String, PackageFileError> {
        let path = || PathBuf::from(&located.stored);
        let read_error = |source| PackageFileError::Read { path: path(), source };
        let file = self.open(located)?;
        let size = file.metadata().map_err(read_error)?.len();
        let mut bytes = Vec::with_capacity(size.min(max) as usize);
        // The size may be wrong by the time of reading: the limit holds for what is read.
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

    /// Makes the folder for a session's packages. None of the folders on the way may be a link that
    /// leads elsewhere.
    pub fn make_context_folder(&self, session: &SessionId) -> Result<PathBuf, PackageFileError> {
        let folder = self.context_folder(session);
        self.refuse_links(&folder)?;
        fs_err::create_dir_all(&folder)
            .map_err(|source| PackageFileError::Read { path: folder.clone(), source })?;
        Ok(folder)
    }

    /// Removes a session's folder, if it is one.
    pub fn remove_artifacts(&self, session: &SessionId) -> Result<(), PackageFileError> {
        let folder = self.artifacts(session);
        self.refuse_links(&folder)?;
        match fs_err::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(PackageFileError::Read { path: folder, source: error })
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn refuse_links(&self, folder: &Path) -> Result<(), PackageFileError> {
        let inside = folder.ancestors().take_while(|part| *part != self.root);
        for part in inside {
            if fs_err::symlink_metadata(part).is_ok_and(|m| m.file_type().is_symlink()) {
                return Err(PackageFileError::Link { path: part.to_owned() });
            }
        }
        Ok(())
    }
}

/// A path as text with `/`, if every part of it can be shown.
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

        fn places(&self) -> ProjectPaths {
            ProjectPaths::new(&self.path("p"), &[self.path("tree")]).unwrap()
        }
    }

    #[test]
    fn inside_is_found_from_anywhere() {
        let project = Project::new();
        let places = project.places();
        for (base, path) in
            [("p", "docs/a.md"), ("p/sub", "../docs/a.md"), ("p", "./sub/../docs/a.md")]
        {
            let located = places.locate(&project.path(base), Path::new(path)).unwrap();
            assert_eq!(located.stored, "docs/a.md");
        }
        symlink(project.path("p/docs/a.md"), project.path("p/sub/link.md")).unwrap();
        let located = places.locate(&project.path("p"), Path::new("sub/link.md")).unwrap();
        assert_eq!(located.stored, "docs/a.md");
    }

    #[test]
    fn another_worktree_is_named_absolutely() {
        let project = Project::new();
        let located =
            project.places().locate(&project.path("tree"), Path::new("docs/b.md")).unwrap();
        assert!(located.stored.ends_with("/tree/docs/b.md") && located.stored.starts_with('/'));
        assert_eq!(project.places().absolute(&located.stored), located.absolute);
    }

    #[test]
    fn outside_is_refused_however_it_is_reached() {
        let project = Project::new();
        let places = project.places();
        symlink(project.path("outside/secret.md"), project.path("p/docs/link.md")).unwrap();
        symlink(project.path("outside"), project.path("p/way")).unwrap();
        for path in ["../outside/secret.md", "docs/link.md", "way/secret.md", "/etc/passwd"] {
            let error = places.locate(&project.path("p"), Path::new(path)).unwrap_err();
            assert!(matches!(error, PackageFileError::Outside { .. }), "{path}: {error}");
        }
        let climbing = places.locate_untrusted(Path::new("docs/../docs/a.md")).unwrap_err();
        assert!(matches!(climbing, PackageFileError::Climbs { .. }));
        assert!(places.locate_untrusted(Path::new("docs/a.md")).is_ok());
    }

    #[test]
    fn only_files_are_taken() {
        let project = Project::new();
        let places = project.places();
        let at = |path: &str| places.locate(&project.path("p"), Path::new(path)).unwrap_err();
        for folder in ["docs", "."] {
            assert!(matches!(at(folder), PackageFileError::NotAFile { what: "a folder", .. }));
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
    fn a_file_that_becomes_a_link_is_not_followed() {
        let project = Project::new();
        let places = project.places();
        let located = places.locate(&project.path("p"), Path::new("docs/a.md")).unwrap();
        fs_err::remove_file(project.path("p/docs/a.md")).unwrap();
        symlink(project.path("outside/secret.md"), project.path("p/docs/a.md")).unwrap();
        assert!(places.read(&located, 100).is_err());
        // A folder on the way that becomes a link is noticed too.
        fs_err::remove_file(project.path("p/docs/a.md")).unwrap();
        fs_err::write(project.path("p/docs/secret.md"), "mine").unwrap();
        let located = places.locate(&project.path("p"), Path::new("docs/secret.md")).unwrap();
        fs_err::rename(project.path("p/docs"), project.path("p/gone")).unwrap();
        symlink(project.path("outside"), project.path("p/docs")).unwrap();
        assert!(matches!(places.read(&located, 100), Err(PackageFileError::Outside { .. })));
    }

    #[test]
    fn folders_of_sessions_are_no_links() {
        let project = Project::new();
        let places = project.places();
        let session = SessionId::new("s1").unwrap();
        assert!(places.make_context_folder(&session).unwrap().is_dir());
        places.remove_artifacts(&session).unwrap();
        symlink(project.path("outside"), project.path("p/.handover/artifacts/s1")).unwrap();
        assert!(places.make_context_folder(&session).is_err());
        assert!(places.remove_artifacts(&session).is_err());
        assert!(project.path("outside/secret.md").exists());
    }

    #[test]
    fn only_text_of_bounded_size_is_read() {
        let project = Project::new();
        let places = project.places();
        let read = |content: &[u8]| {
            fs_err::write(project.path("p/x.md"), content).unwrap();
            let located = places.locate(&project.path("p"), Path::new("x.md")).unwrap();
            places.read(&located, 10)
        };
        assert_eq!(read(b"0123456789").unwrap(), "0123456789");
        assert!(matches!(read(b"0123456789a"), Err(PackageFileError::TooLarge { size: 11, .. })));
        assert!(matches!(read(b"ab\xff"), Err(PackageFileError::NotText { offset: 2, .. })));
        assert!(matches!(read(b"ab\0"), Err(PackageFileError::NotText { offset: 2, .. })));
    }
}
