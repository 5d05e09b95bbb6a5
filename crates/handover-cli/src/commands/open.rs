//! `handover open`

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use handover_files::Folder;
use handover_serve::Port;
use handover_store::RunFilter;
use serde_json::{Value, json};

use super::serve::{SERVICE_BYTES, SERVICE_FILE};
use super::{CommandLine, Outcome};
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit};
use crate::input::Stdin;
use crate::typos::nearest;

/// Open the dashboard in the browser
///
/// Uses the running service of this project, or starts one that stops with this command. PAGE is a name,
/// or the id of a session, run, receipt or package. Prints the address if there is no browser.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover open\n  handover open run\n  handover open login-rework\n  handover open 4f2a91"
)]
pub(crate) struct OpenArgs {
    /// `overview`, `session`, `sessions`, `run`, `runs`, `receipt`, `errors`, `strategies`, or an id
    #[arg(value_name = "PAGE", default_value = "overview")]
    page: String,

    /// Print the address and return, without opening a browser or starting a service
    #[arg(long)]
    print: bool,
}

/// How long a service that we start may take to answer.
const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) fn run(app: &App, line: CommandLine, args: OpenArgs) -> Outcome {
    let page = page_path(app, &args.page)?;
    if let Some(address) = running_service(app) {
        let url = format!("http://{address}{page}");
        return show(app, &url, args.print);
    }
    if args.print {
        let url = format!("http://127.0.0.1:{}{page}", Port::DEFAULT);
        app.ui.note("No service is running; start it with `handover serve`.");
        return show(app, &url, true);
    }
    let folder = app.project()?.folder();
    let root = app.project()?.root.clone();
    let quiet = app.ui.clone();
    // The service occupies this thread; another one opens the browser once it answers.
    std::thread::spawn(move || {
        let until = Instant::now() + START_TIMEOUT;
        while Instant::now() < until {
            let is_ours = |info: &Value| info["pid"] == std::process::id();
            if let Some(address) = service_address(&folder, is_ours) {
                let url = format!("http://{address}{page}");
                if !open_browser(&url) {
                    quiet.note(format_args!("The page is at {url}"));
                }
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let mut argv =
        vec!["handover".into(), "--project".into(), root.into_os_string(), "serve".into()];
    if app.ui.is_json() {
        argv.push("--json".into());
    }
    Ok((line.run)(argv, Stdin::Text(String::new())))
}

fn show(app: &App, url: &str, print: bool) -> Outcome {
    let opened = !print && open_browser(url);
    app.ui.answer("page", &json!({"url": url, "opened": opened}), |ui| {
        ui.line(if opened { format!("Opened {url}") } else { url.to_owned() })
    })?;
    Ok(Exit::Done)
}

/// The address of this project's running service.
fn running_service(app: &App) -> Option<SocketAddr> {
    service_address(&app.project().ok()?.folder(), |_| true)
}

/// The address in the service file, if the predicate accepts it and the service answers.
fn service_address(folder: &Folder, accept: impl Fn(&Value) -> bool) -> Option<SocketAddr> {
    let text = folder.read_text(SERVICE_FILE, SERVICE_BYTES).ok()??;
    let info: Value = serde_json::from_str(&text).ok()?;
    let address = info["address"].as_str()?.parse().ok()?;
    (accept(&info) && is_healthy(&address)).then_some(address)
}

/// Checks `/health`. The file may be left over from a crash, and its port used by another program.
fn is_healthy(address: &SocketAddr) -> bool {
    let probe = || -> std::io::Result<bool> {
        let second = Duration::from_secs(1);
        let mut stream = TcpStream::connect_timeout(address, second)?;
        stream.set_read_timeout(Some(second))?;
        stream.write_all(
            format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        )?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        Ok(&head == b"HTTP/1.1 200")
    };
    probe().unwrap_or(false)
}

/// Opens the browser; false if that failed.
pub(crate) fn open_browser(url: &str) -> bool {
    let program = match env::var("BROWSER") {
        Some(program) => program,
        None if cfg!(target_os = "macos") => "open".to_owned(),
        // Without a display a browser cannot start.
        None if env::var("DISPLAY").is_none() && env::var("WAYLAND_DISPLAY").is_none() => {
            return false;
        }
        None => "xdg-open".to_owned(),
    };
    let child = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else { return false };
    // `xdg-open` and the like exit at once with a status; a browser itself keeps running.
    std::thread::sleep(Duration::from_millis(300));
    child.try_wait().ok().flatten().is_none_or(|status| status.success())
}

/// Pages by name.
const PAGES: [&str; 8] =
    ["overview", "session", "sessions", "run", "runs", "receipt", "errors", "strategies"];

/// Resolves PAGE to a path.
fn page_path(app: &App, word: &str) -> Result<String, CommandError> {
    let store = app.store()?;
    Ok(match word {
        "overview" => "/".to_owned(),
        "sessions" | "runs" | "errors" | "strategies" => format!("/{word}"),
        "session" => match app.session_if_any()? {
            Some(session) => format!("/sessions/{session}"),
            None => "/sessions".to_owned(),
        },
        "run" => match store.runs(&RunFilter { epic: None, limit: Some(1) })?.pop() {
            Some(run) => format!("/runs/{}", run.id),
            None => "/runs".to_owned(),
        },
        "receipt" => {
            let filter = handover_store::ReceiptFilter { limit: Some(1), ..Default::default() };
            match store.receipts(&filter)?.pop() {
                Some(receipt) => format!("/receipts/{}", receipt.id),
                None => "/sessions".to_owned(),
            }
        }
        id => path_of_id(app, id).ok_or_else(|| {
            let error = CommandError::new(Exit::Usage, "not_found", format!("there is no page `{id}`"));
            match nearest(id, PAGES) {
                Some(meant) => error.hinted(format!("Did you mean `{meant}`?")),
                None => error.hinted("A page is `overview`, `session`, `run`, `receipt`, `errors`, `strategies`, or the id of a session, run, receipt or package."),
            }
        })?,
    })
}

fn path_of_id(app: &App, id: &str) -> Option<String> {
    let receipt = || app.find_receipt(id).ok().map(|receipt| format!("/receipts/{}", receipt.id));
    let run = || app.find_run(Some(id)).ok().map(|run| format!("/runs/{}", run.id));
    let session = || app.find_session(id).ok().map(|session| format!("/sessions/{}", session.id));
    let package = || {
        let id = app.find_package(id).ok()?;
        app.store().ok()?.package(id).ok().map(|package| format!("/packages/{}", package.id))
    };
    receipt().or_else(run).or_else(session).or_else(package)
}
