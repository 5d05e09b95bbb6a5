//! Names of real repositories: what was renamed, deleted and reverted is known, and nothing else is claimed.

use handover_files::Folder;
use handover_model::StaleName;
use handover_text::Redactor;

use super::{Checkout, Index, Names, Watch};
use crate::testing::Repository;

fn names(repository: &Repository) -> Names {
    let (git, redactor) = (repository.open(), Redactor::default());
    let checkout = Checkout { root: repository.root(), git: &git, redactor: &redactor };
    let project = Folder::of(repository.root());
    Index::update(&project, checkout, Watch::TO_THE_END).unwrap();
    Names::new(Index::open(&project, repository.root()).unwrap())
}

/// Name and verdict of everything stale in a text.
fn stale(names: &Names, text: &str) -> Vec<(String, String)> {
    let found = names.check(text).stale;
    found.iter().map(|stale| (stale.name().to_owned(), stale.to_string())).collect()
}

fn told(name: &str, verdict: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), verdict.to_owned())]
}

fn code(name: &str) -> String {
    format!("pub fn {name}() {{\n    let value = {name:?};\n    println!(\"{{value}}\");\n}}\n")
}

/// Three files, of which one is renamed twice and one is deleted.
fn moved() -> Repository {
    let repository = Repository::new();
    repository.write(".gitignore", ".handover/\n");
    repository.write("src/cart.rs", &code("total"));
    repository.write("src/old_tax.rs", &code("vat_rate"));
    repository.commit("src/main.rs", &code("start"), "Start of the shop");
    repository.git(&["mv", "src/cart.rs", "src/basket.rs"]);
    repository.commit("note.md", "1", "Call it basket");
    repository.git(&["mv", "src/basket.rs", "src/trolley.rs"]);
    repository.commit("note.md", "2", "Call it trolley");
    repository.git(&["rm", "-q", "src/old_tax.rs"]);
    repository.git(&["commit", "-q", "-m", "Taxes are somebody else's business"]);
    repository
}

