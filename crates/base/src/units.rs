//! Quantities with units (time, bit rate, size, power, distance and speed, all stored as integers),
//! and probabilities.
//!
//! In a scenario a quantity is a string with its unit (`"110 ms"`, `"384 kbps"`, `"50 kB"`). A
//! number without a unit is rejected, because its unit would be a guess. Prefixes are decimal (1 kB
//! = 1000 B), as in 3GPP rates and the studies' file sizes, except for KiB, MiB and GiB. A
//! probability is a plain number.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::units::{Duration, Rate};
//!
//! assert_eq!("110 ms".parse(), Ok(Duration::from_millis(110)));
//! assert_eq!(Rate(384_000).to_string(), "384 kbps");
//! assert!("110".parse::<Duration>().unwrap_err().contains("has no unit"));
//! ```

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Add, AddAssign, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// # Panics
/// If `n` is 0.
pub const fn positive(n: u32) -> NonZeroU32 {
    NonZeroU32::new(n).expect("a positive constant")
}

pub const NANOS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds since the start of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// Nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// Bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// Bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// Microwatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(pub u64);

/// Millimetres.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Distance(pub u64);

/// A speed in millimetres per hour, so that both 1 km/h and 1 m/s are whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(pub u64);

#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(pub f64);

impl Time {
    pub const ZERO: Self = Self(0);

    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_S as f64
    }

    /// Zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

impl Duration {
    pub const ZERO: Self = Self(0);

    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    pub const fn from_secs(s: u64) -> Self {
        Self(s * NANOS_PER_S)
    }

    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_S as f64
    }

    /// Rounded up.
    #[must_use]
    pub const fn half(self) -> Self {
        Self(self.0.div_ceil(2))
    }
}

impl Rate {
    #[must_use]
    pub const fn doubled(self) -> Self {
        Self(self.0.saturating_mul(2))
    }
}

impl Power {
    pub const fn from_milliwatts(mw: u64) -> Self {
        Self(mw * 1_000)
    }

