//! Formatting of numbers: the uncertainty determines the number of digits.

use serde::Serialize;

/// A value, such as a mean, with its interval if it has one, as text.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
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
