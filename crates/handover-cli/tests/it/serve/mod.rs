//! `handover serve`: a real process on a port of its own.

mod basics;
mod remote;