    pub fn as_watts(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Distance {
    pub const fn from_metres(m: u64) -> Self {
        Self(m * 1_000)
    }

    pub fn as_metres(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl Speed {
    pub const fn from_kmh(kmh: u64) -> Self {
        Self(kmh * 1_000_000)
    }

    pub fn as_metres_per_s(self) -> f64 {
        self.0 as f64 / 3.6e6
    }
}

impl Add<Duration> for Time {
    type Output = Self;
    fn add(self, rhs: Duration) -> Self {
        Self(self.0 + rhs.0)
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, rhs: Duration) {
        self.0 += rhs.0;
    }
}

impl Sub<Duration> for Time {
    type Output = Self;
    fn sub(self, rhs: Duration) -> Self {
        Self(self.0.saturating_sub(rhs.0))
    }
}

trait Quantity: Sized {
    const NOUN: &'static str;
    /// Example of a value with its unit for error messages, such as "110 ms".
    const EXAMPLE: &'static str;
    /// Unit names with their sizes in the base unit. The main names come first, in ascending order
    /// of size; aliases and units that are only read follow.
    const UNITS: &'static [(&'static str, u64)];
    /// Number of main names at the start of `UNITS`. Only these units are used to print a value.
    const MAIN: usize;
    /// Unit in which a value of zero is printed, with the divisor 1.
    const ZERO: (&'static str, u64);
    /// Plural of the base unit (such as "bytes") if the quantity must be a whole number of base
    /// units. Empty if fractions are rounded to the base unit.
    const WHOLE: &'static str;
    fn from_base(value: u64) -> Self;
    fn base(&self) -> u64;
}

macro_rules! quantity {
    ($type:ident, $noun:literal, $example:literal, main $main:literal, zero $zero:literal, [$($unit:literal = $size:expr),+] $(, whole $whole:literal)?) => {
        impl Quantity for $type {
            const NOUN: &'static str = $noun;
            const EXAMPLE: &'static str = $example;
            const UNITS: &'static [(&'static str, u64)] = &[$(($unit, $size)),+];
            const MAIN: usize = $main;
            const ZERO: (&'static str, u64) = ($zero, 1);
            const WHOLE: &'static str = concat!($($whole)?);
            fn from_base(value: u64) -> Self {
                Self(value)
            }
            fn base(&self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&format_quantity(self))
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse_quantity(text)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(QuantityVisitor(std::marker::PhantomData))
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units: Vec<&str> = Self::UNITS.iter().map(|(name, _)| *name).collect();
                json_schema!({
                    "type": "string",
                    "description": concat!("A ", $noun, " with its unit, such as \"", $example, "\"."),
                    "pattern": format!("^[0-9]+(\\.[0-9]+)?([eE][0-9]+)? ?({})$", units.join("|")),
                    "examples": [$example],
                })
            }
        }
    };
}

quantity!(Duration, "time", "110 ms", main 6, zero "s", [
    "ns" = 1, "us" = 1_000, "ms" = 1_000_000, "s" = NANOS_PER_S,
    "min" = 60 * NANOS_PER_S, "h" = 3_600 * NANOS_PER_S, "µs" = 1_000
]);
quantity!(Rate, "bit rate", "384 kbps", main 4, zero "bps", [
    "bps" = 1, "kbps" = 1_000, "Mbps" = 1_000_000, "Gbps" = 1_000_000_000,
    "bit/s" = 1, "kbit/s" = 1_000, "Mbit/s" = 1_000_000, "Gbit/s" = 1_000_000_000
]);
quantity!(Size, "size", "50 kB", main 4, zero "B", [
    "B" = 1, "kB" = 1_000, "MB" = 1_000_000, "GB" = 1_000_000_000,
    "KiB" = 1 << 10, "MiB" = 1 << 20, "GiB" = 1 << 30
], whole "bytes");
quantity!(Power, "power", "700 mW", main 3, zero "W", ["uW" = 1, "mW" = 1_000, "W" = 1_000_000]);
quantity!(Distance, "distance", "450 m", main 3, zero "m", ["mm" = 1, "m" = 1_000, "km" = 1_000_000]);
quantity!(Speed, "speed", "3 km/h", main 2, zero "km/h", ["mm/h" = 1, "km/h" = 1_000_000, "m/s" = 3_600_000]);

/// Largest accepted value in base units, 2^53. Above this value a double does not represent every
/// integer.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Relative tolerance for rounding errors if a decimal number is multiplied by the size of its
/// unit: as doubles, "1.001 kB" is 1000.9999999999999 B.
const ROUNDING: f64 = 1e-12;

fn parse_quantity<Q: Quantity>(text: &str) -> Result<Q, String> {
    let units = || Q::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let expected = || format!("expected a {} such as \"{}\" (units: {})", Q::NOUN, Q::EXAMPLE, units());
    let text = text.trim();
    let split = text
        .char_indices()
        .find(|&(i, c)| {
            !(c.is_ascii_digit() || c == '.' || is_exponent(text, i) || (i == 0 && "+-".contains(c)))
        })
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = (text[..split].trim(), text[split..].trim());
    let value: f64 = number.parse().map_err(|_| format!("`{text}` is not a {}; {}", Q::NOUN, expected()))?;
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit; {}", expected()));
    }
    let Some((_, scale)) = Q::UNITS.iter().find(|(name, _)| *name == unit) else {
        return Err(format!("`{unit}` is not a unit of a {}; {}", Q::NOUN, expected()));
    };
    if value < 0.0 {
        return Err(format!("`{text}` is negative; {}", expected()));
    }
    let exact = value * *scale as f64;
    let base = exact.round();
    if !Q::WHOLE.is_empty() && (exact - base).abs() > ROUNDING * exact {
        return Err(format!("`{text}` is {exact} {0}; expected a whole number of {0}", Q::WHOLE));
    }
    if base > LARGEST {
        let most = (LARGEST / *scale as f64).floor();
        return Err(format!(
            "`{text}` is larger than nodeb can count, at most {most} {unit}; {}",
            expected()
        ));
    }
    Ok(Q::from_base(base as u64))
}

fn is_exponent(text: &str, i: usize) -> bool {
    let bytes = text.as_bytes();
    match bytes[i] {
        b'e' | b'E' => bytes.get(i + 1).is_some_and(|b| b.is_ascii_digit() || b"+-".contains(b)),
        b'+' | b'-' => i > 0 && matches!(bytes[i - 1], b'e' | b'E'),
        _ => false,
    }
}

