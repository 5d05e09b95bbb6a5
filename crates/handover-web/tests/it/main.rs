//! Pages of a real store: how large they are, and that nothing in them does anything.

#![expect(clippy::unwrap_used, reason = "these are tests")]

mod hostile;
mod scene;
mod size;
