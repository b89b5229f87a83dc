//! Any bytes as what devices give, and when: memory is bounded, and every packet comes back once.

#![no_main]

#[path = "../../crates/emu/tests/support/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::check_devices(bytes));
