//! A model that says what a test tells it to, for the real agent programs.
//!
//! One HTTP server on loopback speaks Anthropic's messages and OpenAI's responses. A [`Script`]
//! says which request gets which answer; every request is kept for the test to look at.

mod anthropic;
mod openai;
mod request;
mod script;
mod server;

pub use request::{Api, ModelRequest};
pub use script::{Answer, Script};
pub use server::ModelServer;
