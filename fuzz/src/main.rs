//! One program with all fuzz targets: `HANDOVER_FUZZ` names the one that runs. `fuzz/run` builds and starts it.

#![no_main]

mod targets;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

static CHOSEN: OnceLock<fn(&[u8])> = OnceLock::new();

fn chosen() -> fn(&[u8]) {
    let name = std::env::var("HANDOVER_FUZZ").unwrap_or_default();
    match targets::ALL.iter().find(|(known, _)| *known == name) {
        Some((_, target)) => *target,
        None => {
            let names: Vec<&str> = targets::ALL.iter().map(|(name, _)| *name).collect();
            eprintln!("HANDOVER_FUZZ is one of {}", names.join(" "));
            std::process::exit(2);
        }
    }
}

fuzz_target!(|data: &[u8]| CHOSEN.get_or_init(chosen)(data));
