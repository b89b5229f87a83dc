//! Formatting of numbers: the uncertainty determines the number of digits.
//!
//! If the first two digits of an interval's half-width are 10 to 35, both are kept, otherwise only the first. The mean
//! and both ends are rounded to the last digit kept. This is the rule of the Particle Data Group for uncertainties
//! (Review of Particle Physics, introduction, section 5.3). There is one exception: if two digits would give the mean
//! more than [`DIGITS`] digits, only one is kept. A number without an interval has [`PLAIN`] significant digits, a
//! whole number all its digits.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Significant digits of a mean above which one digit of its half-width is kept, not two.
const DIGITS: i32 = 4;
/// Significant digits of a number without an interval, unless it is a whole number.
const PLAIN: i32 = 3;
/// First two digits of a half-width of which both are kept.
const TWO_DIGITS: RangeInclusive<f64> = 10.0..=35.0;
/// Text in place of an interval whose displayed ends both equal the displayed mean.
pub const ALWAYS: &str = "in every replication";
/// Relative size up to which an interval's width, or a mean, counts as a rounding error of sums.
///
/// The size is relative to the end of the interval with the larger absolute value.
const NOISE: f64 = 1e-9;
/// Number of significant digits of a sum that its rounding errors are assumed not to affect.
const EXACT: usize = 12;
/// Half-width up to which an interval counts as an interval without width.
const MIN_HALF_WIDTH: f64 = 1e-300;
const EN_DASH: &str = "\u{2013}";
const MINUS: &str = "\u{2212}";

/// Unit in which a value is displayed, and the factor that converts to it.
pub type Scale<'a> = (&'a str, f64);

/// Unit of a value, and how it is displayed; without a scale, the value determines it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unit<'a> {
    pub name: &'a str,
    /// Whether a ratio (unit `1`) is shown in per cent.
    pub percent: bool,
    pub scale: Option<Scale<'a>>,
}

impl<'a> Unit<'a> {
    pub fn new(name: &'a str, percent: bool) -> Self {
        Self { name, percent, scale: None }
    }

    #[must_use]
    pub fn with_scale(self, scale: Scale<'a>) -> Self {
        Self { scale: Some(scale), ..self }
    }
}

impl<'a> From<&'a str> for Unit<'a> {
    fn from(name: &'a str) -> Self {
        Self::new(name, false)
    }
}

/// A value, such as a mean, with its interval if it has one, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// Value without its unit.
    pub number: String,
    /// Unit of the value and its interval; empty if the value has none.
    pub unit: String,
    pub low: String,
    pub high: String,
    /// Sign after a mean from which users or transfers without a value are excluded; else empty.
    pub mark: String,
}

impl Shown {
    /// Value with its unit and its mark, separated by spaces; empty parts are omitted.
    pub fn value(&self) -> String {
        let parts = [&self.number, &self.unit, &self.mark].map(String::as_str);
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Interval with its unit, such as `2.95 to 3.07 s`; empty if the value has no interval.
    ///
    /// If both ends equal the value as displayed, it is [`ALWAYS`].
    pub fn interval(&self) -> String {
        if self.low.is_empty() {
            String::new()
        } else if self.is_constant() {
            ALWAYS.to_owned()
        } else {
            format!("{} to {} {}", self.low, self.high, self.unit).trim().to_owned()
        }
    }

    fn is_constant(&self) -> bool {
        self.low == self.high && self.high == self.number
    }

    /// Mean and interval for one cell of a table: `3.01 (2.95 to 3.07) s`.
    ///
    /// It is the mean alone if there is no interval, or if both ends are displayed alike.
    pub fn in_one_cell(&self) -> String {
        let Self { number, unit, low, high, .. } = self;
        let ends = if low == high { String::new() } else { format!(" ({low} to {high})") };
        format!("{number}{ends} {unit}").trim().to_owned()
    }

    pub fn with_level(&self) -> String {
        if self.is_constant() { self.with_interval() } else { self.at_level("95 %") }
    }

    /// Returns the mean with its interval, if any, and a confidence level such as `95 %`.
    pub fn at_level(&self, level: &str) -> String {
        self.with_interval().replacen('(', &format!("({level}: "), 1)
    }

    /// Mean and interval: `3.01 s (2.95 to 3.07 s)`; the mean alone if there is no interval.
    pub fn with_interval(&self) -> String {
        let value = self.value();
        if self.low.is_empty() { value } else { format!("{value} ({})", self.interval()) }
    }

    #[must_use]
    pub fn marked(self, mark: &str) -> Self {
        Self { mark: mark.to_owned(), ..self }
    }
}

/// Formats a mean and the ends of its interval, which are NaN if there is none.
pub fn shown<'a>(mean: f64, low: f64, high: f64, unit: impl Into<Unit<'a>>) -> Shown {
    let unit = unit.into();
    let has_interval = low.is_finite() && high.is_finite();
    // A mean that is only a rounding error must not determine the unit of the interval around it.
    let largest = if has_interval { low.abs().max(high.abs()) } else { 0.0 };
    let typical = if mean.abs() < NOISE * largest { largest } else { mean };
    let (to, factor) = unit.scale.unwrap_or_else(|| scale_of(typical, unit));
    if !mean.is_finite() {
        return Shown { number: EN_DASH.to_owned(), ..Shown::default() };
    }
    let (low, high) = if has_interval && high - low <= NOISE * largest { (mean, mean) } else { (low, high) };
    let half = if has_interval { (high - low) / 2.0 * factor } else { f64::NAN };
    let decimals = decimals(mean * factor, half);
    let end = |end: f64| if has_interval { fixed(end * factor, decimals) } else { String::new() };
    Shown {
        number: fixed(mean * factor, decimals),
        unit: to.to_owned(),
        low: end(low),
        high: end(high),
        mark: String::new(),
    }
}

