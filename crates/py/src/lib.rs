//! Python bindings of nodeb's core: convert, release the GIL, map errors; nothing else.

mod cell;
mod link;
mod tables;
mod wcdma;

use std::path::PathBuf;

use nodeb_capture::{Interface, Options};
use nodeb_sim::{Error, Scenario, scenario};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(nodeb._core, ScenarioError, PyValueError, "The scenario is not one nodeb can run.");
create_exception!(nodeb._core, Cancelled, PyException, "The run was cancelled.");

fn to_py(error: &Error) -> PyErr {
    match error {
        Error::Scenario(message) => ScenarioError::new_err(message.clone()),
        Error::Cancelled => Cancelled::new_err(error.to_string()),
        Error::Tap(message) => PyOSError::new_err(message.clone()),
    }
}

fn to_json(scenario: &Scenario) -> PyResult<String> {
    serde_json::to_string(scenario).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// Watches a run from another thread and stops it.
#[pyclass(module = "nodeb._core", frozen)]
#[derive(Default)]
struct Control {
    inner: nodeb_sim::Control,
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop soon; it then raises `Cancelled`.
    fn cancel(&self) {
        self.inner.cancel();
    }

    /// Share of the run that is done, from 0 to 1.
    fn progress(&self) -> f64 {
        self.inner.progress()
    }
}

/// JSON Schema (draft 2020-12) of a scenario.
#[pyfunction]
fn schema() -> String {
    Scenario::schema().to_string()
}

/// Every registered variant as (kind, name, description).
#[pyfunction]
fn registry() -> Vec<(&'static str, &'static str, &'static str)> {
    Scenario::registry()
}

/// Reads TOML text and returns the resolved scenario as JSON.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a Python list")]
fn parse_toml(text: &str, file: &str, overrides: Vec<String>) -> PyResult<String> {
    scenario::from_toml(text, file, &overrides).map_err(|error| to_py(&error)).and_then(|s| to_json(&s))
}

/// Everything that a TOML text says, as JSON, in its order and unchecked.
#[pyfunction]
fn document(text: &str, file: &str) -> PyResult<String> {
    scenario::document(text, file).map_err(|error| to_py(&error))
}

/// Line, from 1, of the value at a path of keys in a TOML text, or of what is nearest around it.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a Python list")]
fn line_of(text: &str, path: Vec<String>) -> Option<usize> {
    scenario::line_of(text, &path)
}

/// Checks a scenario given as JSON and fills in every default.
#[pyfunction]
fn resolve(json: &str) -> PyResult<String> {
    scenario::from_json(json).map_err(|error| to_py(&error)).and_then(|s| to_json(&s))
}

/// What is allowed and still doubtful about a scenario given as JSON, each as "key: message".
#[pyfunction]
fn warnings(json: &str) -> PyResult<Vec<String>> {
    scenario::from_json(json).map_err(|error| to_py(&error)).map(|scenario| scenario.warnings())
}

/// Reads the text of an error model's file and returns a radio's `errors` as JSON.
#[pyfunction]
fn read_error_model(text: &str, file: &str) -> PyResult<String> {
    let model = nodeb_sim::radio::error::file::read(text, file).map_err(|error| to_py(&error))?;
    serde_json::to_string(&model).map_err(|error| ScenarioError::new_err(error.to_string()))
}

/// The scenario, given as JSON, as TOML.
#[pyfunction]
fn to_toml(json: &str) -> PyResult<String> {
    scenario::from_json(json).and_then(|s| scenario::to_toml(&s)).map_err(|error| to_py(&error))
}

/// Simulates one replication and returns its tables, each a dict of columns.
#[pyfunction]
fn run<'py>(
    py: Python<'py>,
    json: &str,
    seed: u64,
    run: u64,
    control: &Bound<'py, Control>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario::from_json(json).map_err(|error| to_py(&error))?;
    let control = control.get();
    let result =
        py.detach(|| nodeb_sim::run(&scenario, seed, run, &control.inner)).map_err(|error| to_py(&error))?;
    tables::all(py, result.tables(run, &scenario))
}

/// As `run`, and writes the packets that pass `interfaces` (all when empty) to the pcapng file
/// `path`, of each the first `snap_length` bytes; None keeps the headers.
#[pyfunction]
#[pyo3(signature = (json, seed, run, control, path, snap_length=None, interfaces=Vec::new()))]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
fn capture<'py>(
    py: Python<'py>,
    json: &str,
    seed: u64,
    run: u64,
    control: &Bound<'py, Control>,
    path: PathBuf,
    snap_length: Option<u32>,
    interfaces: Vec<String>,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario::from_json(json).map_err(|error| to_py(&error))?;
    let control = control.get();
    let options = Options {
        snap_length: snap_length.unwrap_or(nodeb_capture::DEFAULT_SNAP_LENGTH),
        interfaces: interfaces.iter().map(|name| interface(name)).collect::<PyResult<_>>()?,
    };
    let result = py
        .detach(|| nodeb_capture::run(&scenario, seed, run, &control.inner, &path, &options))
        .map_err(|error| match error {
            nodeb_capture::Error::SnapLength(_) | nodeb_capture::Error::NoInterface(..) => {
                PyValueError::new_err(error.to_string())
            }
            nodeb_capture::Error::File { .. } => PyOSError::new_err(error.to_string()),
            nodeb_capture::Error::Run(error) => to_py(&error),
        })?;
    tables::all(py, result.tables(run, &scenario))
}

fn interface(name: &str) -> PyResult<Interface> {
    let known = Interface::ALL.into_iter().find(|interface| interface.name() == name);
    known.ok_or_else(|| {
        let names = Interface::ALL.map(Interface::name).join(", ");
        PyValueError::new_err(format!("there is no interface `{name}`; expected one of: {names}"))
    })
}

/// Version of the core.
#[pyfunction]
fn version() -> &'static str {
    nodeb_sim::VERSION
}

/// The simulation core of nodeb.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::cell::cell_map;
    #[pymodule_export]
    use super::link::{LinkError, link_resolve, link_run, link_schema};
    #[pymodule_export]
    use super::tables::metrics;
    #[pymodule_export]
    use super::wcdma::{
        wcdma_ber, wcdma_check_bits, wcdma_frame, wcdma_mean_factor, wcdma_rates, wcdma_shares, wcdma_sinr,
    };
    #[pymodule_export]
    use super::{
        Cancelled, Control, ScenarioError, capture, document, line_of, parse_toml, read_error_model,
        registry, resolve, run, schema, to_toml, version, warnings,
    };
}
