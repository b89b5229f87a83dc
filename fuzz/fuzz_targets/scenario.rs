//! Reads any bytes as a scenario file, with overrides after a line `%%`: it is read or rejected without a panic, and
//! what was read survives writing and reading.

#![no_main]

#[path = "../../crates/sim/tests/support/reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::check(&String::from_utf8_lossy(bytes)));
