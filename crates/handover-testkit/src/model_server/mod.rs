//! A scripted model for the real agent programs.
//!
//! One HTTP server on loopback implements Anthropic's messages, OpenAI's responses and chat
//! completions, and Google's contents. A [`Script`] maps
//! requests to responses; every request is recorded for the test.

mod anthropic;
mod chat;
mod google;
mod openai;
mod request;
mod script;
mod server;
mod tokens;

pub use request::{Api, ModelRequest};
pub use script::{Answer, Script};
pub use server::ModelServer;
pub use tokens::Tokens;

/// What the model says, and what that costs.
#[derive(Clone, Copy)]
struct Spoken<'a> {
    text: &'a str,
    tools: &'a [(String, serde_json::Value)],
    tokens: Tokens,
}
