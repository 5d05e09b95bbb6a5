//! Pages of a real store: how large they are, and that nothing in them does anything.

mod hostile;
mod scene;
mod size;
