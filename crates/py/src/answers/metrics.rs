use std::collections::HashMap;
use std::sync::LazyLock;

use nodeb_answers::metrics::{self, Better, ByRun, Formula, Group, Metric, Tables};
use nodeb_answers::rings::Rings;
use nodeb_answers::survivors;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::tables::PyTables;

static BUILT_IN: LazyLock<Vec<Metric>> = LazyLock::new(|| metrics::metrics(&nodeb_sim::metrics::tables()));

/// A metric in Python (`nodeb.results.metrics.Metric`), without its function.
#[derive(FromPyObject, IntoPyObject)]
pub struct PyMetric {
    name: String,
    unit: String,
    meaning: String,
    label: String,
    better: String,
    low: f64,
    high: f64,
    percent: bool,
    can_fail: bool,
    column: Option<(String, String)>,
    completed: bool,
}

impl From<&Metric> for PyMetric {
    fn from(metric: &Metric) -> Self {
        Self {
            name: metric.name.to_string(),
            unit: metric.unit.to_string(),
            meaning: metric.meaning.to_string(),
            label: metric.label.to_string(),
            better: match metric.better {
                Better::More => "more".to_owned(),
                Better::Less => "less".to_owned(),
                Better::Neither => String::new(),
            },
            low: metric.low,
            high: metric.high,
            percent: metric.percent,
            can_fail: metric.can_fail,
            column: metric.column.as_ref().map(|(table, column)| (table.to_string(), column.to_string())),
            completed: metric.completed,
        }
    }
}

impl From<PyMetric> for Metric {
    /// The built-in metric of this name, or a metric whose values are given.
    fn from(metric: PyMetric) -> Self {
        if let Some(built_in) = BUILT_IN.iter().find(|built_in| built_in.name == *metric.name) {
            return built_in.clone();
        }
        Self {
            name: metric.name.into(),
            unit: metric.unit.into(),
            meaning: metric.meaning.into(),
            label: metric.label.into(),
            formula: Formula::Own,
            better: better_of(&metric.better),
            low: metric.low,
            high: metric.high,
            percent: metric.percent,
            can_fail: metric.can_fail,
            column: metric.column.map(|(table, column)| (table.into(), column.into())),
            completed: metric.completed,
        }
    }
}

pub fn better_of(name: &str) -> Better {
    match name {
        "more" => Better::More,
        "less" => Better::Less,
        _ => Better::Neither,
    }
}

/// Metrics that users define, each with its values by group.
pub type Own<'py> = Vec<(PyMetric, HashMap<String, PyReadonlyArray1<'py, f64>>)>;

/// All groups and metrics, the built-in ones first.
pub fn groups<'a>(tables: &'a dyn Tables, own: Own<'_>) -> (Vec<Group<'a>>, Vec<Metric>) {
    let mut groups = Group::of_all(tables);
    let mut metrics = BUILT_IN.clone();
    for (metric, mut values) in own {
        for group in &mut groups {
            if let Some(values) = values.remove(&group.name) {
                group.own.insert(metric.name.clone(), values.as_array().to_vec());
            }
        }
        metrics.push(metric.into());
    }
    (groups, metrics)
}

/// Returns the metrics that need no function of a user, in the order of summaries.
#[pyfunction]
pub fn built_in_metrics() -> Vec<PyMetric> {
    BUILT_IN.iter().map(PyMetric::from).collect()
}

#[pyfunction]
pub fn of_whom(metric: PyMetric) -> &'static str {
    metrics::of_whom(&metric.into())
}

/// Returns the names of the groups of users, last those of all users together.
#[pyfunction]
pub fn group_names(tables: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    PyTables::read(tables, |tables| metrics::group_names(tables))
}

type Rows<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Returns the replications in which a group has users, its rows of a table, and the place of each row's replication.
#[pyfunction]
pub fn group_rows<'py>(tables: &Bound<'py, PyAny>, group: &str, table: &str) -> PyResult<Rows<'py>> {
    let py = tables.py();
    PyTables::read(tables, |tables| {
        let group = Group::new(tables, group);
        let rows = group.rows(table);
        let all = 0..rows.at.len() as u32;
        let mine = rows
            .mine
            .as_ref()
            .map_or_else(|| PyArray1::from_iter(py, all), |mine| PyArray1::from_slice(py, mine));
        (PyArray1::from_slice(py, &group.runs), mine, PyArray1::from_slice(py, &rows.at))
    })
}

/// Returns columns of metrics by replication: a row per group of users and run, in this order.
#[pyfunction]
pub fn by_run<'py>(tables: &Bound<'py, PyAny>, own: Own<'py>) -> PyResult<Bound<'py, PyDict>> {
    let py = tables.py();
    let ByRun { groups } = PyTables::read(tables, |tables| {
        let (groups, metrics) = groups(tables, own);
        ByRun::new(&groups, &metrics)
    })?;
    let columns = PyDict::new(py);
    let (names, lengths): (Vec<_>, Vec<_>) =
        groups.iter().map(|group| (&group.name, group.runs.len())).unzip();
    columns.set_item("group", py.import("numpy")?.call_method1("repeat", (names, lengths))?)?;
    let runs: Vec<u64> = groups.iter().flat_map(|group| group.runs.iter().copied()).collect();
    columns.set_item("run", PyArray1::from_vec(py, runs))?;
    for (place, (name, _)) in groups[0].values.iter().enumerate() {
        let each: Vec<&[f64]> = groups.iter().map(|group| &*group.values[place].1).collect();
        columns.set_item(name, PyArray1::from_vec(py, each.concat()))?;
    }
    Ok(columns)
}

