//! Bindings of comparisons. The classes are those of `nodeb.comparison.differences`.

use nodeb_answers::answer::Bars;
use nodeb_answers::answer::compare::{Asked, answers, shown_of, sign_of};
use nodeb_answers::compare::{self, Kind, MoreRuns, Side};
use nodeb_answers::metrics::{Group, Metric};
use nodeb_answers::stats;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::json;
use super::metrics::{Own, PyMetric, better_of, groups};
use super::stats::{Ends, ends};
use super::tables::PyTables;
use crate::errors::guarded;

/// Kind, sign, and the usual and the cautious number of further replications.
type Verdict = (&'static str, i8, f64, f64);
/// Baseline, other scenario, difference, ratio, verdict, relative width without pairing, differing and missing pairs,
/// and the share of users that have a value.
type Row = (Ends, Ends, Ends, Ends, Verdict, f64, usize, usize, f64);

#[derive(FromPyObject)]
pub struct PyInterval {
    mean: f64,
    low: f64,
    high: f64,
    stdev: f64,
    n: usize,
}

impl From<PyInterval> for stats::Interval {
    fn from(PyInterval { mean, low, high, stdev, n }: PyInterval) -> Self {
        Self { mean, low, high, stdev, n }
    }
}

#[derive(FromPyObject)]
struct PyVerdict {
    kind: String,
    sign: i8,
    more_runs: PyMoreRuns,
}

#[derive(FromPyObject)]
pub struct PyMoreRuns {
    low: f64,
    high: f64,
}

impl From<PyMoreRuns> for MoreRuns {
    fn from(PyMoreRuns { low, high }: PyMoreRuns) -> Self {
        Self { low, high }
    }
}

#[derive(FromPyObject)]
pub struct PyDifference {
    group: String,
    metric: PyMetric,
    baseline: PyInterval,
    other: PyInterval,
    difference: PyInterval,
    ratio: PyInterval,
    verdict: PyVerdict,
    unpaired: f64,
    differing: usize,
    missing: usize,
    covered: f64,
}

impl TryFrom<PyDifference> for compare::Difference {
    type Error = PyErr;

    fn try_from(given: PyDifference) -> PyResult<Self> {
        let PyVerdict { kind, sign, more_runs } = given.verdict;
        let kind = Kind::of_name(&kind).ok_or_else(|| PyValueError::new_err(kind))?;
        Ok(Self {
            group: given.group,
            metric: given.metric.into(),
            baseline: given.baseline.into(),
            other: given.other.into(),
            difference: given.difference.into(),
            ratio: given.ratio.into(),
            verdict: compare::Verdict { kind, sign, more_runs: more_runs.into() },
            unpaired: given.unpaired,
            differing: given.differing,
            missing: given.missing,
            covered: given.covered,
        })
    }
}

#[derive(FromPyObject)]
struct PyTried<'py> {
    name: String,
    differences: Vec<PyDifference>,
    unknown: Vec<String>,
    only: Bound<'py, PyDict>,
    empty: Vec<String>,
}

#[derive(FromPyObject)]
pub struct PyComparison<'py> {
    baseline: String,
    tried: Vec<PyTried<'py>>,
    runs: usize,
    seed: u64,
    margin: f64,
    duration_s: f64,
    is_upload: bool,
}

impl TryFrom<PyComparison<'_>> for compare::Comparison {
    type Error = PyErr;

    fn try_from(given: PyComparison<'_>) -> PyResult<Self> {
        let tried = |one: PyTried| {
            let differences: PyResult<_> = one.differences.into_iter().map(TryInto::try_into).collect();
            let only = one.only.iter().map(|(name, groups)| Ok((name.extract()?, groups.extract()?)));
            Ok(compare::Tried {
                name: one.name,
                differences: differences?,
                unknown: one.unknown,
                only: only.collect::<PyResult<_>>()?,
                empty: one.empty,
            })
        };
        let PyComparison { baseline, tried: others, runs, seed, margin, duration_s, is_upload } = given;
        let tried = others.into_iter().map(tried).collect::<PyResult<_>>()?;
        Ok(Self { baseline, tried, runs, seed, margin, duration_s, is_upload })
    }
}

fn verdict(found: compare::Verdict) -> Verdict {
    (found.kind.name(), found.sign, found.more_runs.low, found.more_runs.high)
}

