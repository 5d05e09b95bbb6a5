//! A hundred megabytes of anything, in linear time: `cargo test --release -p handover-text --test it
//! size -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use handover_text::Redactor;
use handover_text::cut::{cut, cut_to_tokens};
use handover_text::quote::{quote_block, quote_inline};
use handover_text::tokens::{Tokenizer, count};

const SIZE: usize = 100_000_000;

/// Slower than one megabyte a second is no longer linear in any useful sense.
const LONGEST: Duration = Duration::from_secs(100);

#[test]
#[ignore = "takes minutes and a gigabyte; run it in release"]
fn counts_a_hundred_megabytes() {
    let units = [
        "a",
        " ",
        "\n",
        "=",
        "`",
        "*",
        "[",
        "<!--",
        "\u{301}",
        "漢",
        "👩‍👧",
        "ab",
        "\\",
        "word ",
        "- x\n",
    ];
    for unit in units {
        let text = unit.repeat(SIZE / unit.len());
        let timed = |name: &str, run: &dyn Fn()| {
            let start = Instant::now();
            run();
            let time = start.elapsed();
            println!("{unit:?} {name}: {:.1} s", time.as_secs_f64());
            assert!(time < LONGEST, "{unit:?} {name}: {time:?}");
        };
        timed("o200k", &|| {
            count(Tokenizer::O200k, &text);
        });
        timed("cl100k", &|| {
            count(Tokenizer::Cl100k, &text);
        });
        timed("claude", &|| {
            count(Tokenizer::ClaudeNew, &text);
        });
        timed("cut", &|| drop(cut(&text, SIZE / 2)));
        timed("cut to tokens", &|| {
            drop(cut_to_tokens(&text, Tokenizer::O200k, 1000));
        });
        timed("quote block", &|| drop(quote_block(&text)));
        timed("quote inline", &|| drop(quote_inline(&text)));
        timed("redact", &|| drop(Redactor::default().find(&text)));
    }
}
