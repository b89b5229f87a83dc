//! Packet timeline of a replication: all events of packets in an interval of simulated time.

use nodeb_base::units::Time;
use nodeb_sim::Scenario;
use nodeb_timeline::{Error, Options, Timeline};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{guarded, to_py};
use crate::scenario::{CompiledScenario, Control};
use crate::tables::{self, About};

/// Simulates replication number `run` and returns its packet timeline from `from_ns` to `to_ns`
/// nanoseconds of simulated time, or to the end if `to_ns` is `None`. If `user` is given, only this
/// user's packets, blocks and events are recorded. Raises a `ValueError` if there are more events
/// than `most`, by default 4 million.
#[pyfunction]
#[pyo3(signature = (scenario, seed, run, control, from_ns=0, to_ns=None, user=None, most=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn timeline<'py>(
    py: Python<'py>,
    scenario: &CompiledScenario,
    seed: u64,
    run: u64,
    control: &Bound<'py, Control>,
    from_ns: u64,
    to_ns: Option<u64>,
    user: Option<u32>,
    most: Option<u64>,
) -> PyResult<Bound<'py, PyDict>> {
    let control = control.get();
    let options = Options {
        from: Time(from_ns),
        to: Time(to_ns.unwrap_or(u64::MAX)),
        user,
        most: most.unwrap_or(nodeb_timeline::DEFAULT_MAX),
    };
    let work = || nodeb_timeline::run(scenario.inner(), seed, run, control.inner(), &options);
    let found = py.detach(|| guarded(|| scenario.about(seed, run), work))?.map_err(|error| match error {
        Error::Run(error) => to_py(&error),
        other => PyValueError::new_err(other.to_string()),
    })?;
    to_dict(py, scenario.inner(), found)
}

/// Converts a packet timeline to a dict. Its entries are the tables (`tables`), the names of the
/// codes in them (`names`), the places and lanes (boxes) of the network (`places`, `lanes`,
/// `node_b`), the end of the timeline (`until_ns`), and the TTI (`tti_ns`), which is `None` if the
/// radio has no TTIs.
pub fn to_dict<'py>(py: Python<'py>, scenario: &Scenario, found: Timeline) -> PyResult<Bound<'py, PyDict>> {
    let Timeline { tables, names, places, until, .. } = found;
    let about = PyDict::new(py);
    about.set_item("tables", tables::all(py, tables)?)?;
    about.set_item("names", names.into_iter().collect::<std::collections::BTreeMap<_, _>>())?;
    about.set_item("lanes", places.lanes)?;
    let hops: Vec<_> = places.hops.into_iter().map(|hop| (hop.name, hop.from, hop.to)).collect();
    about.set_item("places", hops)?;
    about.set_item("node_b", places.node_b)?;
    about.set_item("until_ns", until.0)?;
    about.set_item("tti_ns", scenario.radio.parts().tti.map(|tti| tti.duration.0))?;
    Ok(about)
}

/// Returns the descriptions (name, meaning, columns) of all tables that a packet timeline can have.
#[pyfunction]
pub fn timeline_tables() -> Vec<About> {
    nodeb_timeline::empty_tables().into_iter().map(tables::about).collect()
}
