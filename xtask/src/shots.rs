//! Pictures of every page of the dashboard, in both themes, on a desk and on a phone: to be looked at.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};
use handover_testkit::{Browser, Demo, Look};

/// What is taken.
#[derive(clap::Args)]
pub struct Args {
    /// Where the pictures go
    #[arg(long, default_value = "target/shots")]
    out: PathBuf,

    /// Only pages with these names
    pages: Vec<String>,
}

/// Takes the pictures.
pub fn run(args: &Args) -> Result<()> {
    let status =
        Command::new("cargo").args(["build", "--quiet", "--package", "handover-cli"]).status()?;
    ensure!(status.success(), "the build failed");
    fs_err::create_dir_all(&args.out)?;
    let demo = Demo::start(&fs_err::canonicalize("target/debug/handover")?);
    let browser = Browser::start();
    for (name, path) in demo.pages() {
        if !args.pages.is_empty() && !args.pages.iter().any(|page| page == name) {
            continue;
        }
        for (kind, look) in [
            ("desk-light", Look::DESK),
            ("desk-dark", Look::DESK.dark()),
            ("phone-light", Look::PHONE),
            ("phone-dark", Look::PHONE.dark()),
        ] {
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
