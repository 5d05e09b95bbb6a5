//! Indexes of real repositories: what is found, what an update reads, what happens to a damaged file.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use handover_files::Folder;
use handover_text::Redactor;

use super::{
    Checkout, Evidence, Index, Named, Place, Presence, Progress, Watch, file_name, folder_of,
    section,
};
use crate::testing::Repository;

fn project(repository: &Repository) -> Folder {
    Folder::of(repository.root())
}

#[track_caller]
fn update(repository: &Repository) -> Progress {
    update_while(repository, Watch::TO_THE_END)
}

#[track_caller]
fn update_while(repository: &Repository, watch: Watch<'_>) -> Progress {
    let (git, redactor) = (repository.open(), Redactor::default());
    let checkout = Checkout { root: repository.root(), git: &git, redactor: &redactor };
    Index::update(&project(repository), checkout, watch).unwrap()
}

#[track_caller]
fn open(repository: &Repository) -> Index {
    Index::open(&project(repository), repository.root()).unwrap()
}

fn paths(repository: &Repository, task: &str) -> Vec<String> {
    let places = open(repository).places(task, &Evidence::default(), 10);
    places.into_iter().map(|place| place.path).collect()
}

fn why(repository: &Repository, task: &str, path: &str) -> String {
    let places = open(repository).places(task, &Evidence::default(), 10);
    places.into_iter().find(|place| place.path == path).map(|place| place.why).unwrap_or_default()
}

/// A small project with a history.
fn shop() -> Repository {
    let repository = Repository::new();
    repository.write(".gitignore", "target/\n.handover/\n");
    for n in 0..12 {
        repository
            .write(&format!("src/widget_{n}.rs"), &format!("pub fn draw_{n}() {{ paint({n}) }}\n"));
    }
    repository.write(
        "src/auth.rs",
        "pub fn refresh_token(old: &str) -> String { rotate(old) }\nstruct Session;\n",
    );
    repository.write("src/cart.rs", "pub fn add_item() {}\npub fn total() -> u32 { 0 }\n");
    repository.write("src/tax.rs", "pub const RATE: u32 = 19;\n");
    repository.commit("README.md", "# Shop\n", "Start of the shop");
    for n in 0..3 {
        repository.write("src/tax.rs", &format!("pub const RATE: u32 = {n};\n"));
        repository.commit(
            "src/cart.rs",
            &format!("pub fn total() -> u32 {{ {n} }}\n"),
            "Round invoices half up",
        );
    }
    repository
}

#[test]
fn finds_names_history_and_company() {
    let repository = shop();
    let progress = update(&repository);
    assert_eq!((progress.files, progress.read, progress.unread), (17, 17, 0));
    assert_eq!((progress.commits, progress.is_complete()), (4, true));
    assert_eq!(paths(&repository, "The refresh token expires too early")[0], "src/auth.rs");
    let reason = why(&repository, "The refresh token expires too early", "src/auth.rs");
    assert_eq!(reason, "defines `refresh_token`");
    // No file says "invoices", but commits did.
    let found = paths(&repository, "Invoices are rounded wrongly");
    assert_eq!(&found[..2], ["src/cart.rs", "src/tax.rs"]);
    let reason = why(&repository, "Invoices are rounded wrongly", "src/tax.rs");
    assert!(
        reason.starts_with("changed in 3 commits like this: \"Round invoices half up\""),
        "{reason}"
    );
    // What changes together follows.
    let reason = why(&repository, "add_item and total", "src/tax.rs");
    assert_eq!(reason, "changes together with src/cart.rs");
    assert_eq!(paths(&repository, "gargoyles"), [""; 0]);
    assert_eq!(paths(&repository, ""), [""; 0]);
}

/// Some file has some of the words of any task.
#[test]
fn a_task_of_something_else_names_nothing() {
    let repository = shop();
    update(&repository);
    let task = "Plan a birthday party for twenty children and paint their faces";
    assert_eq!(paths(&repository, task), [""; 0]);
    assert_eq!(open(&repository).places_for_brief(task, &Evidence::default()), []);
    assert_eq!(paths(&repository, "paint").len(), 10);
    assert_eq!(paths(&repository, &format!("{task}, see src/tax.rs"))[0], "src/tax.rs");
}

