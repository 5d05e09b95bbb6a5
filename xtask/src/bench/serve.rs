//! Throughput, latency and memory of `handover serve` with live listeners.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, ensure};

use super::service::{Memory, Service};
use super::{Builds, Project};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "1000")]
    packages: usize,

    /// Duration in seconds
    #[arg(long, default_value = "10")]
    seconds: u64,

    /// Concurrent readers
    #[arg(long, default_value = "8")]
    clients: usize,

    /// Warm-up in seconds
    #[arg(long, default_value = "10")]
    warm_up: u64,

    /// Connected event listeners
    #[arg(long, default_value = "200")]
    listeners: usize,

    #[command(flatten)]
    builds: Builds,
}

/// What is read, in turn.
const PATHS: [&str; 5] = [
    "/api/v1/sessions",
    "/api/v1/sessions/bench",
    "/api/v1/sessions/bench/packages?limit=20",
    "/api/v1/packages/7",
    "/api/v1/receipts?limit=20",
];

/// How often memory is sampled.
const PARTS: u32 = 6;

/// How often the two builds alternate.
const TURNS: u32 = 10;

/// Fills a session, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    if let Some((other, this)) = args.builds.pair()? {
        return compare_builds(args, &other, &this);
    }
    let folder = tempfile::tempdir()?;
    let project = filled(args, &args.builds.this()?, &folder.path().join("project"))?;
    let service = Service::start(&project)?;
    let (mut reads, memory) = load(args, &project, &service)?;
    let (p50, p99) = (reads.quantile(0.5)?, reads.quantile(0.99)?);
    println!("| reads/s | p50 (ms) | p99 (ms) | p99 / p50 | errors |");
    println!("|---|---|---|---|---|");
    println!(
        "| {:.0} | {:.2} | {:.2} | {:.1} | {} |",
        reads.per_second(),
        p50 * 1e3,
        p99 * 1e3,
        p99 / p50,
        reads.errors,
    );
    println!("\n| after (s) | own memory (MiB) | pages of files (MiB) |");
    println!("|---|---|---|");
    for (part, Memory { own, files }) in (0..).zip(&memory) {
        let after = args.seconds as f64 * f64::from(part) / f64::from(PARTS);
        println!("| {after:.0} | {own:.1} | {files:.1} |");
    }
    println!("\nTarget: 1,000 reads/s, p99 under 20 × p50, no error, memory flat.");
    Ok(())
}

fn filled(args: &Args, handover: &Path, root: &Path) -> Result<Project> {
    eprintln!("filling a session with {} packages", args.packages);
    let project = Project::filled(handover, root.to_owned(), args.packages)?;
    project.handover(&["assemble", "--role", "developer", "--deliver", "--quiet"])?;
    Ok(project)
}

/// Reads from one service and the other alternately, without listeners.
fn compare_builds(args: &Args, other: &Path, this: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let projects = [
        filled(args, other, &folder.path().join("other"))?,
        filled(args, this, &folder.path().join("this"))?,
    ];
    let services = [Service::start(&projects[0])?, Service::start(&projects[1])?];
    for service in &services {
        read_for(service, args.clients, Duration::from_secs(args.warm_up))?;
    }
    let mut reads = [Reads::default(), Reads::default()];
    for _ in 0..TURNS {
        for (service, reads) in services.iter().zip(&mut reads) {
            reads.add(read_for(service, args.clients, Duration::from_secs(args.seconds) / TURNS)?);
        }
    }
    println!("| what | other build | this build | this / other |\n|---|---|---|---|");
    let row = |what: &str, [other, this]: [f64; 2]| {
        println!("| {what} | {other:.2} | {this:.2} | {:.2} |", this / other);
    };
    let [a, b] = &mut reads;
    row("reads/s", [a.per_second(), b.per_second()]);
    row("p50 (ms)", [a.quantile(0.5)? * 1e3, b.quantile(0.5)? * 1e3]);
    row("p99 (ms)", [a.quantile(0.99)? * 1e3, b.quantile(0.99)? * 1e3]);
    row("own memory (MiB)", [services[0].memory()?.own, services[1].memory()?.own]);
    println!("\nerrors: {} / {}", a.errors, b.errors);
    Ok(())
}

/// Reads while listeners are connected and something changes twice a second.
fn load(args: &Args, project: &Project, service: &Service) -> Result<(Reads, Vec<Memory>)> {
    let listeners = Listeners::connect(service, args.listeners)?;
    let time = Duration::from_secs(args.seconds);
    std::thread::scope(|scope| {
        read_for(service, args.clients, Duration::from_secs(args.warm_up))?;
        let memory = scope.spawn(|| service.watch(time, PARTS));
        let changes = scope.spawn(move || change_for(project, time));
        let reads = read_for(service, args.clients, time)?;
        let expected = changes.join().unwrap_or_default() * args.listeners as u64;
        // What did not arrive is missing in the figure.
        let _ = listeners.wait(expected);
        let events = listeners.events();
        println!("{} listeners received {events} of {expected} events", args.listeners);
        let memory = memory.join().map_err(|_| anyhow!("memory could not be watched"))??;
        Ok((reads, memory))
    })
}

