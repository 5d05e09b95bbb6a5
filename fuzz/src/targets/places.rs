//! The index of files: a real one in which the input has changed a section, with sums that fit.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use handover_files::Folder;
use handover_knowledge::Git;
use handover_knowledge::places::{Checkout, Evidence, Index, Watch};
use handover_text::Redactor;

/// What is before the entries of the header: what the file is, and its version.
const FRONT: usize = 8;
/// An entry of the header: offset, length, checksum.
const ENTRY: usize = 24;
const SUM: usize = 8;

/// A project with an index, and what the index file was.
struct Indexed {
    folder: tempfile::TempDir,
    file: PathBuf,
    bytes: Vec<u8>,
}

impl Indexed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        fs_err::create_dir_all(root.join("src")).expect("a folder");
        for (name, text) in [
            ("src/tokens.rs", "/// Rotates the token.\npub fn rotate_token() {}\n"),
            ("src/cart.rs", "pub struct Cart;\nimpl Cart { fn total(&self) {} }\n"),
            ("README.md", "# Shop\n\nTokens rotate daily.\n"),
        ] {
            fs_err::write(root.join(name), text).expect("a file");
            git(root, &["init", "--quiet"]);
            git(root, &["add", "--all"]);
            git(root, &["commit", "--quiet", "--message", "Rotate the token of the cart"]);
        }
        git(root, &["mv", "src/cart.rs", "src/basket.rs"]);
        git(root, &["commit", "--quiet", "--message", "Call the cart a basket"]);
        let git = Git::open(root, std::env::vars_os()).expect("git").expect("a repository");
        let redactor = Redactor::default();
        let checkout = Checkout { root, git: &git, redactor: &redactor };
        Index::update(&Folder::of(root), checkout, Watch::TO_THE_END).expect("an index");
        let places = Folder::of(root).inside("places").path();
        let mut files = fs_err::read_dir(places).expect("a folder").flatten().map(|entry| entry.path());
        let file = files.find(|path| path.extension().is_some_and(|end| end == "places"));
        let file = file.expect("an index");
        let bytes = fs_err::read(&file).expect("an index");
        Self { folder, file, bytes }
    }

    fn get() -> &'static Self {
        static INDEXED: OnceLock<Indexed> = OnceLock::new();
        INDEXED.get_or_init(Self::new)
    }
}

fn git(root: &Path, args: &[&str]) {
    let own = ["-c", "user.name=f", "-c", "user.email=f@example.org"];
    let status = Command::new("git").args(own).args(args).current_dir(root).status();
    assert!(status.expect("git").success(), "git {args:?}");
}

fn number(bytes: &[u8], at: usize) -> usize {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    usize::try_from(u64::from_le_bytes(number)).expect("a place in the file")
}

fn sum(bytes: &[u8]) -> [u8; SUM] {
    let mut first = [0; SUM];
    first.copy_from_slice(&blake3::hash(bytes).as_bytes()[..SUM]);
    first
}

/// The first byte chooses a section, the next two a place in it, and the others are written there.
pub(super) fn places(data: &[u8]) {
    let indexed = Indexed::get();
    let mut bytes = indexed.bytes.clone();
    let header = number(&bytes, FRONT);
    let sections = (header - FRONT - SUM) / ENTRY;
    let [which, low, high, written @ ..] = data else { return };
    let entry = FRONT + usize::from(*which) % sections * ENTRY;
    let (start, length) = (number(&bytes, entry), number(&bytes, entry + 8));
    if length == 0 {
        return;
    }
    let at = start + usize::from(u16::from_le_bytes([*low, *high])) % length;
    let count = written.len().min(start + length - at);
    bytes[at..at + count].copy_from_slice(&written[..count]);
    let of_section = sum(&bytes[start..start + length]);
    bytes[entry + 16..entry + 24].copy_from_slice(&of_section);
    let of_header = sum(&bytes[..header - SUM]);
    bytes[header - SUM..header].copy_from_slice(&of_header);
    fs_err::write(&indexed.file, bytes).expect("the file");
    let root = indexed.folder.path();
    let Some(index) = Index::open(&Folder::of(root), root) else { return };
    let evidence = Evidence::default();
    for place in index.places("Rotate the token of the cart", &evidence, 10) {
        assert!(place.score.is_finite(), "{}", place.score);
    }
    let _ = index.places_for_brief("the total of a Cart, see README.md", &evidence);
    let _ = (index.files(), index.exists("src/cart.rs"), index.is_complete());
}