/// Formats a value without an interval.
pub fn plain<'a>(value: f64, unit: impl Into<Unit<'a>>) -> Shown {
    shown(value, f64::NAN, f64::NAN, unit)
}

/// Formats a value without an interval, with its unit.
pub fn number<'a>(value: f64, unit: impl Into<Unit<'a>>) -> String {
    plain(value, unit).value()
}

pub fn interval<'a>(low: f64, high: f64, unit: impl Into<Unit<'a>>) -> String {
    shown(f64::midpoint(low, high), low, high, unit).interval()
}

/// Formats a difference and its interval, with signs.
///
/// Without a scale, a difference of ratios in per cent has the unit points (percentage points).
pub fn difference<'a>(mean: f64, low: f64, high: f64, unit: impl Into<Unit<'a>>) -> Shown {
    let unit = unit.into();
    let mut text = shown(mean, low, high, unit);
    for part in [&mut text.number, &mut text.low, &mut text.high] {
        *part = signed(part);
    }
    if text.unit == "%" && unit.scale.is_none() && unit.name == "1" {
        "points".clone_into(&mut text.unit);
    }
    text
}

/// Formats parts in one unit, rounded so that they add up to their sum as displayed.
///
/// A part that would be rounded to 0 is formatted by itself, with digits and a unit of its own.
pub fn parts(values: &[f64], unit: &str) -> Vec<String> {
    let whole: f64 = values.iter().sum();
    let largest = values.iter().fold(whole.abs(), |largest, value| largest.max(value.abs()));
    let (to, factor) = scale_of(largest, unit.into());
    let decimals = if largest == 0.0 { 0 } else { PLAIN - 1 - exponent(largest * factor) };
    let step = power_of_ten(-decimals);
    let all_steps = (rounded(whole * factor, decimals) / step).round_ties_even();
    let in_steps: Vec<_> = values.iter().map(|value| value * factor / step).collect();
    let steps = apportioned(&in_steps, all_steps as i64);
    let text = |(&steps, &value): (&i64, &f64)| {
        if steps != 0 && value.abs() * factor >= step / 2.0 {
            format!("{} {to}", fixed(steps as f64 * step, decimals))
        } else {
            number(value, unit)
        }
    };
    steps.iter().zip(values).map(text).collect()
}

/// Rounds values to whole numbers whose sum is `whole`, by the method of largest remainders.
///
/// Source: Balinski and Young, Fair Representation, 2nd ed., 2001, chapter 3 (Hamilton's method).
pub fn apportioned(values: &[f64], whole: i64) -> Vec<i64> {
    let mut rounded: Vec<_> = values.iter().map(|value| value.floor() as i64).collect();
    let left = whole - rounded.iter().sum::<i64>();
    let mut order: Vec<_> = (0..values.len()).collect();
    order.sort_by(|&a, &b| (values[b] - values[b].floor()).total_cmp(&(values[a] - values[a].floor())));
    for at in order.into_iter().take(left.max(0) as usize) {
        rounded[at] += 1;
    }
    rounded
}

