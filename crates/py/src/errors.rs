use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use nodeb_sim::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

create_exception!(nodeb._core, ScenarioError, PyValueError, "The scenario is not one nodeb can run.");
create_exception!(nodeb._core, Cancelled, PyException, "The run was cancelled.");
create_exception!(
    nodeb._core,
    InternalError,
    PyRuntimeError,
    "nodeb itself failed; the message is complete."
);

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

pub fn keep_panics_quiet() {
    set_hook(Box::new(|panic| {
        PLACE.set(panic.location().map(|place| format!("{}:{}", place.file(), place.line())));
    }));
}

pub fn guarded<T>(what: impl FnOnce() -> String, work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let place = PLACE.take().unwrap_or_else(|| "an unknown place".to_owned());
        let (what, reason) = (what(), reason(&*panic));
        InternalError::new_err(format!("nodeb itself failed, please report it: {reason} ({place}; {what})"))
    })
}

fn reason(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

pub fn to_py(error: &Error) -> PyErr {
    match error {
        Error::Scenario(message) => ScenarioError::new_err(message.clone()),
        Error::Cancelled => Cancelled::new_err(error.to_string()),
    }
}

/// Panics inside [`guarded`], so that tests can check the conversion.
#[pyfunction]
pub fn fail_on_purpose(what: String) -> PyResult<()> {
    guarded(|| what, || panic!("on purpose"))
}
