//! Fuzz target that interprets any bytes as packets of TUN devices and their times, and checks that memory is bounded
//! and every packet is returned once.

#![no_main]

#[path = "../../crates/emu/tests/support/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::check_devices(bytes));
