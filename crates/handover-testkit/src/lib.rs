//! Test support: hermetic environments, and real programs to run in them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod binary;
pub mod briefs;
mod browser;
mod collector;
mod demo;
mod disk;
mod env;
mod fake_agent;
mod lock;
mod mcp_clients;
mod model_server;
mod output;
mod postgres;
mod power;
mod real_host;
mod service;
mod tls_proxy;
mod writers;

pub use binary::binary;
pub use browser::{Browser, Look};
pub use collector::{Collector, Mood, Received, attribute};
pub use demo::Demo;
pub use disk::Disk;
pub use env::TestEnv;
pub use fake_agent::{FakeAgent, processes_with};
pub use lock::Lock;
pub use mcp_clients::{Scenario, conformance, mcp_client};
pub use model_server::{Answer, Api, ModelRequest, ModelServer, Script, Tokens};
pub use output::Output;
pub use postgres::{OwnPostgres, postgres};
pub use power::{Recording, Scene, power_failures};
pub use real_host::RealHost;
pub use service::{Reply, Service};
pub use tls_proxy::TlsProxy;
pub use writers::{Writers, assert_kept};
