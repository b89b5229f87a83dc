//! Any bytes as a scenario file, with overrides behind a line `%%`: read or refused, never a
//! panic, and what was read survives being written and read again.

#![no_main]

#[path = "../../crates/sim/tests/support/reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::check(&String::from_utf8_lossy(bytes)));
