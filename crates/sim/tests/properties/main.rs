//! Generated from the registries and the JSON Schema (`keys`, `cases`), so a new variant is tested without
//! changes here.

mod access;
mod bearers;
mod cases;
mod closed_forms;
mod edges;
mod errors;
mod events;
mod keys;
mod model;
mod repeatability;
mod rlc;
mod transfers;
mod transport;

use proptest::test_runner::Config;

/// Scaled by `PROPTEST_CASES` / 256 if it is set.
fn config(cases: u32) -> Config {
    let asked = Config::default();
    Config { cases: (asked.cases * cases).div_ceil(256), failure_persistence: None, ..asked }
}
