//! Screenshots of every dashboard page, in both themes, at desktop and phone size; and, for the documentation,
//! a session that fills in.

use std::path::PathBuf;

use anyhow::{Context, Result};
use handover_testkit::{Browser, Demo, Look};

use crate::cargo::build_handover;

/// Which pages, and where to.
#[derive(clap::Args)]
pub struct Args {
    /// Folder for the screenshots
    #[arg(long, default_value = "target/shots")]
    out: PathBuf,

    /// Update the pictures in docs/ instead
    #[arg(long)]
    docs: bool,

    /// Only pages with these names
    pages: Vec<String>,
}

/// The screenshots in docs/.
const DOCS: [(&str, Look); 3] = [
    ("session", Look { width: 1240, height: 1010, dark: false }),
    ("receipt", Look { width: 1240, height: 1010, dark: false }),
    ("run", Look { width: 1240, height: 880, dark: true }),
];

/// Makes an animated picture of the session on the page.
const FILM: &str = include_str!("film.js");

/// Takes the screenshots.
pub fn run(args: &Args) -> Result<()> {
    fs_err::create_dir_all(&args.out)?;
    let demo = Demo::start(&build_handover("dev")?);
    let browser = Browser::start();
    if args.docs {
        for (name, look) in DOCS {
            let (_, path) = demo
                .pages(handover_web::demo_paths())
                .into_iter()
                .find(|(page, _)| *page == name)
                .context("no such page")?;
            browser.look(look);
            browser.go(&format!("{}{path}", demo.url));
            browser.wait("return document.getElementById('live').textContent === 'Live'");
            browser.window(&PathBuf::from(format!("docs/pictures/{name}.png")));
            if name == "session" {
                let film = browser.eval(FILM);
                fs_err::write("docs/pictures/session.svg", film.as_str().context("no picture")?)?;
            }
        }
        return Ok(());
    }
    for (name, path) in demo.pages(handover_web::demo_paths()) {
        if !args.pages.is_empty() && !args.pages.iter().any(|page| page == name) {
            continue;
        }
        for (kind, look) in
            ["desk-light", "desk-dark", "phone-light", "phone-dark"].into_iter().zip(Look::ALL)
        {
            browser.look(look);
            browser.go(&format!("{}{path}", demo.url));
            let file = args.out.join(format!("{name}-{kind}.png"));
            browser.picture(look, &file);
        }
        println!("{name}");
    }
    println!("in {}", args.out.display());
    Ok(())
}