/// Returns columns of a summary: a row per group of users and metric.
#[pyfunction]
pub fn summarize<'py>(
    tables: &Bound<'py, PyAny>,
    own: Own<'py>,
    duration_s: f64,
) -> PyResult<Bound<'py, PyDict>> {
    let py = tables.py();
    let rows = PyTables::read(tables, |tables| {
        let (groups, metrics) = groups(tables, own);
        metrics::summarize(&groups, &metrics, duration_s)
    })?;
    let columns = PyDict::new(py);
    columns.set_item("group", PyList::new(py, rows.iter().map(|row| &row.group))?)?;
    columns.set_item("metric", PyList::new(py, rows.iter().map(|row| &row.metric))?)?;
    columns.set_item("unit", PyList::new(py, rows.iter().map(|row| &row.unit))?)?;
    columns.set_item("mean", PyList::new(py, rows.iter().map(|row| row.mean))?)?;
    columns.set_item("ci95_low", PyList::new(py, rows.iter().map(|row| row.low))?)?;
    columns.set_item("ci95_high", PyList::new(py, rows.iter().map(|row| row.high))?)?;
    columns.set_item("stdev", PyList::new(py, rows.iter().map(|row| row.stdev))?)?;
    columns.set_item("runs", PyList::new(py, rows.iter().map(|row| row.runs))?)?;
    columns.set_item("covered", PyList::new(py, rows.iter().map(|row| row.covered))?)?;
    Ok(columns)
}

/// Returns, for each group and metric that applies to it, the share of users or replications that have a value.
#[pyfunction]
pub fn coverage(tables: &Bound<'_, PyAny>, own: Own<'_>) -> PyResult<HashMap<String, HashMap<String, f64>>> {
    PyTables::read(tables, |tables| {
        let (groups, metrics) = groups(tables, own);
        let mut shares: HashMap<_, HashMap<_, _>> = HashMap::new();
        for metric in &metrics {
            for (group, values) in groups.iter().zip(metric.by_group(&groups).into_iter().flatten()) {
                let share = metrics::coverage(metric, group, &values);
                shares.entry(group.name.clone()).or_default().insert(metric.name.to_string(), share);
            }
        }
        shares
    })
}

/// Returns the share of users or replications that have a value of a metric, for each row of [`by_run`].
#[pyfunction]
pub fn coverage_by_run<'py>(
    tables: &Bound<'py, PyAny>,
    own: Own<'py>,
    metric: PyMetric,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let metric = Metric::from(metric);
    let shares = PyTables::read(tables, |tables| {
        let (groups, _) = groups(tables, own);
        let each = groups.iter().zip(metric.by_group(&groups).into_iter().flatten());
        each.flat_map(|(group, values)| metrics::coverage_by_run(&metric, group, &values)).collect()
    })?;
    Ok(PyArray1::from_vec(tables.py(), shares))
}

/// Statistics of a result's transfers that were in progress when their run ended.
#[pyclass(frozen, module = "nodeb._core")]
pub struct Unfinished(survivors::Unfinished);

#[pymethods]
impl Unfinished {
    /// No transfers at all.
    #[new]
    fn new() -> Self {
        Self(survivors::NO_TRANSFERS)
    }

    /// Number of transfers, finished or not, without endless ones.
    #[getter]
    fn transfers(&self) -> usize {
        self.0.transfers
    }

    /// Number of transfers of which the receiver had not received everything.
    #[getter]
    fn count(&self) -> usize {
        self.0.count
    }

    /// Share of all transfers that were not complete; 0 if there are no transfers.
    #[getter]
    fn share(&self) -> f64 {
        self.0.share()
    }

    /// Kaplan-Meier estimate of all transfers' median download time, s; NaN if it is not reached.
    #[getter]
    fn median_s(&self) -> f64 {
        self.0.median_s
    }

    /// Suggested duration of a run, s, in which most unfinished transfers would finish; NaN if there is none.
    #[getter]
    fn enough_s(&self) -> f64 {
        self.0.enough_s
    }

    fn __add__(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }
}

/// Returns the statistics of all transfers of tables, for runs of this duration.
#[pyfunction]
pub fn unfinished(tables: &Bound<'_, PyAny>, duration_s: f64) -> PyResult<Unfinished> {
    PyTables::read(tables, |tables| {
        Unfinished(survivors::Unfinished::of(|name| tables.numbers("flows", name), duration_s))
    })
}

/// Returns a question about why nothing arrived.
#[pyfunction]
pub fn no_arrival_hint(duration_s: f64) -> String {
    survivors::no_arrival_hint(duration_s, true)
}

type PyRings<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<usize>>);

/// Returns the distance of each phone of a cell, m, the distances that separate rings, m, and the ring of each phone.
#[pyfunction]
pub fn rings<'py>(tables: &Bound<'py, PyAny>) -> PyResult<Option<PyRings<'py>>> {
    let py = tables.py();
    let rings = PyTables::read(tables, |tables| Rings::new(tables))?;
    Ok(rings.map(|rings| {
        let places = PyArray1::from_iter(py, rings.places());
        (PyArray1::from_slice(py, &rings.distance_m), PyArray1::from_slice(py, &rings.edges_m), places)
    }))
}
