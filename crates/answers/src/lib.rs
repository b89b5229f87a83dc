//! What replications say: metrics of their tables, intervals and stopping rules, verdicts of comparisons, and the
//! answer of a command in words and numbers. The command, the notebook and the page in a browser show the same answer.
//!
//! Nothing here reads files or simulates: tables come in through [`metrics::Tables`], an [`answer::Answer`] goes out.

#![cfg_attr(test, allow(clippy::float_cmp, reason = "some results are exact"))]

pub mod answer;
pub mod causes;
pub mod compare;
pub mod digits;
pub mod metrics;
pub mod rings;
pub mod stats;
pub mod stopping;
pub mod survivors;
pub mod what_if;
pub mod words;
