//! `handover serve`

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use handover_files::Sync;
use handover_serve::{AccessPolicy, Port, Service};
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::context_provider::AppContextProvider;
use crate::env;
use crate::error::{CommandError, Exit};
use crate::input::Stdin;

/// The file inside `.handover/` with address and process id of the running service. It survives a crash, so
/// readers check `/health` before they rely on it.
pub(crate) const SERVICE_FILE: &str = "service.json";

/// The most that is read of it.
pub(crate) const SERVICE_BYTES: u64 = 64 * 1024;

/// Serve this project over HTTP: dashboard, JSON API, live events, MCP
///
/// Prints the address and serves all of it there until it is interrupted. By default it is reachable from this machine
/// only, without a token. On any other address every client needs one; create it with
/// `handover token create`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover serve\n  handover serve --port 0 --json\n  curl http://127.0.0.1:4747/health"
)]
pub(crate) struct ServeArgs {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// The port; 0 picks any free one [default: 4747, or any free one if that is in use]
    #[arg(long, value_name = "N")]
    port: Option<u16>,

    /// Additional host name that clients use for this machine; repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,

    /// Require a token on this machine too: behind a proxy, or with other users
    #[arg(long)]
    require_token: bool,
}

pub(crate) fn run(app: &App, args: ServeArgs) -> Outcome {
    // Commands that turn into a service, such as `open`, must not restart the process.
    if matches!(app.stdin, Stdin::Process) {
        env::share_memory();
    }
    // Fail early, before anyone relies on the service. This also creates the store; the service itself only
    // creates those of other projects.
    app.store()?;
    app.redactor()?;
    #[cfg(feature = "telemetry")]
    crate::telemetry::serve(app);
    if (args.require_token || !args.bind.is_loopback()) && !has_token(app)? {
        return Err(CommandError::new(
            Exit::Usage,
            "no_token",
            "there is no token, so no client could use the service",
        )
        .hinted("Create one with `handover token create --scope read|write|admin`."));
    }
    let service = Service::bind(args.bind, args.port.map_or(Port::Default, Port::Exactly))?;
    let address = service.address();
    if args.port.is_none() && address.port() != Port::DEFAULT {
        app.ui.note(format_args!("Port {} is in use; using another one.", Port::DEFAULT));
    }
    let url = format!("http://{address}/");
    let service_info =
        json!({"address": address.to_string(), "url": url, "pid": std::process::id()});
    let text = service_info.to_string();
    let folder = app.project()?.folder();
    let policy =
        AccessPolicy { bind: args.bind, hosts: args.host, token_required: args.require_token };
    service.run(Arc::new(AppContextProvider::cached(app.common.clone())), policy, || {
        folder.replace(SERVICE_FILE, text.as_bytes(), Sync::No)?;
        app.ui.answer("service", &service_info, |ui| ui.line(format_args!("Serving at {url}")))
    })?;
    // Another service may have replaced the file meanwhile.
    let other = folder.read_text(SERVICE_FILE, SERVICE_BYTES).ok().flatten();
    if other.is_some_and(|other| other == text) {
        let _ = folder.remove(SERVICE_FILE);
    }
    Ok(Exit::Done)
}

/// Whether any valid token exists.
fn has_token(app: &App) -> Result<bool, CommandError> {
    let now = app.now();
    let tokens = app.store()?.tokens()?;
    Ok(tokens.iter().any(|token| token.is_good(now)))
}
