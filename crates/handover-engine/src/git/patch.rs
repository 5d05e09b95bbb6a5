//! The work on a story as a patch that fits a prompt. If it does not fit as a whole, every file keeps its
//! share: a lock file or one large file must not hide the code.

use super::{GitError, Repo};

/// How much is read of the patch of all files.
const READ: u64 = 4 << 20;

/// Files that tools write. They are named, not shown, if the patch does not fit.
const GENERATED: &[&str] = &[
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "go.sum",
    "composer.lock",
    "Gemfile.lock",
];
const GENERATED_ENDS: &[&str] = &[".min.js", ".min.css", ".map", ".snap", ".svg", ".lock"];
const GENERATED_FOLDERS: &[&str] = &["dist", "vendor", "node_modules", "__snapshots__"];

impl Repo {
    /// The changes as a patch of at most `most` bytes, without some paths.
    pub fn patch(
        &self,
        from: &str,
        to: &str,
        without: &[String],
        most: usize,
    ) -> Result<String, GitError> {
        let mut call = self.call([
            "diff-tree",
            "-p",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "-M",
            from,
            to,
            "--",
            ".",
        ]);
        for path in without {
            call = call.arg(format!(":(exclude,top,literal){path}"));
        }
        let whole = String::from_utf8_lossy(&call.bytes_up_to(READ)?).into_owned();
        Ok(if whole.len() <= most { whole } else { shared(&whole, most) })
    }
}

/// Shares the space among the files: small ones are shown whole, and larger ones get what they leave.
fn shared(patch: &str, most: usize) -> String {
    let (generated, mut files): (Vec<File<'_>>, Vec<File<'_>>) =
        files(patch).into_iter().partition(|file| is_generated(file.path));
    let mut end = String::new();
    if !generated.is_empty() {
        let names: Vec<String> = generated
            .iter()
            .map(|file| format!("{} ({} lines)", file.path, file.text.lines().count()))
            .collect();
        end = format!("Also changed, by tools, and not shown: {}\n", names.join(", "));
    }
    let mut left = most.saturating_sub(end.len());
    files.sort_by_key(|file| (file.text.len(), file.at));
    let mut waiting = files.len();
    let mut shown: Vec<(usize, String)> = Vec::new();
    for file in &files {
        let text = cut(file, left / waiting.max(1));
        left = left.saturating_sub(text.len());
        waiting -= 1;
        shown.push((file.at, text));
    }
    shown.sort_by_key(|(at, _)| *at);
    shown.into_iter().map(|(_, text)| text).collect::<String>() + &end
}

struct File<'p> {
    at: usize,
    path: &'p str,
    text: &'p str,
}

fn files(patch: &str) -> Vec<File<'_>> {
    const START: &str = "diff --git ";
    let mut starts: Vec<usize> = patch
        .match_indices(START)
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || patch[..*at].ends_with('\n'))
        .collect();
    starts.push(patch.len());
    let of = |(at, pair): (usize, &[usize])| {
        let text = &patch[pair[0]..pair[1]];
        let line = text.lines().next().unwrap_or_default();
        let path = line.rsplit_once(" b/").map_or(line, |(_, path)| path).trim_end_matches('"');
        File { at, path, text }
    };
    starts.windows(2).enumerate().map(of).collect()
}

/// The beginning of a file's patch, in whole lines.
fn cut(file: &File<'_>, most: usize) -> String {
    if file.text.len() <= most {
        return file.text.to_owned();
    }
    let rest = format!("(The rest is not shown; read {}.)\n", file.path);
    let end = file.text.floor_char_boundary(most.saturating_sub(rest.len()));
    let end = file.text[..end].rfind('\n').map_or(0, |at| at + 1);
    format!("{}{rest}", &file.text[..end])
}

fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    GENERATED.contains(&name)
        || GENERATED_ENDS.iter().any(|end| name.ends_with(end))
        || path.split('/').any(|folder| GENERATED_FOLDERS.contains(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, lines: usize) -> String {
        let body: String = (0..lines).map(|n| format!("+line {n}\n")).collect();
        format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n{body}")
    }

    #[test]
    fn every_file_keeps_its_share() {
        let patch =
            file("a-lock/package-lock.json", 9_000) + &file("big.rs", 9_000) + &file("small.rs", 3);
        let shown = shared(&patch, 2_000);
        assert!(shown.len() <= 2_000, "{}", shown.len());
        assert!(shown.contains("+++ b/big.rs") && shown.contains("read big.rs"), "{shown}");
        assert!(shown.contains(&file("small.rs", 3)), "{shown}");
        assert!(shown.contains("not shown: a-lock/package-lock.json (9003 lines)"), "{shown}");
        assert!(!shown.contains("+++ b/a-lock"), "{shown}");
        // Files stay in their order.
        assert!(shown.find("big.rs").unwrap() < shown.find("small.rs").unwrap());
    }

    #[test]
    fn a_patch_inside_a_patch_is_not_a_file() {
        let patch = file("docs/how.md", 1) + "+diff --git a/x b/x\n" + &file("b.rs", 1);
        let paths: Vec<&str> = files(&patch).iter().map(|file| file.path).collect();
        assert_eq!(paths, ["docs/how.md", "b.rs"]);
    }
}