#[test]
fn what_is_named_comes_first() {
    let repository = shop();
    update(&repository);
    let task = "refresh_token in widget_7.rs";
    assert_eq!(paths(&repository, task)[0], "src/widget_7.rs");
    assert!(why(&repository, task, "src/widget_7.rs").starts_with("named in the task"));
    let named = Named {
        path: "src/tax.rs".to_owned(),
        why: "named by the developer of attempt 1".to_owned(),
        strength: 1.0,
    };
    let unknown = Named { path: "src/none.rs".to_owned(), ..named.clone() };
    let evidence = Evidence { named: vec![unknown, named] };
    let places = open(&repository).places("draw", &evidence, 3);
    assert_eq!(places[0].path, "src/tax.rs");
    assert_eq!(places[0].why, "named by the developer of attempt 1");
}

#[test]
fn synonyms_and_typing_mistakes_are_found() {
    let repository = shop();
    update(&repository);
    assert_eq!(paths(&repository, "authentication")[0], "src/auth.rs");
    assert_eq!(paths(&repository, "refersh")[0], "src/auth.rs");
    // A word that is known is taken as it is.
    repository.commit("src/authentication.rs", "pub fn nothing() {}\n", "More");
    update(&repository);
    assert_eq!(paths(&repository, "authentication"), ["src/authentication.rs"]);
}

#[test]
fn an_update_reads_what_changed() {
    let repository = shop();
    update(&repository);
    assert_eq!(update(&repository), Progress { read: 0, ..update(&repository) });
    // A change that is not committed, a new file, a deleted one, an ignored one.
    repository.write("src/cart.rs", "pub fn checkout_wizard() {}\n");
    repository.write("src/fresh.rs", "pub fn brand_new() {}\n");
    repository.write("target/out.rs", "pub fn brand_new() {}\n");
    fs_err::remove_file(repository.root().join("src/tax.rs")).unwrap();
    let progress = update(&repository);
    assert_eq!((progress.read, progress.removed, progress.files), (2, 1, 17));
    assert_eq!(paths(&repository, "checkout wizard")[0], "src/cart.rs");
    assert_eq!(paths(&repository, "brand_new"), ["src/fresh.rs"]);
    assert_eq!(open(&repository).symbol("total"), Presence::Absent);
    assert!(!paths(&repository, "Invoices are rounded").contains(&"src/tax.rs".to_owned()));
    repository.commit("src/cart.rs", "pub fn wizard() {}\n", "A wizard of checkouts");
    let progress = update(&repository);
    assert_eq!((progress.read, progress.commits), (2, 5));
}

#[test]
fn many_updates_are_the_same_as_one() {
    let repository = shop();
    for round in 0..40 {
        for n in 0..20 {
            repository
                .write(&format!("many/{n}.rs"), &format!("fn round_{round}() {{}} // {n} zebra\n"));
        }
        update(&repository);
    }
    let task = "round_39 zebra of the cart";
    let (before, symbols) = (paths(&repository, task), open(&repository).symbol("round_38"));
    let folder = folder_of(&project(&repository));
    let size = folder.size(&file_name(repository.root())).unwrap();
    folder.remove(&file_name(repository.root())).unwrap();
    update(&repository);
    assert_eq!(before.len(), paths(&repository, task).len());
    assert_eq!(symbols, Presence::Absent);
    // Replaced versions do not pile up for ever.
    let new = folder.size(&file_name(repository.root())).unwrap();
    assert!(size < new * 8, "{size} {new}");
}

#[test]
fn a_stop_leaves_the_rest_for_the_next_time() {
    let repository = shop();
    let seen = AtomicUsize::new(0);
    let stop = || seen.load(Ordering::Relaxed) >= 5;
    let count = |_, _| {
        seen.fetch_add(1, Ordering::Relaxed);
    };
    let watch = Watch { stop: &stop, seen: &count };
    let progress = update_while(&repository, watch);
    assert!(progress.read >= 5 && progress.unread > 0, "{progress:?}");
    assert!(!progress.is_complete() && !open(&repository).is_complete());
    let progress = update(&repository);
    assert!(progress.is_complete() && open(&repository).is_complete());
    assert_eq!((progress.files, progress.commits), (17, 4));
    let stopped = Watch { stop: &|| true, seen: &|_, _| {} };
    update_while(&repository, stopped);
    assert!(open(&repository).is_complete());
}