/// Returns the unit to display a value in, such as ms, and the factor to convert to it.
pub fn scale_of(value: f64, unit: Unit<'_>) -> Scale<'_> {
    // Smallest absolute value that is displayed in a unit, the unit, and the factor.
    let scales: &[(f64, &str, f64)] = match unit.name {
        "1" if unit.percent => return ("%", 100.0),
        "1" => return ("", 1.0),
        "bit/s" => &[(1e6, "Mbit/s", 1e-6), (1e3, "kbit/s", 1e-3)],
        "s" => &[
            (0.95, "s", 1.0),
            (0.95e-3, "ms", 1e3),
            (0.95e-6, "us", 1e6),
            (1e-300, "ns", 1e9),
            (0.0, "ms", 1e3),
        ],
        "bytes" => &[(1e6, "MB", 1e-6), (1e3, "kB", 1e-3)],
        _ => &[],
    };
    let is_smaller = |smallest: f64| value.abs() < smallest;
    let scale = scales.iter().find(|(smallest, ..)| !is_smaller(*smallest));
    scale.map_or((unit.name, 1.0), |&(_, to, factor)| (to, factor))
}

/// Puts a plus sign before the text of a positive number; returns any other text unchanged.
pub fn signed(text: &str) -> String {
    let is_number = text.starts_with(|letter: char| letter.is_ascii_digit());
    let is_zero = text.bytes().all(|letter| matches!(letter, b'0' | b'.'));
    if is_number && !is_zero { format!("+{text}") } else { text.to_owned() }
}

/// Formats with so many significant digits but without zeros at the end, as Python's format `g` does.
pub fn general(value: f64, digits: i32) -> String {
    let text = format!("{value:.*e}", (digits - 1) as usize);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text.to_lowercase() };
    let exponent = parsed(exponent) as i32;
    if (-4..digits).contains(&exponent) {
        return without_zeros(&format!("{value:.*}", (digits - 1 - exponent) as usize)).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

fn decimals(mean: f64, half: f64) -> i32 {
    let size = mean.abs();
    if half.is_nan() || half <= MIN_HALF_WIDTH {
        return if size.fract() == 0.0 { 0 } else { PLAIN - 1 - exponent(size) };
    }
    let mut exponent_of_half = exponent(half);
    let two = (half / power_of_ten(exponent_of_half - 1)).round_ties_even();
    let mut keeps_two = TWO_DIGITS.contains(&two);
    if two >= 100.0 {
        exponent_of_half += 1;
        keeps_two = true;
    }
    let decimals = -exponent_of_half;
    if keeps_two && (size == 0.0 || decimals < DIGITS - 1 - exponent(size)) { decimals + 1 } else { decimals }
}

fn exponent(size: f64) -> i32 {
    size.log10().floor() as i32
}

fn power_of_ten(exponent: i32) -> f64 {
    parsed(&format!("1e{exponent}"))
}

fn fixed(value: f64, decimals: i32) -> String {
    let text = format!("{:.*}", decimals.max(0) as usize, rounded(value, decimals));
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|digit| matches!(digit, b'0' | b'.')) => zero.to_owned(),
        Some(positive) => format!("{MINUS}{positive}"),
        None => text,
    }
}

/// The first step removes the rounding errors of sums. Otherwise they would decide in which direction a number halfway
/// between two results is rounded.
fn rounded(value: f64, decimals: i32) -> f64 {
    let value = parsed(&format!("{value:.*e}", EXACT - 1));
    if decimals >= 0 {
        return parsed(&format!("{value:.*}", decimals as usize));
    }
    let steps = (value / power_of_ten(-decimals)).round_ties_even();
    parsed(&format!("{steps}e{}", -decimals))
}

fn parsed(text: &str) -> f64 {
    text.parse().expect("the text of a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_are_rounded_to_even_digits_once() {
        assert_eq!([number(2.5, ""), number(1.125, ""), number(1.135, "")], ["2.50", "1.12", "1.14"]);
        assert_eq!(shown(25.0, 15.0, 35.0, "").interval(), "15 to 35");
        assert_eq!(shown(1250.0, 650.0, 1850.0, "").in_one_cell(), "1200 (600 to 1800)");
        assert_eq!(number(0.3 - 0.1 + 0.015, ""), "0.215");
    }

    #[test]
    fn parts_add_up_to_their_sum_as_displayed() {
        assert_eq!(parts(&[1.0, 1.0, 1.0], "s"), ["1.00 s", "1.00 s", "1.00 s"]);
        assert_eq!(parts(&[0.333_4, 0.333_4, 0.333_4], "s"), ["0.34 s", "0.33 s", "0.33 s"]);
        assert_eq!(parts(&[2.0, 1e-6], "s"), ["2.00 s", "1 us"]);
        assert_eq!(apportioned(&[0.5, 0.5, 2.0], 3), [1, 0, 2]);
    }

    #[test]
    fn general_format_is_that_of_python() {
        let texts = [1.25, 2.0, 153.0, 0.000_012_3, f64::INFINITY].map(|value| general(value, 2));
        assert_eq!(texts, ["1.2", "2", "1.5e+02", "1.2e-05", "inf"]);
    }

    #[test]
    fn marks_follow_the_unit() {
        assert_eq!(
            shown(3.011, 2.954, 3.067, "s").marked("+").with_level(),
            "3.01 s + (95 %: 2.95 to 3.07 s)"
        );
    }

    proptest! {
        #[test]
        fn every_number_has_a_text(mean in any::<f64>(), half in any::<f64>(), unit in "(s|bit/s|bytes|1|)") {
            for unit in [Unit::from(&*unit), Unit::new(&unit, true)] {
                let text = difference(mean, mean - half, mean + half, unit);
                prop_assert!(!text.with_level().is_empty());
            }
        }
    }
}
