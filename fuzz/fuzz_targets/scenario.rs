//! Fuzz target that interprets arbitrary bytes as a scenario file, with overrides after a line
//! `%%`. It checks that the file is read or rejected without a panic, and that the scenario is
//! unchanged after conversion to TOML or JSON and back.

#![no_main]

#[path = "../../crates/sim/tests/support/reading.rs"]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reading::check(&String::from_utf8_lossy(bytes)));