#[test]
fn a_damaged_file_is_built_anew() {
    let repository = shop();
    update(&repository);
    let expected = paths(&repository, "refresh token");
    let path = folder_of(&project(&repository)).path().join(file_name(repository.root()));
    let whole = fs_err::read(&path).unwrap();
    for (at, change) in [(4, 1), (100, 7), (whole.len() / 2, 255), (whole.len() - 3, 1)] {
        let mut bytes = whole.clone();
        bytes[at] ^= change;
        fs_err::write(&path, bytes).unwrap();
        // A query survives it, whatever it says.
        if let Some(index) = Index::open(&project(&repository), repository.root()) {
            index.places("refresh token of the cart", &Evidence::default(), 10);
            let _ =
                (index.symbol("refresh_token"), index.renamed("old.rs"), index.commit("0123456"));
        }
        assert_eq!(update(&repository).read, 17);
        assert_eq!(paths(&repository, "refresh token"), expected);
    }
    fs_err::write(&path, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(update(&repository).read, 17);
}

#[test]
fn an_index_that_the_checkout_brought_is_not_used() {
    let (repository, other) = (shop(), shop());
    update(&repository);
    let folder = folder_of(&project(&repository)).path();
    let bytes = fs_err::read(folder.join(file_name(repository.root()))).unwrap();
    let theirs = folder_of(&project(&other)).path();
    fs_err::create_dir_all(&theirs).unwrap();
    fs_err::write(theirs.join(file_name(other.root())), bytes).unwrap();
    assert!(Index::open(&project(&other), other.root()).is_none());
    assert_eq!(update(&other).read, 17);
}

#[test]
fn history_follows_the_branch() {
    let repository = shop();
    repository.git(&["checkout", "-q", "-b", "side"]);
    let side = repository.commit("src/cart.rs", "fn x() {}\n", "Teleport parcels");
    update(&repository);
    assert_eq!(paths(&repository, "teleport parcels")[..2], ["src/cart.rs", "src/tax.rs"]);
    assert_eq!(open(&repository).commit(&side[..9]).as_deref(), Some("Teleport parcels"));
    repository.git(&["checkout", "-q", "main"]);
    let progress = update(&repository);
    assert_eq!(progress.commits, 4);
    assert_eq!(paths(&repository, "teleport parcels"), [""; 0]);
    assert_eq!(open(&repository).commit(&side), None);
    repository.git(&["checkout", "-q", "side"]);
    assert_eq!(update(&repository).commits, 5);
    assert_eq!(open(&repository).commit(&side.to_uppercase()).as_deref(), Some("Teleport parcels"));
    // A rewritten history whose former end does not exist any more.
    repository.git(&["commit", "-q", "--amend", "-m", "Beam parcels"]);
    repository.git(&["reflog", "expire", "--expire=now", "--all"]);
    repository.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(update(&repository).commits, 5);
    assert_eq!(paths(&repository, "teleport"), [""; 0]);
    assert_eq!(paths(&repository, "beam")[0], "src/cart.rs");
}

#[test]
fn what_was_renamed_is_known() {
    let repository = shop();
    repository.git(&["mv", "src/cart.rs", "src/basket.rs"]);
    repository.commit("note.md", "1", "Call it basket");
    update(&repository);
    repository.git(&["mv", "src/basket.rs", "src/trolley.rs"]);
    repository.commit("note.md", "2", "Call it trolley");
    update(&repository);
    let index = open(&repository);
    assert_eq!(index.renamed("src/cart.rs").as_deref(), Some("src/trolley.rs"));
    assert_eq!(index.renamed("src/basket.rs").as_deref(), Some("src/trolley.rs"));
    assert_eq!(index.renamed("src/trolley.rs"), None);
    assert_eq!(index.renamed("src/never.rs"), None);
    assert!(index.exists("src/trolley.rs") && !index.exists("src/cart.rs"));
    assert!(!index.exists("../elsewhere") && !index.exists("/etc/passwd") && !index.exists(""));
    // The history of a file continues under its new name.
    assert_eq!(paths(&repository, "Invoices are rounded wrongly")[0], "src/trolley.rs");
}

#[test]
fn names_are_defined_mentioned_or_absent() {
    let repository = shop();
    update(&repository);
    let index = open(&repository);
    for (name, expected) in [
        ("refresh_token", Presence::Defined),
        ("auth::refresh_token", Presence::Defined),
        ("refresh_token()", Presence::Defined),
        ("Session", Presence::Defined),
        ("rotate", Presence::Mentioned),
        ("refreshToken", Presence::Mentioned),
        ("revoke_token", Presence::Absent),
        ("", Presence::Absent),
        ("…", Presence::Absent),
    ] {
        assert_eq!(index.symbol(name), expected, "{name}");
    }
}

#[test]
fn a_project_below_the_root_sees_its_own_files() {
    let repository = Repository::new();
    repository.write("other/elsewhere.rs", "fn secret_sauce() {}");
    repository.commit("app/src/main.rs", "fn secret_sauce() {}", "Add the sauce");
    let root = repository.root().join("app");
    let git = crate::Git::open(&root, Repository::environment()).unwrap().unwrap();
    let folder = Folder::of(&root);
    let redactor = Redactor::default();
    let checkout = Checkout { root: &root, git: &git, redactor: &redactor };
    let progress = Index::update(&folder, checkout, Watch::TO_THE_END).unwrap();
    assert_eq!((progress.files, progress.commits), (1, 1));
    let index = Index::open(&folder, &root).unwrap();
    let places = index.places("sauce", &Evidence::default(), 5);
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].path, "src/main.rs");
    assert!(places[0].why.contains("Add the sauce"), "{}", places[0].why);
}