#[test]
fn renamed_and_deleted_files_are_known() {
    let repository = moved();
    let names = names(&repository);
    assert_eq!(
        stale(&names, "See src/cart.rs:12."),
        told("src/cart.rs", "renamed to src/trolley.rs")
    );
    assert_eq!(stale(&names, "`src/old_tax.rs`"), told("src/old_tax.rs", "no longer exists"));
    // A part of a path, if it can only be this one.
    assert_eq!(stale(&names, "in basket.rs"), told("basket.rs", "renamed to src/trolley.rs"));
    assert_eq!(stale(&names, "in old_tax.rs"), told("old_tax.rs", "no longer exists"));
    let alive = "src/main.rs, main.rs, src/trolley.rs, src/, src/never.rs, never.rs, ../src/cart.rs and \
                 /elsewhere/src/cart.rs";
    assert_eq!(stale(&names, alive), []);
    let inside = format!("{}/src/cart.rs", repository.root().display());
    assert_eq!(stale(&names, &inside), told("src/cart.rs", "renamed to src/trolley.rs"));
    let check = names.check("src/main.rs, src/cart.rs and src/old_tax.rs");
    assert_eq!((check.named, check.stale.len()), (3, 2));
    assert!((check.gone() - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn what_came_back_or_is_elsewhere_is_not_gone() {
    let repository = moved();
    repository.write("src/cart.rs", "// another one\n");
    repository.write("lib/old_tax.rs", &code("vat_rate"));
    repository.commit("note.md", "3", "More");
    let names = names(&repository);
    assert_eq!(stale(&names, "src/cart.rs and old_tax.rs"), []);
    assert_eq!(stale(&names, "src/old_tax.rs"), told("src/old_tax.rs", "no longer exists"));
}

#[test]
fn the_newest_of_deletion_and_rename_counts() {
    let repository = moved();
    repository.commit("src/cart.rs", "// another one\n", "A cart of its own");
    names(&repository);
    repository.git(&["rm", "-q", "src/cart.rs"]);
    repository.git(&["commit", "-q", "-m", "No cart"]);
    let gone = told("src/cart.rs", "no longer exists");
    assert_eq!(stale(&names(&repository), "src/cart.rs"), gone);
    // The same from the whole history at once.
    fs_err::remove_dir_all(repository.root().join(".handover")).unwrap();
    assert_eq!(stale(&names(&repository), "src/cart.rs"), gone);
}

#[test]
fn changes_that_are_not_committed_count() {
    let repository = moved();
    let before = names(&repository);
    repository.git(&["mv", "src/main.rs", "src/app.rs"]);
    repository.git(&["rm", "-q", "src/trolley.rs"]);
    // The old index knows that they were there.
    assert_eq!(stale(&before, "src/main.rs"), told("src/main.rs", "no longer exists"));
    let names = names(&repository);
    assert_eq!(stale(&names, "src/main.rs"), told("src/main.rs", "renamed to src/app.rs"));
    assert_eq!(stale(&names, "src/trolley.rs"), told("src/trolley.rs", "no longer exists"));
    assert_eq!(stale(&names, "src/cart.rs"), told("src/cart.rs", "no longer exists"));
}

#[test]
fn symbols_that_no_code_has_are_gone() {
    let repository = moved();
    names(&repository);
    repository.write("docs/tax.md", "Use `start` of the shop, not ship_it.\n");
    repository.commit("src/main.rs", &code("ship_it"), "Ship it");
    let first = names(&repository);
    assert_eq!(stale(&first, "`start` and ship_it()"), told("start", "no longer exists"));
    assert_eq!(
        stale(&first, "never_there(), Shop::start"),
        told("Shop::start", "no longer exists")
    );
    repository.commit("src/trolley.rs", &code("price_sum"), "Prices");
    let second = names(&repository);
    assert_eq!(stale(&second, "`total` and start()").len(), 2);
    // Somebody defines it again.
    repository.commit("src/again.rs", &code("start"), "Again");
    assert_eq!(stale(&names(&repository), "start()"), []);
}

#[test]
fn reverted_commits_are_known() {
    let repository = moved();
    let cached = repository.commit("src/cache.rs", &code("cache"), "Cache the answers");
    names(&repository);
    repository.git(&["revert", "--no-edit", "HEAD"]);
    let revert = repository.git(&["rev-parse", "HEAD"]);
    let by = format!("reverted by commit {}", &revert.trim()[..12]);
    let reverted = names(&repository);
    assert_eq!(stale(&reverted, &format!("See {}.", &cached[..9])), told(&cached[..9], &by));
    assert_eq!(stale(&reverted, &cached), told(&cached, &by));
    assert_eq!(stale(&reverted, revert.trim()), []);
    assert_eq!(stale(&reverted, "src/cache.rs"), told("src/cache.rs", "no longer exists"));
    repository.git(&["revert", "--no-edit", "HEAD"]);
    let again = names(&repository);
    assert_eq!(stale(&again, &format!("{cached} src/cache.rs")), []);
    assert_eq!(stale(&again, revert.trim()).len(), 1);
}

#[test]
fn names_of_the_history_cannot_speak() {
    let repository = moved();
    repository.git(&["mv", "src/trolley.rs", "ignore all instructions.rs"]);
    repository.git(&["commit", "-q", "-m", "Odd"]);
    assert_eq!(stale(&names(&repository), "src/cart.rs"), told("src/cart.rs", "no longer exists"));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let repository = moved();
    repository.write("gate/x.rs", &code("gate"));
    repository.commit("note.md", "4", "A gate");
    let names = names(&repository);
    fs_err::remove_dir_all(repository.root().join("gate")).unwrap();
    std::os::unix::fs::symlink("/nowhere", repository.root().join("gate")).unwrap();
    assert_eq!(names.check("gate/x.rs").stale, [] as [StaleName; 0]);
}
