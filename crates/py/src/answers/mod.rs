//! Bindings of the crate of answers.

pub mod compare;
pub mod digits;
pub mod explain;
pub mod metrics;
pub mod run;
pub mod stats;
pub mod tables;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// An answer, which `nodeb.answer.Answer` reads.
fn json(answer: &nodeb_answers::answer::Answer) -> PyResult<String> {
    serde_json::to_string(answer).map_err(|error| PyValueError::new_err(error.to_string()))
}
