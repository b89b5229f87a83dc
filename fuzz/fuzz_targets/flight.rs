//! Any bytes as the log of a flight: flown again or refused, never a panic, and nothing is found that was not sent.

#![no_main]

#[path = "../../crates/emu/tests/support/flying.rs"]
mod flying;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flying::check_log(bytes));
