//! Property tests that hold for every registered variant and every scenario.
//!
//! The scenarios are random and generated from the registries and the JSON Schema (`keys`, `cases`), so a new radio,
//! scheduler, combining scheme, queue, TCP variant, order of delivery or switching policy is tested without changes
//! here.

mod access;
mod bearers;
mod cases;
mod closed_forms;
mod edges;
#[path = "../support/effective.rs"]
mod effective;
mod errors;
mod events;
mod keys;
mod model;
mod repeatability;
mod rlc;
mod transfers;
mod transport;

use proptest::test_runner::Config;

/// Returns the configuration of a property test with `cases` random cases. If the environment variable
/// `PROPTEST_CASES` is set, the number of cases is scaled by its value / 256.
fn config(cases: u32) -> Config {
    let asked = Config::default();
    Config { cases: (asked.cases * cases).div_ceil(256), failure_persistence: None, ..asked }
}