/// Writes twice a second; returns how many writes succeeded.
fn change_for(project: &Project, time: Duration) -> u64 {
    let start = Instant::now();
    let write = ["reasoning", "add", "--role", "qa", "--phase", "risks", "x", "--quiet"];
    let mut count = 0;
    while start.elapsed() < time {
        count += u64::from(project.handover(&write).is_ok());
        std::thread::sleep(Duration::from_millis(500));
    }
    count
}

/// What clients measured.
#[derive(Default)]
struct Reads {
    latencies: Vec<Duration>,
    errors: usize,
    elapsed: Duration,
}

impl Reads {
    fn add(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        self.errors += other.errors;
        self.elapsed += other.elapsed;
    }

    fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.elapsed.as_secs_f64()
    }

    /// The latency in seconds that this share of all reads stays below.
    fn quantile(&mut self, share: f64) -> Result<f64> {
        ensure!(!self.latencies.is_empty(), "nothing was read");
        self.latencies.sort();
        Ok(self.latencies[((self.latencies.len() - 1) as f64 * share) as usize].as_secs_f64())
    }
}

/// Reads with this many concurrent clients.
fn read_for(service: &Service, clients: usize, time: Duration) -> Result<Reads> {
    let start = Instant::now();
    let results: Vec<Result<Reads>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || {
                    let mut stream = BufReader::new(service.connect()?);
                    let mut reads = Reads::default();
                    for turn in client.. {
                        if start.elapsed() >= time {
                            break;
                        }
                        let begun = Instant::now();
                        let good = get(&mut stream, &service.address, PATHS[turn % PATHS.len()])?;
                        reads.latencies.push(begun.elapsed());
                        reads.errors += usize::from(!good);
                    }
                    Ok(reads)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("a client panicked"))))
            .collect()
    });
    let mut all = Reads::default();
    for result in results {
        all.add(result?);
    }
    all.elapsed = start.elapsed();
    Ok(all)
}

/// One request on a persistent connection: a client library would be measured too.
fn get(stream: &mut BufReader<TcpStream>, address: &str, path: &str) -> Result<bool> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.get_mut().write_all(request.as_bytes())?;
    let mut line = String::new();
    stream.read_line(&mut line)?;
    let good = line.starts_with("HTTP/1.1 200");
    let mut length = 0;
    loop {
        line.clear();
        stream.read_line(&mut line)?;
        match line.trim().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(good)
}

/// Connected listeners; they stop when dropped.
struct Listeners {
    heard: Arc<Heard>,
}

impl Listeners {
    /// Connects this many, and waits until the service has greeted all of them.
    fn connect(service: &Service, count: usize) -> Result<Self> {
        let heard = Arc::new(Heard::default());
        for _ in 0..count {
            let (stream, address) = (service.connect()?, service.address.clone());
            let heard = Arc::clone(&heard);
            std::thread::spawn(move || listen(stream, &address, &heard));
        }
        let listeners = Self { heard };
        listeners.until(|heard| heard.greeted.load(Ordering::Relaxed) >= count as u64)?;
        Ok(listeners)
    }

    /// The events that all of them have received together.
    fn events(&self) -> u64 {
        self.heard.events.load(Ordering::Relaxed)
    }

    /// How long it takes until they have received this many.
    fn wait(&self, events: u64) -> Result<Duration> {
        self.until(|heard| heard.events.load(Ordering::Relaxed) >= events)
    }

    fn until(&self, is_so: impl Fn(&Heard) -> bool) -> Result<Duration> {
        let start = Instant::now();
        while !is_so(&self.heard) {
            ensure!(start.elapsed() < Duration::from_secs(20), "the listeners hear nothing");
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(start.elapsed())
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        self.heard.over.store(true, Ordering::Relaxed);
    }
}

/// The events received by all listeners together.
#[derive(Default)]
struct Heard {
    greeted: AtomicU64,
    events: AtomicU64,
    over: AtomicBool,
}

fn listen(mut stream: TcpStream, address: &str, heard: &Heard) {
    let request = format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    if stream.write_all(request.as_bytes()).is_err() {
        return;
    }
    let mut buffer = [0; 4096];
    let mut rest = Vec::new();
    while !heard.over.load(Ordering::Relaxed) {
        let Ok(count) = stream.read(&mut buffer) else { continue };
        if count == 0 {
            return;
        }
        rest.extend_from_slice(&buffer[..count]);
        while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = rest.drain(..end + 2).collect();
            let has = |what: &[u8]| event.windows(what.len()).any(|part| part == what);
            heard.events.fetch_add(u64::from(has(b"event: ")), Ordering::Relaxed);
            heard.greeted.fetch_add(u64::from(has(b": handover")), Ordering::Relaxed);
        }
    }
}