fn format_quantity<Q: Quantity>(quantity: &Q) -> String {
    let base = quantity.base();
    let main = &Q::UNITS[..Q::MAIN];
    let in_unit = |scale: u64| base as f64 / scale as f64;
    // A value is printed in minutes or hours only if the number of minutes or hours is whole, as
    // "90 s" reads better than "1.5 min". A unit is not used if the printed number would not parse
    // to the same value. For values up to `LARGEST`, the base unit always fits.
    let reads_well = |(name, scale): &(&str, u64)| {
        base >= *scale
            && (base.is_multiple_of(*scale) || !matches!(*name, "min" | "h"))
            && (in_unit(*scale) * *scale as f64).round() as u64 == base
    };
    let (name, scale) = main.iter().rev().copied().find(reads_well).unwrap_or(Q::ZERO);
    format!("{} {name}", in_unit(scale))
}

struct QuantityVisitor<Q>(std::marker::PhantomData<Q>);

impl<Q: Quantity> Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} with its unit, such as \"{}\"", Q::NOUN, Q::EXAMPLE)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Q, E> {
        parse_quantity(text).map_err(E::custom)
    }
}

impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&value) {
            // The value -0 becomes 0, because -0 would change the sign of `1 / ln(1 - p)` in
            // `ErrorGaps`.
            Ok(Self(value.abs()))
        } else {
            Err(de::Error::custom(format!("{value} is not a probability; expected a number from 0 to 1")))
        }
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "number", "minimum": 0, "maximum": 1,
            "description": "A probability, from 0 to 1.",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_parse_with_and_without_a_space() {
        assert_eq!("110 ms".parse(), Ok(Duration(110_000_000)));
        assert_eq!("9.5ms".parse(), Ok(Duration(9_500_000)));
        assert_eq!("1e3 s".parse(), Ok(Duration(1_000 * NANOS_PER_S)));
        assert_eq!("384 kbps".parse(), Ok(Rate(384_000)));
        assert_eq!("16 MB".parse(), Ok(Size(16_000_000)));
    }

    #[test]
    fn invalid_units_are_rejected_with_a_list_of_valid_ones() {
        let message = "384 kB".parse::<Rate>().unwrap_err();
        assert!(
            message.contains("`kB` is not a unit of a bit rate") && message.contains("kbps"),
            "{message}"
        );
        assert!("110".parse::<Duration>().unwrap_err().contains("no unit"));
        assert!("-1 ms".parse::<Duration>().unwrap_err().contains("negative"));
        assert!("1e300 s".parse::<Duration>().unwrap_err().contains("larger"));
        assert!("".parse::<Size>().is_err() && "e B".parse::<Size>().is_err());
    }

    #[test]
    fn fractional_bytes_are_rejected() {
        let message = "1.5 B".parse::<Size>().unwrap_err();
        assert_eq!(message, "`1.5 B` is 1.5 bytes; expected a whole number of bytes");
        assert!("1.0005 kB".parse::<Size>().unwrap_err().starts_with("`1.0005 kB` is 1000.5 bytes"));
        assert!("0.1 B".parse::<Size>().is_err());
        assert_eq!("1.001 kB".parse(), Ok(Size(1_001)));
        assert_eq!(
            "0.3 KiB".parse::<Size>().unwrap_err(),
            "`0.3 KiB` is 307.2 bytes; expected a whole number of bytes"
        );
        assert_eq!("0.5 KiB".parse(), Ok(Size(512)));
        assert_eq!("1.5 ns".parse(), Ok(Duration(2)));
    }

    #[test]
    fn quantities_print_in_the_most_readable_unit() {
        assert_eq!(Duration(9_500_000).to_string(), "9.5 ms");
        assert_eq!(Duration::ZERO.to_string(), "0 s");
        assert_eq!(Duration::from_secs(90).to_string(), "90 s");
        assert_eq!(Duration::from_secs(3_600).to_string(), "1 h");
        assert_eq!(Rate(384_000).to_string(), "384 kbps");
    }

    proptest! {
        #[test]
        fn printed_quantities_parse_to_the_same_value(base in 0..1u64 << 53) {
            prop_assert_eq!(Duration(base).to_string().parse(), Ok(Duration(base)));
            prop_assert_eq!(Size(base).to_string().parse(), Ok(Size(base)));
        }

        #[test]
        fn parsing_arbitrary_text_never_panics(text in "\\PC*") {
            let _ = text.parse::<Duration>();
        }
    }

    #[test]
    fn a_probability_has_no_negative_zero() {
        let zero: Probability = serde_json::from_str("-0.0").unwrap();
        assert!(zero.0.is_sign_positive());
    }
}
