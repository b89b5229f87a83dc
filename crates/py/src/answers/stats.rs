//! Bindings of intervals and stopping rules. Python checks the values.

#![expect(clippy::needless_pass_by_value, reason = "extracted from Python")]

use nodeb_answers::stats::{self, Interval, student};
use nodeb_answers::stopping::{Count, Precision, Rounds, Rule, Sequential, Stop};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

type Column<'py> = PyReadonlyArray1<'py, f64>;
/// Mean, low, high, sample standard deviation and number of values.
pub type Ends = (f64, f64, f64, f64, usize);
/// Number of replications, whether the precision was reached, and the reason.
type End = (usize, bool, String);

pub fn ends(Interval { mean, low, high, stdev, n }: Interval) -> Ends {
    (mean, low, high, stdev, n)
}

fn end(Stop { runs, reached, reason }: Stop) -> End {
    (runs, reached, reason)
}

/// Returns mean, low, high, sample standard deviation and number of values.
#[pyfunction]
pub fn mean_interval(values: Column<'_>, confidence: f64) -> PyResult<Ends> {
    Ok(ends(stats::mean_interval(values.as_slice()?, confidence)))
}

/// Returns the mean of `first - second`, as `mean_interval` does.
#[pyfunction]
pub fn paired_difference(first: Column<'_>, second: Column<'_>, confidence: f64) -> PyResult<Ends> {
    Ok(ends(stats::paired_difference(first.as_slice()?, second.as_slice()?, confidence)))
}

/// Returns the ratio of the means, as `mean_interval` does.
#[pyfunction]
pub fn ratio_interval(numerator: Column<'_>, denominator: Column<'_>, confidence: f64) -> PyResult<Ends> {
    Ok(ends(stats::ratio_interval(numerator.as_slice()?, denominator.as_slice()?, confidence)))
}

/// Returns the interval of the mean of `further` more values, as `mean_interval` does.
#[pyfunction]
pub fn prediction_interval(values: Column<'_>, further: u64, confidence: f64) -> PyResult<Ends> {
    Ok(ends(stats::prediction_interval(values.as_slice()?, further, confidence)))
}

/// Returns both ends of the 95 % interval of a function of means.
#[pyfunction]
pub fn jackknife(value: f64, left_out: Column<'_>) -> PyResult<(f64, f64)> {
    Ok(stats::jackknife(value, left_out.as_slice()?))
}

/// Returns the number of replications for a half-width, or for detecting a difference.
#[pyfunction]
pub fn runs_needed(stdev: f64, half_width: f64, confidence: f64, power: f64) -> u64 {
    stats::runs_needed(stdev, half_width, confidence, power)
}

/// Returns the confidence of each of several intervals for a joint confidence of 95 %.
#[pyfunction]
pub fn family_confidence(number: usize) -> f64 {
    stats::family_confidence(number)
}

/// Returns, for each hypothesis, whether Holm's procedure rejects it.
#[pyfunction]
pub fn holm(p_values: Vec<f64>, level: f64) -> Vec<bool> {
    stats::holm(&p_values, level)
}

/// Returns Jain's fairness index of each group of `size` shares.
#[pyfunction]
pub fn jain_indices<'py>(
    py: Python<'py>,
    shares: Column<'py>,
    size: usize,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    Ok(PyArray1::from_iter(py, shares.as_slice()?.chunks(size.max(1)).map(stats::jain)))
}

/// Returns the quantile of Student's t; NaN for 0 degrees of freedom.
#[pyfunction]
pub fn t_quantile(degrees: usize, probability: f64) -> f64 {
    student::quantile(degrees, probability)
}

/// Returns the probability of a value of at least `t` of Student's t.
#[pyfunction]
pub fn t_upper_tail(degrees: usize, t: f64) -> f64 {
    student::upper_tail(degrees, t)
}

/// Returns the end of an experiment with these values (replications, whether the precision was
/// reached, reason), or None if it needs more replications.
#[pyfunction]
pub fn judge_precision(
    relative: f64,
    min_runs: usize,
    max_runs: usize,
    values: Column<'_>,
    mean: &str,
) -> PyResult<Option<End>> {
    Ok(Precision { relative, min_runs, max_runs }.judge(values.as_slice()?, mean).map(end))
}

/// Stopping rule of a scenario.
#[pyclass(module = "nodeb._core")]
pub struct StoppingRule(Box<dyn Rule + Send + Sync>);

#[pymethods]
impl StoppingRule {
    /// Returns a rule with a fixed number of replications.
    #[staticmethod]
    fn count(runs: usize) -> Self {
        Self(Box::new(Count::new(runs)))
    }

    /// Returns a rule for the precision of the mean bit rate. It takes the columns
    /// `application_bps` and `received_bps` of `flows`.
    #[staticmethod]
    fn sequential(relative: f64, min_runs: usize, max_runs: usize) -> Self {
        Self(Box::new(Sequential::new(Precision { relative, min_runs, max_runs })))
    }

    /// Returns a rule of rounds for the precision of the mean of any value. It takes one value of
    /// each replication.
    #[staticmethod]
    fn rounds(runs: usize, max_runs: usize, relative: Option<f64>) -> Self {
        Self(Box::new(Rounds::new(runs, max_runs, relative)))
    }

    /// Receives columns of the next replications, in order.
    #[pyo3(signature = (runs, *columns))]
    fn take(&mut self, runs: usize, columns: Vec<Column<'_>>) -> PyResult<()> {
        let columns: Result<Vec<_>, _> = columns.iter().map(PyReadonlyArray1::as_slice).collect();
        self.0.take(runs, &columns?);
        Ok(())
    }

    /// Returns the end of the experiment (replications, whether the precision was reached,
    /// reason), or None if it needs more replications.
    fn stop(&self) -> Option<End> {
        self.0.stop().map(end)
    }

    /// Returns how many replications may be started in total, judging by the results so far.
    fn ahead(&self) -> usize {
        self.0.ahead()
    }

    /// Returns the probable number of replications in total.
    fn expected(&self) -> usize {
        self.0.expected()
    }
}
