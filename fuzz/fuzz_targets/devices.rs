//! Fuzz target that interprets arbitrary bytes as times and packets of TUN devices. It checks that
//! memory is bounded and that every packet is returned exactly once.

#![no_main]

#[path = "../../crates/emu/tests/support/checks.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| checks::check_devices(bytes));