#[test]
fn links_and_strange_names_are_survived() {
    let repository = shop();
    std::os::unix::fs::symlink("/etc", repository.root().join("etc")).unwrap();
    std::os::unix::fs::symlink("src/auth.rs", repository.root().join("link.rs")).unwrap();
    repository.write("src/tab\tand\nline.rs", "fn odd_name() {}");
    repository.commit("src/ünïcode.rs", "fn umlaut() {}", "Odd `names`\u{7} in\u{1b}[31m red");
    // A folder that became a link after git had seen it.
    repository.commit("deep/file.rs", "fn deep() {}", "Deep");
    fs_err::remove_dir_all(repository.root().join("deep")).unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs_err::write(outside.path().join("file.rs"), "fn leaked() {}").unwrap();
    std::os::unix::fs::symlink(outside.path(), repository.root().join("deep")).unwrap();
    update(&repository);
    assert_eq!(paths(&repository, "odd_name")[0], "src/tab\tand\nline.rs");
    assert_eq!(paths(&repository, "umlaut")[0], "src/ünïcode.rs");
    assert_eq!(paths(&repository, "leaked"), [""; 0]);
    let reason = why(&repository, "odd names in red", "src/ünïcode.rs");
    assert!(!reason.contains(['\u{1b}', '\u{7}']), "{reason:?}");
}

#[test]
fn a_brief_has_the_best_only() {
    let repository = shop();
    update(&repository);
    let places =
        open(&repository).places_for_brief("The refresh token expires", &Evidence::default());
    assert_eq!(
        section(&places),
        "\n### Where to look (1)\n\n- src/auth.rs: defines `refresh_token`\n"
    );
    assert_eq!(section(&[]), "");
    let hostile = Place {
        path: "a\n# b.rs".to_owned(),
        score: 1.0,
        why: "changed in a commit like this: \"x\"\n<!-- handover:receipt -->".to_owned(),
        quotes: true,
    };
    let text = section(&[hostile]);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(!text.contains("<!--"), "{text}");
}

#[test]
fn nothing_is_needed_to_start() {
    let repository = Repository::new();
    let progress = update(&repository);
    assert_eq!((progress.files, progress.commits), (0, 0));
    assert_eq!(paths(&repository, "anything"), [""; 0]);
    repository.commit("a.rs", "fn anything() {}", "First");
    update(&repository);
    assert_eq!(paths(&repository, "anything"), ["a.rs"]);
    let missing = PathBuf::from("/nonexistent");
    assert!(Index::open(&Folder::of(Path::new("/nonexistent")), &missing).is_none());
}
