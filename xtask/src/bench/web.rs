//! What the pages of the dashboard cost for a large session: asked of the real service, over HTTP.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::{Project, build, median};

/// How large, and how often.
#[derive(clap::Args)]
pub struct Args {
    /// How many packages the session has
    #[arg(long, default_value = "10000")]
    packages: usize,

    /// How many agents were briefed
    #[arg(long, default_value = "200")]
    briefs: usize,

    /// How often each page is asked for
    #[arg(long, default_value = "30")]
    runs: usize,
}

/// Measures.
pub fn run(args: &Args) -> Result<()> {
    let handover = build()?;
    let folder = tempfile::tempdir()?;
    let project = Project::new(&handover, folder.path().join("project"))?;
    project.fill("s1", args.packages)?;
    let roles = ["developer", "qa_expert"];
    for n in 0..args.briefs {
        let iteration = (n / 2).to_string();
        project.handover(&[
            "assemble",
            "--role",
            roles[n % 2],
            "--iteration",
            &iteration,
            "--task",
            "refresh a token",
            "--deliver",
        ])?;
    }
    let mut service = Command::new(&handover)
        .args(["serve", "--port", "0", "--json"])
        .current_dir(&project.root)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let stdout = service.stdout.take().context("no output")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let said: serde_json::Value = serde_json::from_str(&line)?;
    let url =
        said["service"]["url"].as_str().context("no address")?.trim_end_matches('/').to_owned();
    let measured = measure(args, &url);
    service.kill()?;
    service.wait()?;
    measured
}

fn measure(args: &Args, url: &str) -> Result<()> {
    let agent = ureq::agent();
    let get = |path: &str| -> Result<(f64, String)> {
        let start = Instant::now();
        let body = agent.get(format!("{url}{path}")).call()?.body_mut().read_to_string()?;
        Ok((start.elapsed().as_secs_f64(), body))
    };
    let typical = |path: &str| -> Result<(f64, usize)> {
        let mut times = Vec::new();
        let mut size = 0;
        get(path)?;
        for _ in 0..args.runs {
            let (time, body) = get(path)?;
            times.push(std::time::Duration::from_secs_f64(time));
            size = body.len();
        }
        Ok((median(&mut times), size))
    };
    let (_, list) = get("/sessions/s1/receipts")?;
    let receipt = list.split("href=\"/receipts/").nth(1).and_then(|rest| rest.split('"').next());
    let receipt = format!("/receipts/{}", receipt.context("no receipt")?);
    let (alive, _) = typical("/health")?;
    println!(
        "{} packages, {} briefs; /health takes {:.2} ms\n",
        args.packages,
        args.briefs,
        alive * 1e3
    );
    println!("| page | kB | ms | times /health |\n|---|---|---|---|");
    for path in [
        "/",
        "/sessions",
        "/sessions/s1",
        "/sessions/s1/packages",
        "/sessions/s1/receipts",
        "/packages/1",
        &receipt,
        "/search?q=refresh+token",
    ] {
        let (time, size) = typical(path)?;
        ensure!(size < 300_000, "{path} has {size} bytes");
        println!("| {path} | {:.0} | {:.1} | {:.0} |", size as f64 / 1e3, time * 1e3, time / alive);
    }
    Ok(())
}
