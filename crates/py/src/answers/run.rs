//! Binding of the answer of a run.

use nodeb_answers::answer::run::{Next, Ran, answer, loops};
use nodeb_answers::metrics::{Metric, Row};
use pyo3::prelude::*;

use super::explain::Paths;
use super::json;
use super::metrics::PyMetric;
use super::tables::PyTables;

/// Row of a summary.
type Line = (String, String, String, f64, f64, f64, f64, usize, f64);

/// Returns the answer of a run as JSON.
///
/// `plan` is the number of replications, the seed, and the reason for that number unless it was asked for; `scenario` is
/// the resolved scenario as JSON. `why` has the critical paths of the only phone's transfer. `following` is the folder
/// with the tables, whether there is a report, and the command that explains a transfer.
#[pyfunction]
#[expect(clippy::too_many_arguments, clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn run_answer(
    name: &str,
    tables: &Bound<'_, PyAny>,
    metrics: Vec<PyMetric>,
    summary: Vec<Line>,
    plan: (usize, u64, String),
    scenario: &str,
    why: Option<PyRef<'_, Paths>>,
    following: Option<(String, bool, String)>,
) -> PyResult<String> {
    let metrics: Vec<Metric> = metrics.into_iter().map(Into::into).collect();
    let row = |(group, metric, unit, mean, low, high, stdev, runs, covered)| Row {
        group,
        metric,
        unit,
        mean,
        low,
        high,
        stdev,
        runs,
        covered,
    };
    let summary: Vec<Row> = summary.into_iter().map(row).collect();
    let scenario = serde_json::from_str(scenario).unwrap_or_default();
    let next = following.as_ref();
    let next = next.map(|(folder, has_report, explain)| Next { folder, has_report: *has_report, explain });
    let (runs, seed, stopping) = plan;
    json(&PyTables::read(tables, |tables| {
        answer(&Ran {
            name,
            tables,
            metrics: &metrics,
            summary: &summary,
            runs,
            seed,
            stopping: &stopping,
            loops: &loops(&scenario),
            why: why.as_ref().map(|paths| &paths.0),
            commands: true,
            next,
        })
    })?)
}
