//! Bindings of the causes of a transfer's duration, and of what would shorten it.

#![expect(clippy::needless_pass_by_value, reason = "extracted from Python")]

use std::collections::HashMap;

use nodeb_answers::answer::explain::{self, Commands, Explained};
use nodeb_answers::causes::{self, More, Share};
use nodeb_answers::stats::Interval;
use nodeb_answers::what_if::{self, Part};
use nodeb_base::cause::{Cause, Step};
use nodeb_base::remedy::{Aim, Change};
use nodeb_sim::scenario::PlaceNames;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use super::json;
use crate::scenario::CompiledScenario;

/// Mean, low, high, sample standard deviation and number of values.
type Ends = (f64, f64, f64, f64, usize);

fn cause(name: &str) -> PyResult<Cause> {
    let found = Cause::ALL.iter().find(|cause| cause.name() == name);
    found.copied().ok_or_else(|| PyValueError::new_err(format!("there is no cause {name:?}")))
}

/// Critical paths of a transfer, over its replications.
#[pyclass(module = "nodeb._core", frozen)]
pub struct Paths(pub causes::Paths);

#[pymethods]
impl Paths {
    /// `shares` have a cause, a step, a place, the cause of the round trip, and whether they follow a
    /// loss; `ns` has a row of their times for each replication. `busy` has mean times, s, `lost` the
    /// losses on links, in queues and on the radio, and effects of marks, `packets` the mean number of
    /// packets that each cause delayed.
    #[new]
    fn new(
        scenario: &Bound<'_, CompiledScenario>,
        shares: Vec<(String, String, String, String, bool)>,
        ns: PyReadonlyArray2<'_, u64>,
        busy: Vec<(String, f64)>,
        lost: [u64; 4],
        packets: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let names = PlaceNames::of(scenario.get().inner());
        let share = |(name, step, place, round, after_loss): (String, String, String, String, bool)| {
            Ok(Share {
                cause: cause(&name)?,
                step: Step::ALL.iter().find(|one| one.name() == step).copied(),
                site: names.site(&place),
                place,
                round: if round.is_empty() { None } else { Some(cause(&round)?) },
                after_loss,
            })
        };
        let shares = shares.into_iter().map(share).collect::<PyResult<Vec<_>>>()?;
        let runs = ns.as_array().nrows();
        let more = More { busy, lost, packets: packets.as_slice()?.to_vec() };
        Ok(Self(causes::Paths::new(shares, ns.as_slice()?.to_vec(), runs, more)))
    }

    /// Duration of each replication, s.
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.0.times())
    }

    /// Time of a cause in each replication, s.
    fn seconds<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.0.seconds(cause(name)?)))
    }

    /// Names of the causes that occur, by decreasing mean time.
    fn causes(&self) -> Vec<&'static str> {
        self.0.causes().into_iter().map(Cause::name).collect()
    }

    /// Place at which a cause takes most of its time; empty if it does not occur.
    fn place(&self, name: &str) -> PyResult<&str> {
        Ok(self.0.place(cause(name)?))
    }

    /// Step in which a cause takes most of its time; empty if it does not occur.
    fn step(&self, name: &str) -> PyResult<&'static str> {
        Ok(self.0.step(cause(name)?).map_or("", Step::name))
    }

    /// Bars of the causes as JSON; a cause with less than the share `small` may have none of its own.
    fn bars(&self, head: &str, small: f64) -> PyResult<String> {
        let bars = self.0.bars(head, small);
        serde_json::to_string(&bars).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Columns of the table of causes.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.0.table();
        let numbers = |of: fn(&causes::Row) -> f64| PyArray1::from_iter(py, rows.iter().map(of));
        let table = PyDict::new(py);
        table.set_item("cause", rows.iter().map(|row| row.cause.name()).collect::<Vec<_>>())?;
        table.set_item("share", numbers(|row| row.share))?;
        table.set_item("mean_s", numbers(|row| row.time.mean))?;
        table.set_item("ci95_low", numbers(|row| row.time.low))?;
        table.set_item("ci95_high", numbers(|row| row.time.high))?;
        table.set_item("packets", numbers(|row| row.packets))?;
        Ok(table)
    }
}

/// Change of a scenario that may shorten a transfer.
#[pyclass(module = "nodeb._core", frozen)]
pub struct Remedy {
    pub change: Change,
    pub aims: Vec<Aim>,
    pub scenario: Py<CompiledScenario>,
}

