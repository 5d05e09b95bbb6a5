//! What processes did to files, as recorded by `strace`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One operation on a file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileCall {
    /// Opened, with the flags of the call.
    Open {
        path: PathBuf,
        creates: bool,
        truncates: bool,
        appends: bool,
    },
    /// Written, at a position or where the last write ended.
    Write {
        path: PathBuf,
        at: Option<u64>,
        bytes: Vec<u8>,
    },
    /// Moved the position of the next write.
    Seek {
        path: PathBuf,
        to: u64,
    },
    Truncate {
        path: PathBuf,
        length: u64,
    },
    Sync {
        path: PathBuf,
    },
    /// Written to the disk, but not out of the disk's cache.
    WriteOut {
        path: PathBuf,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Link {
        from: PathBuf,
        to: PathBuf,
    },
    Unlink {
        path: PathBuf,
    },
    Folder {
        path: PathBuf,
    },
    /// A symbolic link was created; paths through it resolve to its target.
    Symlink {
        at: PathBuf,
        target: PathBuf,
    },
    /// Responded on standard output.
    Answer,
}

impl FileCall {
    /// Resolves what is actually changed: open files have the paths of their targets, other calls those
    /// that the program used.
    fn resolve(&mut self, links: &BTreeMap<PathBuf, PathBuf>) {
        let real = |path: &mut PathBuf| {
            let found = path.ancestors().skip(1).find_map(|above| Some((above, links.get(above)?)));
            let resolved =
                found.and_then(|(above, target)| Some(target.join(path.strip_prefix(above).ok()?)));
            if let Some(resolved) = resolved {
                *path = resolved;
            }
        };
        match self {
            Self::Rename { from, to } | Self::Link { from, to } => {
                real(from);
                real(to);
            }
            Self::Unlink { path } | Self::Folder { path } => real(path),
            Self::Open { .. }
            | Self::Write { .. }
            | Self::Seek { .. }
            | Self::Truncate { .. }
            | Self::Sync { .. }
            | Self::WriteOut { .. }
            | Self::Symlink { .. }
            | Self::Answer => {}
        }
    }
}

/// The system calls that are recorded.
pub(super) const TRACED: &str = "trace=openat,open,creat,write,pwrite64,writev,lseek,ftruncate,fsync,\
    fdatasync,sync_file_range,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,symlink,symlinkat";

/// Reads the files that `strace -ff` wrote, one for each thread, in the order of their times.
pub(super) fn read(prefix: &Path) -> Vec<FileCall> {
    let folder = prefix.parent().unwrap();
    let name = format!("{}.", prefix.file_name().unwrap().to_string_lossy());
    let mut lines = Vec::new();
    for entry in fs_err::read_dir(folder).unwrap().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(&name) {
            continue;
        }
        let mut cwd = PathBuf::new();
        for line in fs_err::read_to_string(entry.path()).unwrap().lines() {
            let Some((time, call)) = line.split_once(' ') else { continue };
            if let Some(call) = parse(call, &mut cwd) {
                lines.push((time.to_owned(), call));
            }
        }
    }
    // Times have the same number of digits.
    lines.sort_by(|one, two| one.0.cmp(&two.0));
    let mut links = BTreeMap::new();
    let mut calls = Vec::new();
    for (_, mut call) in lines {
        if let FileCall::Symlink { at, target } = call {
            links.insert(at, target);
            continue;
        }
        call.resolve(&links);
        calls.push(call);
    }
    calls
}

fn parse(line: &str, cwd: &mut PathBuf) -> Option<FileCall> {
    let (name, rest) = line.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(") = ")?;
    if result.starts_with('-') {
        return None;
    }
    let arguments = split(arguments);
    let argument = |at: usize| arguments.get(at).map_or("", String::as_str);
    if let Some(folder) = arguments.iter().find_map(|a| a.strip_prefix("AT_FDCWD")) {
        *cwd = in_brackets(folder)?;
    }
    // A path, relative to the folder before it or to the current one.
    let path = |at: usize, folder: Option<usize>| -> Option<PathBuf> {
        let base = folder.and_then(|at| in_brackets(argument(at))).unwrap_or_else(|| cwd.clone());
        Some(base.join(PathBuf::from(String::from_utf8(quoted(argument(at))?).ok()?)))
    };
    let open = || in_brackets(argument(0));
    let number = |at: usize| argument(at).parse().ok();
    Some(match name {
        "openat" | "open" | "creat" => {
            let flags = arguments.join(" ");
            FileCall::Open {
                path: in_brackets(result)?,
                creates: flags.contains("O_CREAT") || name == "creat",
                truncates: flags.contains("O_TRUNC") || name == "creat",
                appends: flags.contains("O_APPEND"),
            }
        }
        "write" | "writev" if argument(0).starts_with("1<") => FileCall::Answer,
        "write" | "writev" => {
            let parts = arguments[1..].iter().filter_map(|part| quoted(part));
            FileCall::Write { path: open()?, at: None, bytes: parts.flatten().collect() }
        }
        "pwrite64" => FileCall::Write { path: open()?, at: number(3), bytes: quoted(argument(1))? },
        "lseek" => FileCall::Seek { path: open()?, to: result.parse().ok()? },
        "ftruncate" => FileCall::Truncate { path: open()?, length: number(1)? },
        "fsync" | "fdatasync" => FileCall::Sync { path: open()? },
        "sync_file_range" => FileCall::WriteOut { path: open()? },
        "rename" => FileCall::Rename { from: path(0, None)?, to: path(1, None)? },
        "renameat" | "renameat2" => {
            FileCall::Rename { from: path(1, Some(0))?, to: path(3, Some(2))? }
        }
        "link" => FileCall::Link { from: path(0, None)?, to: path(1, None)? },
        "linkat" => FileCall::Link { from: path(1, Some(0))?, to: path(3, Some(2))? },
        "symlink" => FileCall::Symlink { target: path(0, None)?, at: path(1, None)? },
        "symlinkat" => FileCall::Symlink { target: path(0, None)?, at: path(2, Some(1))? },
        "unlink" => FileCall::Unlink { path: path(0, None)? },
        "unlinkat" => FileCall::Unlink { path: path(1, Some(0))? },
        "mkdir" => FileCall::Folder { path: path(0, None)? },
        "mkdirat" => FileCall::Folder { path: path(1, Some(0))? },
        _ => return None,
    })
}

