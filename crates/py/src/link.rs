//! Bindings of the chip-level link simulation, which needs no scenario and has no packets.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use nodeb_phy::Error;
use nodeb_phy::link::{Counts, Experiment, Tally, run_on};
use nodeb_phy::simd::Isa;
use numpy::PyArray1;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::guarded;

create_exception!(
    nodeb._core,
    LinkError,
    PyValueError,
    "A link cannot be simulated; the arguments are the key and what is wrong with its value."
);

fn to_py(error: Error) -> PyErr {
    let Error::Config { key, message } = error;
    LinkError::new_err((key, message))
}

fn read(json: &str) -> PyResult<Experiment> {
    let invalid = |key: String, message: String| LinkError::new_err((key, message));
    let value: serde_json::Value =
        serde_json::from_str(json).map_err(|error| invalid(String::new(), error.to_string()))?;
    let experiment: Experiment = serde_path_to_error::deserialize(value)
        .map_err(|error| invalid(error.path().to_string(), error.inner().to_string()))?;
    experiment.check().map_err(to_py)?;
    Ok(experiment)
}

/// Returns the JSON Schema (draft 2020-12) of a link experiment, the input of the chip-level link
/// simulation.
#[pyfunction]
pub fn link_schema() -> String {
    schemars::schema_for!(Experiment).to_value().to_string()
}

/// Checks a link experiment given as JSON and fills in all defaults. Returns two JSON texts: the
/// experiment, and the parameters of the service that it simulates.
#[pyfunction]
pub fn link_resolve(json: &str) -> PyResult<(String, String)> {
    let experiment = read(json)?;
    let to_json = |error: serde_json::Error| LinkError::new_err((String::new(), error.to_string()));
    let service = serde_json::to_string(&experiment.service.service()).map_err(to_json)?;
    Ok((serde_json::to_string(&experiment).map_err(to_json)?, service))
}

/// Simulates a link experiment at an Eb/N0 of `eb_n0_db`. After each batch, which has four units of
/// 16 blocks per thread, calls `watch`, if given, with the number of bits and the number of block
/// errors so far. Ctrl-C ends the run and sets `interrupted` in the result. If `portable` is true,
/// only instructions that every processor of the platform has are used.
#[pyfunction]
#[pyo3(signature = (json, eb_n0_db, threads, watch=None, portable=false))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn link_run<'py>(
    py: Python<'py>,
    json: &str,
    eb_n0_db: f64,
    threads: NonZeroU32,
    watch: Option<Py<PyAny>>,
    portable: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let experiment = read(json)?;
    let isa = if portable { Isa::Baseline } else { Isa::best() };
    let mut failure = None;
    let mut look = |counts: &Counts| match call(watch.as_ref(), counts) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            failure = Some(error);
            ControlFlow::Break(())
        }
    };
    let simulate =
        || run_on(isa, &experiment.link(eb_n0_db), experiment.seed, experiment.stop, threads, &mut look);
    let about = || format!("a link at {eb_n0_db} dB, seed {}", experiment.seed);
    let outcome = py.detach(|| guarded(about, simulate))?.map_err(to_py)?;
    if let Some(error) = failure.filter(|error| !error.is_instance_of::<PyKeyboardInterrupt>(py)) {
        return Err(error);
    }
    let found = tables(py, &outcome.counts)?;
    let lost: Vec<u8> = outcome.pdu_errors.iter().map(|&lost| u8::from(lost)).collect();
    found.set_item("pdu_errors", PyArray1::from_vec(py, lost))?;
    found.set_item("interrupted", outcome.broken_off)?;
    Ok(found)
}

/// Lets Python process signals such as Ctrl-C.
fn call(watch: Option<&Py<PyAny>>, counts: &Counts) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        let Some(watch) = watch else { return Ok(()) };
        watch.call1(py, (counts.bits.trials, counts.blocks.errors)).map(|_| ())
    })
}

/// Returns the counts as a dict. For each kind of trial (bits, PDUs, blocks, bits before decoding,
/// TTIs of signalling) the dict has the numbers of trials and errors, the error rate and its 95 %
/// confidence interval. It also has the number of undetected errors, the number of decoder
/// iterations, and the simulated time in seconds (`air_s`).
fn tables<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let tallies = [
        ("bits", counts.bits),
        ("pdus", counts.pdus),
        ("blocks", counts.blocks),
        ("raw", counts.raw),
        ("signalling", counts.signalling),
    ];
    for (name, tally) in tallies {
        found.set_item(name, table(py, &tally)?)?;
    }
    found.set_item("undetected", counts.undetected)?;
    found.set_item("iterations", counts.iterations)?;
    found.set_item("air_s", counts.seconds)?;
    Ok(found)
}

fn table<'py>(py: Python<'py>, tally: &Tally) -> PyResult<Bound<'py, PyDict>> {
    let (low, high) = tally.interval95();
    let entries = PyDict::new(py);
    entries.set_item("trials", tally.trials)?;
    entries.set_item("errors", tally.errors)?;
    entries.set_item("rate", tally.rate())?;
    entries.set_item("ci95_low", low)?;
    entries.set_item("ci95_high", high)?;
    Ok(entries)
}
