//! `handover serve`

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use handover_serve::{Port, Rules, Service};
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::desk::Reception;
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::input::Stdin;

/// Where a running service is found, inside `.handover/`: its address and its process. After a crash
/// the note stays, so whoever reads it asks `/health` before relying on it.
pub(crate) const NOTE: &str = "service.json";

/// Serve this project over HTTP: dashboard, JSON API, live events and MCP on one port
///
/// Prints the address and answers until it is interrupted. By default only programs of this machine
/// can reach it, and they need no token. On any other address everybody needs one:
/// `handover token create` makes it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover serve\n  handover serve --port 0 --json\n  curl http://127.0.0.1:4747/health"
)]
pub(crate) struct ServeArgs {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// The port; 0 takes any free one [default: 4747, or any free one if that is taken]
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// Another name that clients use for this machine; repeat for more
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// Demand a token on this machine too, as behind a proxy or among other users
    #[arg(long)]
    require_token: bool,
}

pub(crate) fn run(app: &App, args: ServeArgs) -> Outcome {
    // Other commands become a service in passing, and must not begin again.
    if matches!(app.stdin, Stdin::Process) {
        env::share_memory();
    }
    // A service over nothing helps nobody: what is wrong is said before anybody relies on it. It
    // also makes the store; the service itself makes those of other projects only.
    app.store()?;
    app.redactor()?;
    if (args.require_token || !args.bind.is_loopback()) && !has_token(app)? {
        return Err(CommandError::new(
            Exit::Usage,
            "no_token",
            "there is no token, so nobody could use it",
        )
        .hinted("Make one with `handover token create --scope read|write|admin`."));
    }
    let service = Service::bind(args.bind, args.port.map_or(Port::Usual, Port::Exactly))?;
    let address = service.address();
    if args.port.is_none() && address.port() != Port::USUAL {
        app.ui.note(format_args!("Port {} is taken; another one was chosen.", Port::USUAL));
    }
    let url = format!("http://{address}/");
    let answer = json!({"address": address.to_string(), "url": url, "pid": std::process::id()});
    let text = answer.to_string();
    let note = app.project()?.folder().join(NOTE);
    let rules = Rules { bind: args.bind, hosts: args.host, token_required: args.require_token };
    service.run(Arc::new(Reception::busy(app.common.clone())), rules, || {
        fs_err::write(&note, &text).map_err(|error| io(&error))?;
        app.ui.answer("service", &answer, |ui| ui.line(format_args!("Serving at {url}")))
    })?;
    // Another service may have left its note since.
    if fs_err::read_to_string(&note).is_ok_and(|other| other == text) {
        let _ = fs_err::remove_file(&note);
    }
    Ok(Exit::Done)
}

/// Whether anybody could show a token.
fn has_token(app: &App) -> Result<bool, CommandError> {
    let now = app.now();
    let tokens = app.store()?.tokens()?;
    Ok(tokens.iter().any(|token| token.is_good(now)))
}
