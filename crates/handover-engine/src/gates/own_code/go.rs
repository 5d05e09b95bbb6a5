//! Go: a `go.work` above a module decides where its other modules are. One that is not committed is found in
//! the checkout, and names the checkout's modules; the worktree gets a copy that names its own.

use std::path::Path;

use super::{OwnCode, Variables, elsewhere};
use crate::bounded;
use crate::gates::GateError;

const WORK: &str = "go.work";

pub(super) fn redirect(own: &OwnCode<'_>) -> Result<Variables, GateError> {
    let theirs = own.checkout.join(WORK);
    let is_chosen = own.environment.get("GOWORK").is_some();
    if is_chosen || own.folder.join(WORK).exists() || !theirs.exists() {
        return Ok(Vec::new());
    }
    let Some(text) = bounded::text(&theirs) else {
        return Err(elsewhere("a `go.work` that cannot be read", &theirs));
    };
    let text = here(&text, own.folder);
    if text.contains(&format!("{}/", own.checkout.display())) && !is_all_below(&text, own) {
        return Err(elsewhere("a module in `go.work`", &theirs));
    }
    // Beside the worktree: not part of the work, and removed with the run's worktrees.
    let mut copy = own.root.as_os_str().to_owned();
    copy.push(".go.work");
    let copied = fs_err::write(&copy, text).and_then(|()| {
        let sums = theirs.with_extension("work.sum");
        let mut into = copy.clone();
        into.push(".sum");
        if sums.exists() { fs_err::copy(sums, into).map(drop) } else { Ok(()) }
    });
    copied.map_err(|_| elsewhere("a `go.work` that is not committed", &theirs))?;
    Ok(vec![("GOWORK".to_owned(), copy)])
}

/// Whether every mention of the checkout is one of the worktree, which may be inside it.
fn is_all_below(text: &str, own: &OwnCode<'_>) -> bool {
    let (checkout, folder) = (own.checkout.display().to_string(), own.folder.display().to_string());
    let mentions = text.match_indices(&checkout);
    mentions.into_iter().all(|(at, _)| text[at..].starts_with(&folder))
}

/// The text with its relative folders below another one.
fn here(text: &str, folder: &Path) -> String {
    let folder = folder.display().to_string();
    // Two slashes would begin a comment.
    let folder = folder.trim_end_matches('/');
    let line = |line: &str| {
        let words: Vec<String> = line.split(' ').map(|word| absolute(word, folder)).collect();
        words.join(" ")
    };
    text.lines().map(|text| line(text) + "\n").collect()
}

fn absolute(word: &str, folder: &str) -> String {
    let bare = word.trim_start_matches('\t');
    let tabs = &word[..word.len() - bare.len()];
    match bare {
        "." => format!("{tabs}{folder}"),
        _ if bare.starts_with("../") => format!("{tabs}{folder}/{bare}"),
        _ if bare.starts_with("./") => format!("{tabs}{folder}{}", &bare[1..]),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_folders_become_those_of_the_worktree() {
        let text = "go 1.22\n\nuse (\n\t.\n\t./lib\n)\nuse ./app\nreplace example.com/x => ../x\n";
        assert_eq!(
            here(text, Path::new("/w/")),
            "go 1.22\n\nuse (\n\t/w\n\t/w/lib\n)\nuse /w/app\nreplace example.com/x => /w/../x\n"
        );
    }
}
