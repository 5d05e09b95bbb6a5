//! `answer_http` under the whole suite, with the showcase server that the suite expects.
//!
//! What the service itself passes, with its own tools and admission, is in
//! `handover-cli/tests/it/serve/mcp.rs`.

use std::convert::Infallible;

use handover_mcp::answer_http;
use handover_testkit::conformance;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::showcase::Showcase;

/// Scenarios that need a session outliving a request: settings that the server remembers, and questions of
/// the server to the client. Our transport keeps no sessions, and the newer protocol has none.
const SESSIONS: [&str; 11] = [
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "logging-set-level",
    "resources-subscribe",
    "resources-unsubscribe",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "server-sse-polling",
    "tools-call-elicitation",
    "tools-call-sampling",
    "tools-call-with-logging",
];

/// The caller of `answer_http` decides which hosts and origins are allowed.
const DOOR: &str = "dns-rebinding-protection";

/// Serves on its own port while `work` runs.
fn served<T>(work: impl FnOnce(&str) -> T) -> T {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = service_fn(|request| async {
                Ok::<_, Infallible>(answer_http(|| Showcase, request).await)
            });
            let talk = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            tokio::spawn(talk);
        }
    });
    work(&url)
}

#[test]
fn the_whole_suite_passes_but_for_sessions() {
    let folder = tempfile::tempdir().unwrap();
    served(|url| {
        for (version, count) in [("2025-06-18", 27), ("2025-11-25", 33), ("2026-07-28", 40)] {
            let all = conformance(url, version, folder.path());
            assert_eq!(all.len(), count, "{version} has other scenarios than were looked at");
            let inapplicable =
                |name: &str| name == DOOR || version != "2026-07-28" && SESSIONS.contains(&name);
            let wrong: Vec<_> = all
                .iter()
                .filter(|(name, scenario)| scenario.is_fine() == inapplicable(name))
                .collect();
            assert!(wrong.is_empty(), "{version}: {wrong:#?}");
        }
    });
}
