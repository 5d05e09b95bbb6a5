//! Browsers as the service sees them: each shows a page, listens for changes, and fetches its page again after one.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::service::Service;

/// What the script of a page waits after a change, so that several become one (`PAUSE` in live.js).
const PAUSE: Duration = Duration::from_millis(400);
/// How long all of them may take before something is broken.
const GIVES_UP: Duration = Duration::from_secs(20);

/// Browsers with a page; they close when dropped.
pub struct Viewers {
    all: Vec<Arc<Viewer>>,
    over: Arc<AtomicBool>,
}

/// One browser: the last change that it heard of, and the last one that its page shows.
#[derive(Default)]
struct Viewer {
    listens: AtomicBool,
    heard: AtomicU64,
    shown: AtomicU64,
}

impl Viewers {
    /// Opens this many, which show the pages in turn, and waits until all of them listen.
    pub fn open(service: &Service, count: usize, pages: &[String]) -> Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let all: Vec<Arc<Viewer>> = (0..count).map(|_| Arc::default()).collect();
        for (viewer, page) in all.iter().zip(pages.iter().cycle()) {
            let (viewer, over) = (Arc::clone(viewer), Arc::clone(&over));
            let (events, address, page) =
                (service.connect()?, service.address.clone(), page.clone());
            std::thread::spawn(move || {
                let browser = Browser { address, page, viewer, connection: None };
                browser.follow(events, &over)
            });
        }
        let viewers = Self { all, over };
        viewers.until(|viewer| viewer.listens.load(Ordering::Relaxed))?;
        Ok(viewers)
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// The last change that any of them has heard of.
    pub fn heard(&self) -> u64 {
        self.all.iter().map(|viewer| viewer.heard.load(Ordering::Relaxed)).max().unwrap_or(0)
    }

    /// How long it takes until all of them show something newer than a change.
    pub fn wait_for_newer(&self, change: u64) -> Result<Duration> {
        self.until(|viewer| viewer.shown.load(Ordering::Relaxed) > change)
    }

    /// Waits until all pages show what was heard of.
    pub fn settle(&self) -> Result<()> {
        std::thread::sleep(2 * PAUSE);
        self.until(|viewer| {
            viewer.shown.load(Ordering::Relaxed) == viewer.heard.load(Ordering::Relaxed)
        })?;
        Ok(())
    }

    fn until(&self, is_so: impl Fn(&Viewer) -> bool) -> Result<Duration> {
        let start = Instant::now();
        while !self.all.iter().all(|viewer| is_so(viewer)) {
            ensure!(start.elapsed() < GIVES_UP, "not every page is live");
            std::thread::sleep(Duration::from_millis(2));
        }
        Ok(start.elapsed())
    }
}

impl Drop for Viewers {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}

struct Browser {
    address: String,
    page: String,
    viewer: Arc<Viewer>,
    connection: Option<BufReader<TcpStream>>,
}

impl Browser {
    /// Reads events until it is closed. A page is fetched when the pause after the first change that it does not
    /// show is over.
    fn follow(mut self, mut events: TcpStream, over: &AtomicBool) -> Result<()> {
        let request = format!("GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        events.set_read_timeout(Some(Duration::from_millis(20)))?;
        events.write_all(request.as_bytes())?;
        let (mut buffer, mut rest) = ([0; 4096], Vec::new());
        let mut due: Option<Instant> = None;
        while !over.load(Ordering::Relaxed) {
            match events.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => rest.extend_from_slice(&buffer[..count]),
                // Nothing came.
                Err(_) => {}
            }
            while let Some(end) = rest.windows(2).position(|pair| pair == b"\n\n") {
                let event: Vec<u8> = rest.drain(..end + 2).collect();
                let event = String::from_utf8_lossy(&event);
                if event.contains(": handover") {
                    self.viewer.listens.store(true, Ordering::Relaxed);
                }
                let id = event.lines().find_map(|line| line.strip_prefix("id: ")?.parse().ok());
                if let Some(id) = id {
                    self.viewer.heard.store(id, Ordering::Relaxed);
                    due.get_or_insert_with(|| Instant::now() + PAUSE);
                }
            }
            if due.is_some_and(|due| due <= Instant::now()) {
                due = None;
                let heard = self.viewer.heard.load(Ordering::Relaxed);
                self.fetch()?;
                self.viewer.shown.store(heard, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    /// Fetches the page, on the connection of the last time if the service has not closed it meanwhile.
    fn fetch(&mut self) -> Result<()> {
        if let Some(mut kept) = self.connection.take()
            && self.get(&mut kept).is_ok()
        {
            self.connection = Some(kept);
            return Ok(());
        }
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(GIVES_UP))?;
        let mut fresh = BufReader::new(stream);
        self.get(&mut fresh)?;
        self.connection = Some(fresh);
        Ok(())
    }

    fn get(&self, stream: &mut BufReader<TcpStream>) -> Result<()> {
        let request = format!("GET {} HTTP/1.1\r\nHost: {}\r\n\r\n", self.page, self.address);
        stream.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        stream.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200"), "{}: {line}", self.page);
        let mut length = None;
        while line.trim() != "" {
            line.clear();
            stream.read_line(&mut line)?;
            if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse()?);
            }
        }
        let mut body = vec![0; length.context("no length")?];
        stream.read_exact(&mut body)?;
        Ok(())
    }
}
