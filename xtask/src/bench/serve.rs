//! What `handover serve` bears: reads a second, listeners, memory.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};

use super::{Project, build};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "1000")]
    packages: usize,

    /// For how long, in seconds
    #[arg(long, default_value = "10")]
    seconds: u64,

    /// Clients that read at once
    #[arg(long, default_value = "8")]
    clients: usize,

    /// Another build to measure than a fresh release
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,

    /// For how long to read before anything is measured, in seconds
    #[arg(long, default_value = "10")]
    warm_up: u64,

    /// Live listeners meanwhile
    #[arg(long, default_value = "200")]
    listeners: usize,
}

/// What is read, in turn.
const PATHS: [&str; 5] = [
    "/api/v1/sessions",
    "/api/v1/sessions/bench",
    "/api/v1/sessions/bench/packages?limit=20",
    "/api/v1/packages/7",
    "/api/v1/receipts?limit=20",
];

/// In how many parts of the time memory is looked at.
const PARTS: u32 = 6;

/// Memory in MiB: what the service itself has taken, and pages of files that the system keeps for
/// it as long as nobody else needs the room (the program and the store).
struct Memory {
    own: f64,
    files: f64,
}

struct Service {
    child: Child,
    address: String,
}

impl Service {
    fn start(project: &Project) -> Result<Self> {
        let mut child = Command::new(&project.handover)
            .args(["serve", "--port", "0", "--json"])
            .current_dir(&project.root)
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().context("no pipe")?).read_line(&mut line)?;
        let said: serde_json::Value = serde_json::from_str(&line)?;
        let address = said["service"]["address"].as_str().context("no address")?.to_owned();
        Ok(Self { child, address })
    }

    fn memory(&self) -> Result<Memory> {
        let text = fs_err::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| -> Result<f64> {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).context("no RSS")?;
            Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1024.0)
        };
        Ok(Memory { own: field("RssAnon:")?, files: field("RssFile:")? })
    }

    /// Memory now and at the end of each of so many parts of a time.
    fn watch(&self, time: Duration) -> Result<Vec<Memory>> {
        let mut seen = vec![self.memory()?];
        for _ in 0..PARTS {
            std::thread::sleep(time / PARTS);
            seen.push(self.memory()?);
        }
        Ok(seen)
    }

    fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(stream)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fills a session, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    let handover = match &args.program {
        Some(program) => fs_err::canonicalize(program)?,
        None => build()?,
    };
    let folder = tempfile::tempdir()?;
    let project = Project::new(&handover, folder.path().join("project"))?;
    eprintln!("filling a session with {} packages", args.packages);
    project.fill("bench", args.packages)?;
    project.handover(&["assemble", "--role", "developer", "--deliver", "--quiet"])?;
    let service = Service::start(&project)?;
    let heard = Heard::default();
    let (mut latencies, errors, seconds, memory) = std::thread::scope(|scope| {
        for _ in 0..args.listeners {
            let stream = service.connect()?;
            let (heard, address) = (&heard, &service.address);
            scope.spawn(move || listen(stream, address, heard));
        }
        while heard.greeted.load(Ordering::Relaxed) < args.listeners as u64 {
            std::thread::sleep(Duration::from_millis(20));
        }
        read_for(&service, args.clients, Duration::from_secs(args.warm_up))?;
        let start = Instant::now();
        let watched = scope.spawn(|| service.watch(Duration::from_secs(args.seconds)));
        let project = &project;
        let changes = scope.spawn(move || {
            let mut count = 0_u64;
            while start.elapsed() < Duration::from_secs(args.seconds) {
                let thought =
                    ["reasoning", "add", "--role", "qa", "--phase", "risks", "x", "--quiet"];
                count += u64::from(project.handover(&thought).is_ok());
                std::thread::sleep(Duration::from_millis(500));
            }
            count
        });
        let (latencies, errors) =
            read_for(&service, args.clients, Duration::from_secs(args.seconds))?;
        let seconds = start.elapsed().as_secs_f64();
        let changes = changes.join().unwrap_or_default();
        let wanted = changes * args.listeners as u64;
        let patience = Instant::now();
        while heard.events.load(Ordering::Relaxed) < wanted
            && patience.elapsed() < Duration::from_secs(5)
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        println!(
            "{} listeners heard {} of {wanted} events",
            args.listeners,
            heard.events.load(Ordering::Relaxed)
        );
        heard.over.store(true, Ordering::Relaxed);
        let memory = watched.join().map_err(|_| anyhow!("memory could not be watched"))??;
        Ok::<_, anyhow::Error>((latencies, errors, seconds, memory))
    })?;
    latencies.sort();
    ensure!(!latencies.is_empty(), "nothing was read");
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    let (p50, p99) = (at(0.5).as_secs_f64(), at(0.99).as_secs_f64());
    println!("| reads/s | p50 (ms) | p99 (ms) | p99 / p50 | errors |");
    println!("|---|---|---|---|---|");
    println!(
        "| {:.0} | {:.2} | {:.2} | {:.1} | {errors} |",
        latencies.len() as f64 / seconds,
        p50 * 1e3,
        p99 * 1e3,
        p99 / p50,
    );
    println!("\n| after (s) | own memory (MiB) | pages of files (MiB) |");
    println!("|---|---|---|");
    for (part, Memory { own, files }) in (0..).zip(&memory) {
        let after = args.seconds as f64 * f64::from(part) / f64::from(PARTS);
        println!("| {after:.0} | {own:.1} | {files:.1} |");
    }
    println!("\nTo reach: 1,000 reads/s, p99 under 20 × p50, no error, memory flat.");
    Ok(())
}

/// Reads with so many clients at once; how long each took, and how many went wrong.
fn read_for(service: &Service, clients: usize, time: Duration) -> Result<(Vec<Duration>, usize)> {
    let start = Instant::now();
    let results: Vec<Result<(Vec<Duration>, usize)>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|client| {
                scope.spawn(move || {
                    let mut stream = BufReader::new(service.connect()?);
                    let (mut latencies, mut errors) = (Vec::new(), 0);
                    for turn in client.. {
                        if start.elapsed() >= time {
                            break;
                        }
                        let begun = Instant::now();
                        let good = get(&mut stream, &service.address, PATHS[turn % PATHS.len()])?;
                        latencies.push(begun.elapsed());
                        errors += usize::from(!good);
                    }
                    Ok((latencies, errors))
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Ok((Vec::new(), 1))))
            .collect()
    });
    let (mut all, mut errors) = (Vec::new(), 0);
    for result in results {
        let (latencies, wrong) = result?;
        all.extend(latencies);
        errors += wrong;
    }
    Ok((all, errors))
}

/// One request on a connection that stays open: a client library would be measured too.
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

/// What all listeners together have heard.
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