fn row(found: &compare::Difference) -> Row {
    let [baseline, other, difference, ratio] =
        [found.baseline, found.other, found.difference, found.ratio].map(ends);
    let (differing, missing) = (found.differing, found.missing);
    let judged = verdict(found.verdict);
    (baseline, other, difference, ratio, judged, found.unpaired, differing, missing, found.covered)
}

/// Returns the verdict on the interval of a difference: its kind, its sign, and two numbers of further replications.
#[pyfunction]
pub fn judge(found: PyInterval, margin: f64, better: &str, confidence: f64) -> Verdict {
    verdict(compare::judge(&found.into(), margin, better_of(better), confidence))
}

/// Returns the difference of a metric from its values by replication, or None if there is no pair of values.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from Python")]
pub fn metric_difference(
    metric: PyMetric,
    base: PyReadonlyArray1<'_, f64>,
    own: PyReadonlyArray1<'_, f64>,
    margin: f64,
    confidence: f64,
    durations_s: (f64, f64),
) -> PyResult<Option<Row>> {
    let values = (base.as_slice()?, own.as_slice()?);
    let found = compare::difference(("", &metric.into()), values, margin, confidence, durations_s);
    Ok(found.as_ref().map(row))
}

/// Name, differences (group, number of the metric, and values), labels of unknown metrics, groups of only one
/// scenario by its name, and names of scenarios in which nothing arrived.
type Differences = (String, Vec<(String, usize, Row)>, Vec<String>, Vec<(String, Vec<String>)>, Vec<String>);

/// Returns the differences of each scenario but the first, the number of pairs, the duration of the shortest runs, s,
/// and whether all transfers are uploads.
///
/// A scenario has a name, tables, metrics that users define, and the duration of a run, s.
#[pyfunction]
pub fn compare_tables(
    sides: Vec<(String, Bound<'_, PyAny>, Own<'_>, f64)>,
    metrics: Vec<PyMetric>,
    margin: f64,
) -> PyResult<(Vec<Differences>, usize, f64, bool)> {
    let metrics: Vec<Metric> = metrics.into_iter().map(Into::into).collect();
    let tables: PyResult<Vec<_>> =
        sides.iter().map(|(_, tables, ..)| PyTables::new(tables.clone())).collect();
    let tables = tables?;
    let compared = guarded(
        || "tables of results".to_owned(),
        || {
            let (about, own): (Vec<_>, Vec<_>) =
                sides.into_iter().map(|(name, _, own, duration_s)| ((name, duration_s), own)).unzip();
            let groups: Vec<Vec<Group>> =
                tables.iter().zip(own).map(|(tables, own)| groups(tables, own).0).collect();
            let sides = about.iter().zip(&tables).zip(&groups);
            let sides: Vec<_> = sides
                .map(|(((name, duration_s), tables), groups)| Side {
                    name,
                    tables,
                    groups,
                    duration_s: *duration_s,
                })
                .collect();
            compare::compare(&sides[0], &sides[1..], &metrics, 0, margin)
        },
    )?;
    tables.iter().try_for_each(|tables| tables.checked(()))?;
    let numbered = |one: &compare::Difference| {
        let place = metrics.iter().position(|metric| metric.name == one.metric.name);
        (one.group.clone(), place.unwrap_or_default(), row(one))
    };
    let tried = compared.tried.into_iter().map(|one| {
        (one.name, one.differences.iter().map(numbered).collect(), one.unknown, one.only, one.empty)
    });
    Ok((tried.collect(), compared.runs, compared.duration_s, compared.is_upload))
}

/// Returns an answer in JSON about each scenario but the baseline, with empty bars where causes are shown.
#[pyfunction]
pub fn comparison_answers(comparison: PyComparison<'_>, folder: &str) -> PyResult<Vec<String>> {
    let comparison: compare::Comparison = comparison.try_into()?;
    let causes = vec![Bars::default(); comparison.tried.len()];
    answers(&comparison, &causes, Asked { folder, commands: true }).iter().map(json).collect()
}

/// Returns, for each scenario but the baseline, numbers of the differences in its table, with their signs.
#[pyfunction]
pub fn shown_differences(comparison: PyComparison<'_>) -> PyResult<Vec<Vec<(usize, &'static str)>>> {
    let comparison: compare::Comparison = comparison.try_into()?;
    let rows = comparison.tried.iter().map(|tried| {
        let shown = shown_of(&comparison, tried).into_iter();
        let place = |one| tried.differences.iter().position(|other| std::ptr::eq(other, one));
        shown.map(|one| (place(one).unwrap_or_default(), sign_of(one))).collect()
    });
    Ok(rows.collect())
}
