//! Time and size of the dashboard pages for a large session, requested from the real service.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::service::Service;
use super::{Builds, Project, TABLE_OF_BUILDS, compare, median};

/// How large, and how often.
#[derive(clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "10000")]
    packages: usize,

    /// Briefed agents
    #[arg(long, default_value = "200")]
    briefs: usize,

    /// Requests per page
    #[arg(long, default_value = "30")]
    runs: usize,

    #[command(flatten)]
    builds: Builds,
}

/// Measures each page.
pub fn run(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    if let Some((other, this)) = args.builds.pair()? {
        let other = Dashboard::start(args, &other, &folder.path().join("other"))?;
        let this = Dashboard::start(args, &this, &folder.path().join("this"))?;
        println!("{TABLE_OF_BUILDS}");
        for (first, second) in other.pages()?.iter().zip(this.pages()?) {
            compare(args.runs, first, || other.time(first), || this.time(&second))?;
        }
        return Ok(());
    }
    let dashboard = Dashboard::start(args, &args.builds.this()?, &folder.path().join("this"))?;
    let typical = |path: &str| -> Result<f64> {
        dashboard.time(path)?;
        let mut times: Vec<Duration> =
            (0..args.runs).map(|_| dashboard.time(path)).collect::<Result<_>>()?;
        Ok(median(&mut times))
    };
    let alive = typical("/health")?;
    println!(
        "{} packages, {} briefs; /health takes {:.2} ms\n",
        args.packages,
        args.briefs,
        alive * 1e3
    );
    println!("| page | kB | ms | times /health |\n|---|---|---|---|");
    for path in dashboard.pages()? {
        let (time, size) = (typical(&path)?, dashboard.get(&path)?.len());
        ensure!(size < 300_000, "{path} has {size} bytes");
        println!("| {path} | {:.0} | {:.1} | {:.0} |", size as f64 / 1e3, time * 1e3, time / alive);
    }
    Ok(())
}

/// A service over a large session with many briefs.
struct Dashboard {
    service: Service,
    agent: ureq::Agent,
}

impl Dashboard {
    fn start(args: &Args, handover: &Path, root: &Path) -> Result<Self> {
        let project = Project::new(handover, root.to_owned())?;
        project.fill("s1", args.packages)?;
        for n in 0..args.briefs {
            let role = ["developer", "qa_expert"][n % 2];
            let iteration = (n / 2).to_string();
            let task = ["--task", "refresh a token", "--deliver"];
            let words = ["assemble", "--role", role, "--iteration", &iteration];
            project.handover(&[&words[..], &task].concat())?;
        }
        Ok(Self { service: Service::start(&project)?, agent: ureq::agent() })
    }

    fn get(&self, path: &str) -> Result<String> {
        let url = format!("http://{}{path}", self.service.address);
        Ok(self.agent.get(url).call()?.body_mut().read_to_string()?)
    }

    fn time(&self, path: &str) -> Result<Duration> {
        let start = Instant::now();
        self.get(path)?;
        Ok(start.elapsed())
    }

    /// The pages that are measured; a receipt's address differs from store to store.
    fn pages(&self) -> Result<[String; 8]> {
        let list = self.get("/sessions/s1/receipts")?;
        let receipt = list.split("href=\"/receipts/").nth(1);
        let receipt = receipt.and_then(|rest| rest.split('"').next()).context("no receipt")?;
        Ok([
            "/".to_owned(),
            "/sessions".to_owned(),
            "/sessions/s1".to_owned(),
            "/sessions/s1/packages".to_owned(),
            "/sessions/s1/receipts".to_owned(),
            "/packages/1".to_owned(),
            format!("/receipts/{receipt}"),
            "/search?q=refresh+token".to_owned(),
        ])
    }
}
