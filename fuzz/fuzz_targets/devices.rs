//! Any bytes as what devices give, and when: memory is bounded, and every packet comes back once.

#![no_main]

#[path = "../../crates/emu/tests/support/flying.rs"]
mod flying;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| flying::check_devices(bytes));
