//! Laws that hold for every registered variant and every scenario.
//!
//! The scenarios are random, and what they may contain is read from the registries and the JSON
//! Schema (`cases`), so that a new radio, scheduler, combining scheme, queue, TCP variant, order of
//! delivery or switch is held to the laws without a word here.

mod access;
mod bearers;
mod cases;
mod closed_forms;
mod edges;
mod errors;
mod events;
mod model;
mod repeatability;
mod rlc;
mod transfers;
mod transport;

use proptest::test_runner::Config;

/// A law's share of the effort: `cases` of 256 when nothing else is asked for, and in proportion
/// with the environment variable `PROPTEST_CASES`.
fn config(cases: u32) -> Config {
    let asked = Config::default();
    Config { cases: (asked.cases * cases).div_ceil(256), failure_persistence: None, ..asked }
}
