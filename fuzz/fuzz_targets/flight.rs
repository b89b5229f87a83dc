//! Fuzz target that interprets arbitrary bytes as a recording. It checks that they are replayed or
//! refused without a panic, and that no connection receives more than was sent.

#![no_main]

#[path = "../../crates/emu/tests/support/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::check_log(bytes));