/// Arguments, separated by commas; every string is in hexadecimal and so contains none.
fn split(arguments: &str) -> Vec<String> {
    arguments.split(", ").map(ToOwned::to_owned).collect()
}

/// The path in `5</path>`.
fn in_brackets(text: &str) -> Option<PathBuf> {
    let (_, path) = text.split_once('<')?;
    let path = unescape(path.strip_suffix('>').unwrap_or(path))?;
    Some(PathBuf::from(String::from_utf8(path).ok()?))
}

/// The bytes of `"\x00"`, wherever they occur in an argument.
fn quoted(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once('"')?;
    unescape(rest.split_once('"')?.0)
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let digits = text.split("\\x");
    if !text.starts_with("\\x") {
        return Some(text.as_bytes().to_vec());
    }
    digits.skip(1).map(|pair| u8::from_str_radix(pair.get(..2)?, 16).ok()).collect()
}

/// Where each open file is written next.
#[derive(Default)]
pub(super) struct Positions(BTreeMap<PathBuf, Position>);

#[derive(Clone, Copy)]
enum Position {
    At(u64),
    End,
}

impl Positions {
    pub(super) fn open(&mut self, path: &Path, appends: bool) {
        let position = if appends { Position::End } else { Position::At(0) };
        self.0.insert(path.to_owned(), position);
    }

    pub(super) fn seek(&mut self, path: &Path, to: u64) {
        if let Some(Position::At(at)) = self.0.get_mut(path) {
            *at = to;
        }
    }

    /// The position of a write of this many bytes, in a file of this length.
    pub(super) fn write(&mut self, path: &Path, bytes: u64, length: u64) -> u64 {
        match self.0.get_mut(path) {
            Some(Position::At(at)) => {
                *at += bytes;
                *at - bytes
            }
            Some(Position::End) | None => length,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_through_a_link_lead_to_its_target() {
        let links =
            BTreeMap::from([(PathBuf::from("/own/objects"), PathBuf::from("/git/objects"))]);
        let resolved = |path: &str| {
            let mut call = FileCall::Unlink { path: PathBuf::from(path) };
            call.resolve(&links);
            call
        };
        let unlink = |path: &str| FileCall::Unlink { path: PathBuf::from(path) };
        assert_eq!(resolved("/own/objects/ab/cd"), unlink("/git/objects/ab/cd"));
        assert_eq!(resolved("/own/objects"), unlink("/own/objects"), "the link itself");
        assert_eq!(resolved("/own/other"), unlink("/own/other"));
    }

    fn call(line: &str) -> Option<FileCall> {
        parse(line, &mut PathBuf::from("/cwd"))
    }

    #[test]
    fn calls_are_read() {
        let path = PathBuf::from("/ab");
        assert_eq!(
            call(r#"pwrite64(5<\x2f\x61\x62>, "\x68\x69", 2, 4096) = 2"#),
            Some(FileCall::Write { path: path.clone(), at: Some(4096), bytes: b"hi".to_vec() })
        );
        assert_eq!(
            call(
                r#"writev(5<\x2f\x61\x62>, [{iov_base="\x68", iov_len=1}, {iov_base="\x69", iov_len=1}], 2) = 2"#
            ),
            Some(FileCall::Write { path: path.clone(), at: None, bytes: b"hi".to_vec() })
        );
        assert_eq!(
            call(r"fsync(3<\x2f\x61\x62>) = 0"),
            Some(FileCall::Sync { path: path.clone() })
        );
        assert_eq!(call(r"fsync(3<\x2f\x61\x62>) = -1 EIO (Input/output error)"), None);
        assert_eq!(
            call(
                r#"openat(AT_FDCWD<\x2f>, "\x61\x62", O_RDWR|O_CREAT|O_TRUNC, 0644) = 5<\x2f\x61\x62>"#
            ),
            Some(FileCall::Open {
                path: path.clone(),
                creates: true,
                truncates: true,
                appends: false
            })
        );
        assert_eq!(
            call(r#"renameat2(AT_FDCWD<\x2f>, "\x61", AT_FDCWD<\x2f>, "\x61\x62", 0) = 0"#),
            Some(FileCall::Rename { from: PathBuf::from("/a"), to: path })
        );
        assert_eq!(
            call(r#"mkdir("\x64", 0777) = 0"#),
            Some(FileCall::Folder { path: PathBuf::from("/cwd/d") })
        );
        assert_eq!(
            call(r#"symlink("\x2f\x61", "\x62") = 0"#),
            Some(FileCall::Symlink { at: PathBuf::from("/cwd/b"), target: PathBuf::from("/a") })
        );
        assert_eq!(call(r#"write(1<\x70\x69\x70\x65>, "\x68", 1) = 1"#), Some(FileCall::Answer));
    }
}