#[pymethods]
impl Remedy {
    #[getter]
    fn name(&self) -> &'static str {
        self.change.name()
    }

    /// Targeted causes; empty if the change targets steps or places of the path.
    #[getter]
    fn causes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyTuple>> {
        pyo3::types::PyTuple::new(py, self.change.causes().iter().map(|cause| cause.name()))
    }

    /// The changed scenario.
    #[getter]
    fn scenario(&self, py: Python<'_>) -> Py<CompiledScenario> {
        self.scenario.clone_ref(py)
    }

    /// False if the paths show that the change has no effect.
    fn is_possible(&self, paths: &Bound<'_, Paths>) -> bool {
        paths.get().0.allows(self.change)
    }

    /// Mean time on the paths that the change targets, s, by cause.
    fn targets<'py>(&self, py: Python<'py>, paths: &Bound<'_, Paths>) -> PyResult<Bound<'py, PyDict>> {
        let times = paths.get().0.on_path(&self.aims);
        times.into_iter().map(|(cause, time_s)| (cause.name(), time_s)).into_py_dict(py)
    }
}

/// Numbers of pairs of replications, by whether a transfer is complete without and with a change.
#[pyclass(module = "nodeb._core", frozen)]
pub struct Pairs(what_if::Pairs);

#[pymethods]
impl Pairs {
    #[new]
    fn new(pairs: u32, both: u32, only_plain: u32, only_changed: u32, begun: bool) -> Self {
        Self(what_if::Pairs { all: pairs, both, only_plain, only_changed, begun })
    }

    fn of(&self, some: u32) -> String {
        self.0.of(some)
    }

    fn summary(&self) -> String {
        self.0.summary()
    }

    fn unknown(&self) -> String {
        self.0.unknown()
    }
}

/// Simulated effect of a change on a transfer.
#[pyclass(module = "nodeb._core", frozen)]
pub struct Tried(what_if::Tried);

#[pymethods]
impl Tried {
    /// `parts` have a cause and its mean difference, changed minus unchanged.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "fields of `WhatIf`")]
    fn new(
        name: String,
        gain: Ends,
        baseline_s: f64,
        parts: Vec<(String, Ends)>,
        targets: HashMap<String, f64>,
        pairs: &Bound<'_, Pairs>,
        changed: Ends,
        at_least: Ends,
    ) -> PyResult<Self> {
        let of = |(mean, low, high, stdev, n): Ends| Interval { mean, low, high, stdev, n };
        let part = |(name, ends): (String, Ends)| Ok(Part { cause: cause(&name)?, difference: of(ends) });
        let target = |(name, time_s): (String, f64)| Ok((cause(&name)?, time_s));
        Ok(Self(what_if::Tried {
            name,
            gain: of(gain),
            baseline_s,
            parts: parts.into_iter().map(part).collect::<PyResult<_>>()?,
            targets: targets.into_iter().map(target).collect::<PyResult<_>>()?,
            pairs: pairs.get().0,
            changed: of(changed),
            at_least: of(at_least),
        }))
    }

    fn outcome(&self) -> String {
        self.0.outcome()
    }

    fn why(&self) -> String {
        self.0.why()
    }
}

/// Returns the answer of an explanation as JSON. `transfer` has a description, empty for a transfer of a
/// simulated user, the user and the transfer; `found` has the smallest and the largest size and the
/// number of unfinished transfers. `levers` are changes with the times that they target, s, the longest
/// first. `commands` simulate changes and write a page.
#[pyfunction]
#[pyo3(signature = (scenario, paths, transfer, found, levers, tried=None, commands=None, beside=Vec::new()))]
#[expect(clippy::too_many_arguments, reason = "one call from Python")]
pub fn explain_answer(
    scenario: &Bound<'_, CompiledScenario>,
    paths: &Bound<'_, Paths>,
    transfer: (String, u64, u64),
    found: (u64, u64, usize),
    levers: Vec<(String, f64)>,
    tried: Option<Vec<Py<Tried>>>,
    commands: Option<(String, String)>,
    beside: Vec<(String, Py<Paths>)>,
) -> PyResult<String> {
    let scenario = scenario.get().inner();
    let parts = scenario.radio.parts();
    let (what, user, transfer) = transfer;
    let (least, most, unfinished) = found;
    let latest_s = if what.is_empty() { scenario.duration.as_secs() } else { f64::INFINITY };
    let explained = Explained {
        paths: &paths.get().0,
        name: &scenario.name,
        seed: scenario.seed,
        what: &what,
        user,
        transfer,
        bytes: (least, most),
        latest_s,
        unfinished,
        has_states: parts.has_states,
        has_opportunities: parts.recording.is_some(),
        levers,
    };
    let tried: Option<Vec<what_if::Tried>> =
        tried.map(|tried| tried.iter().map(|one| one.get().0.clone()).collect());
    let commands = commands.as_ref().map(|(what_if, page)| Commands { what_if, page });
    let beside: Vec<(&str, &causes::Paths)> =
        beside.iter().map(|(name, paths)| (name.as_str(), &paths.get().0)).collect();
    json(&explain::answer(&explained, tried.as_deref(), commands.as_ref(), &beside))
}

/// Returns a remark on transfers that had not finished; `of` says whose.
#[pyfunction]
pub fn incomplete(unfinished: usize, runs: usize, of: &str) -> String {
    explain::incomplete(unfinished, runs, of)
}
