//! Bindings of formatted numbers and of words.

#![expect(clippy::needless_pass_by_value, reason = "extracted from Python")]

use nodeb_answers::digits::{self, Unit};
use nodeb_answers::words;
use pyo3::prelude::*;

/// A value, such as a mean, with its interval if it has one, as text.
#[pyclass(module = "nodeb._core", frozen, eq, hash, from_py_object)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shown(pub digits::Shown);

#[pymethods]
impl Shown {
    #[new]
    #[pyo3(signature = (number, unit, low="", high="", mark=""))]
    fn new(number: &str, unit: &str, low: &str, high: &str, mark: &str) -> Self {
        let [number, unit, low, high, mark] = [number, unit, low, high, mark].map(str::to_owned);
        Self(digits::Shown { number, unit, low, high, mark })
    }

    /// Value without its unit.
    #[getter]
    fn number(&self) -> &str {
        &self.0.number
    }

    /// Unit of the value and its interval; empty if the value has none.
    #[getter]
    fn unit(&self) -> &str {
        &self.0.unit
    }

    #[getter]
    fn low(&self) -> &str {
        &self.0.low
    }

    #[getter]
    fn high(&self) -> &str {
        &self.0.high
    }

    /// Sign after a mean from which users or transfers without a value are excluded; else empty.
    #[getter]
    fn mark(&self) -> &str {
        &self.0.mark
    }

    /// Value with its unit and its mark, separated by spaces; empty parts are omitted.
    #[getter]
    fn value(&self) -> String {
        self.0.value()
    }

    /// Interval with its unit, such as `2.95 to 3.07 s`; empty if the value has no interval.
    #[getter]
    fn interval(&self) -> String {
        self.0.interval()
    }

    /// Mean and interval for one cell of a table: `3.01 (2.95 to 3.07) s`.
    #[getter]
    fn in_one_cell(&self) -> String {
        self.0.in_one_cell()
    }

    /// Mean and interval with the confidence level: `3.01 s (95 %: 2.95 to 3.07 s)`.
    #[getter]
    fn with_level(&self) -> String {
        self.0.with_level()
    }

    /// Returns the same value with a mark.
    fn marked(&self, mark: &str) -> Self {
        Self(self.0.clone().marked(mark))
    }

    /// Arguments of a copy, also of a pickled one.
    fn __getnewargs__(&self) -> (&str, &str, &str, &str, &str) {
        let digits::Shown { number, unit, low, high, mark } = &self.0;
        (number, unit, low, high, mark)
    }

    fn __repr__(&self) -> String {
        let digits::Shown { number, unit, low, high, mark } = &self.0;
        format!("Shown({number:?}, {unit:?}, {low:?}, {high:?}, {mark:?})")
    }
}

fn unit_of<'a>(name: &'a str, percent: bool, scale: Option<&'a (String, f64)>) -> Unit<'a> {
    let scale = scale.map(|(to, factor)| (to.as_str(), *factor));
    Unit { name, percent, scale }
}

/// Formats a mean and its interval.
#[pyfunction]
#[pyo3(signature = (mean, low=f64::NAN, high=f64::NAN, unit="", *, percent=false, scale=None))]
pub fn shown(
    mean: f64,
    low: f64,
    high: f64,
    unit: &str,
    percent: bool,
    scale: Option<(String, f64)>,
) -> Shown {
    Shown(digits::shown(mean, low, high, unit_of(unit, percent, scale.as_ref())))
}

/// Formats a difference and its interval, with signs.
#[pyfunction]
#[pyo3(signature = (mean, low, high, unit="", *, percent=false, scale=None))]
pub fn difference(
    mean: f64,
    low: f64,
    high: f64,
    unit: &str,
    percent: bool,
    scale: Option<(String, f64)>,
) -> Shown {
    Shown(digits::difference(mean, low, high, unit_of(unit, percent, scale.as_ref())))
}

/// Formats a value without an interval, with its unit.
#[pyfunction]
#[pyo3(signature = (value, unit="", *, percent=false))]
pub fn number(value: f64, unit: &str, percent: bool) -> String {
    digits::number(value, Unit::new(unit, percent))
}

/// Formats an interval, with its unit.
#[pyfunction]
#[pyo3(signature = (low, high, unit="", *, percent=false))]
pub fn interval(low: f64, high: f64, unit: &str, percent: bool) -> String {
    digits::interval(low, high, Unit::new(unit, percent))
}

/// Returns the unit to display a value in, such as ms, and the factor to convert to it.
#[pyfunction]
#[pyo3(signature = (value, unit, *, percent=false))]
pub fn scale_of(value: f64, unit: &str, percent: bool) -> (String, f64) {
    let (to, factor) = digits::scale_of(value, Unit::new(unit, percent));
    (to.to_owned(), factor)
}

/// Formats parts in one unit, rounded so that they add up to their sum as displayed.
#[pyfunction]
pub fn parts(values: Vec<f64>, unit: &str) -> Vec<String> {
    digits::parts(&values, unit)
}

/// Rounds values to whole numbers whose sum is `whole`.
#[pyfunction]
pub fn apportioned(values: Vec<f64>, whole: i64) -> Vec<i64> {
    digits::apportioned(&values, whole)
}

/// Puts a plus sign before the text of a positive number; returns any other text unchanged.
#[pyfunction]
pub fn signed(text: &str) -> String {
    digits::signed(text)
}

/// Returns the simple fraction that a share is near, such as "a third"; empty if there is none.
#[pyfunction]
pub fn fraction(share: f64) -> &'static str {
    words::fraction(share)
}

/// Returns the sum of some shares of a whole in whole per cent.
#[pyfunction]
pub fn part_percent(shares: Vec<f64>, which: Vec<usize>) -> String {
    words::part_percent(&shares, &which)
}

/// Returns a share in per cent; neither 0 % nor 100 % unless it is exact.
#[pyfunction]
pub fn percent(share: f64) -> String {
    words::percent(share)
}

/// Returns a list in words, such as `a, b and c`.
#[pyfunction]
#[pyo3(signature = (words, last="and"))]
pub fn joined(words: Vec<String>, last: &str) -> String {
    words::joined(&words, last)
}

/// Returns a number with a noun, which gets an s unless the number is 1.
#[pyfunction]
pub fn counted(number: usize, noun: &str) -> String {
    words::counted(number, noun)
}

/// Returns a number up to 12 in letters, a larger one in digits.
#[pyfunction]
pub fn spelled(number: usize) -> String {
    words::spelled(number)
}

/// Returns a text with its first letter capitalized.
#[pyfunction]
pub fn sentence(text: &str) -> String {
    words::sentence(text)
}
