//! A scripted model for the real agent programs.
//!
//! One HTTP server on loopback implements Anthropic's messages and OpenAI's responses. A [`Script`] maps
//! requests to responses; every request is recorded for the test.

mod anthropic;
mod openai;
mod request;
mod script;
mod server;

pub use request::{Api, ModelRequest};
pub use script::{Answer, Script};
pub use server::ModelServer;
