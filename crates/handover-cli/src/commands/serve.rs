//! `handover serve`

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use handover_serve::{Port, Service};
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::desk::Reception;
use crate::error::{Exit, io};

/// Where a running service is found, inside `.handover/`: its address and its process. After a crash
/// the note stays, so whoever reads it asks `/health` before relying on it.
pub(crate) const NOTE: &str = "service.json";

/// Serve this project over HTTP: dashboard, JSON API, live events and MCP on one port
///
/// Prints the address and answers until it is interrupted. By default only programs of this machine
/// can reach it.
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
}

pub(crate) fn run(app: &App, args: ServeArgs) -> Outcome {
    // A service over nothing helps nobody: what is wrong is said before anybody relies on it. It
    // also makes the store, which the service itself never does.
    app.store()?;
    app.redactor()?;
    let service = Service::bind(args.bind, args.port.map_or(Port::Usual, Port::Exactly))?;
    let address = service.address();
    if args.port.is_none() && address.port() != Port::USUAL {
        app.ui.note(format_args!("Port {} is taken; another one was chosen.", Port::USUAL));
    }
    let url = format!("http://{address}/");
    let answer = json!({"address": address.to_string(), "url": url, "pid": std::process::id()});
    let note = app.project()?.folder().join(NOTE);
    service.run(Arc::new(Reception::busy(app.common.clone())), || {
        fs_err::write(&note, answer.to_string()).map_err(|error| io(&error))?;
        app.ui.answer("service", &answer, |ui| ui.line(format_args!("Serving at {url}")))
    })?;
    // Another service may have left its note since.
    if fs_err::read_to_string(&note).is_ok_and(|text| text == answer.to_string()) {
        let _ = fs_err::remove_file(&note);
    }
    Ok(Exit::Done)
}
