//! Dates from ns-2.35: comments of `tcl/lib/ns-default.tcl`, else the change log (`CHANGES.html`) and the
//! preambles of the test suites, which restore old defaults.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use nodeb_base::units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Calendar date (Gregorian), used to compare days on which ns-2 changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// May not exist.
const fn on(year: u16, month: u8, day: u8) -> Date {
    Date { year, month, day }
}

impl Date {
    fn exists(self) -> bool {
        let leap =
            self.year.is_multiple_of(4) && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let days = match self.month {
            4 | 6 | 9 | 11 => 30,
            2 => 28 + u8::from(leap),
            1..=12 => 31,
            _ => return false,
        };
        (1..=days).contains(&self.day)
    }

    /// As if every month had 31 days, to find the release nearest to a date.
    fn approximate_day(self) -> u32 {
        (u32::from(self.year) * 12 + u32::from(self.month)) * 31 + u32::from(self.day)
    }

    /// Such as `2003-06-01`; a missing month or day counts as 1. The date need not exist.
    fn read(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, '-').map(|part| part.parse::<u16>().ok());
        let year = numbers.next()??;
        let mut next = || numbers.next().map_or(Some(1), |part| part.and_then(|n| u8::try_from(n).ok()));
        Some(on(year, next()?, next()?))
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// In order of time; the first is the earliest day that a scenario may choose.
const RELEASES: [(&str, Date); 14] = [
    ("ns-2.1b7a", on(2000, 11, 9)),
    ("ns-2.1b8", on(2001, 6, 6)),
    ("ns-2.1b9", on(2002, 4, 13)),
    ("ns-2.1b9a", on(2002, 7, 3)),
    ("ns-2.26", on(2003, 2, 26)),
    ("ns-2.27", on(2004, 1, 18)),
    ("ns-2.28", on(2005, 2, 3)),
    ("ns-2.29", on(2005, 10, 19)),
    ("ns-2.30", on(2006, 9, 26)),
    ("ns-2.31", on(2007, 3, 10)),
    ("ns-2.32", on(2007, 9, 3)),
    ("ns-2.33", on(2008, 3, 31)),
    ("ns-2.34", on(2009, 6, 17)),
    ("ns-2.35", on(2011, 11, 4)),
];

/// Of a default in ns-2 on one day.
#[derive(Clone, Copy, Debug)]
pub struct Switch<T> {
    /// Below `tcp.classic`.
    key: &'static str,
    /// In ns-2.
    variable: &'static str,
    /// First day of `after`.
    since: Date,
    before: T,
    after: T,
    meaning: &'static str,
}

impl<T: Copy> Switch<T> {
    /// `chosen`, or the default in `era`.
    pub fn of(&self, chosen: Option<T>, era: Era) -> T {
        chosen.unwrap_or(if era.0 < self.since { self.before } else { self.after })
    }
}

/// Key, ns-2's variable, day, default before and after, meaning.
pub type Line = [String; 6];

trait Text {
    fn text(&self) -> String;
}

impl<T: Serialize> Text for T {
    fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Declares the changed defaults as constants, and a function that returns them as the rows of a
/// table.
macro_rules! switches {
    ($( $(#[doc = $meaning:literal])+ $name:ident: $type:ty =
        $key:literal, $variable:literal, $since:expr, $before:expr => $after:expr; )+) => {
        $(
            $(#[doc = $meaning])+
            pub const $name: Switch<$type> = Switch {
                key: $key,
                variable: $variable,
                since: $since,
                before: $before,
                after: $after,
                meaning: concat!($($meaning),+),
            };
        )+

        /// Returns a row for each change of a default in ns-2, in order of time.
        pub fn switches() -> Vec<Line> {
            vec![$({
                let s = $name;
                let meaning = s.meaning.trim_ascii().trim_end_matches('.').to_owned();
                [s.key.into(), s.variable.into(), s.since.to_string(), s.before.text(), s.after.text(), meaning]
            }),+]
        }
    };
}

switches! {
    /// Smallest retransmission timeout; 0 means two ticks of the clock with the estimator `ticks`.
    FIRST_MIN_RTO: Duration = "min_rto", "minrto_", on(2001, 5, 14), Duration::ZERO => Duration::from_secs(1);
    /// Initial congestion window in packets.
    INITIAL_WINDOW: NonZeroU32 = "initial_window", "windowInit_", on(2001, 5, 26),
        NonZeroU32::MIN => NonZeroU32::new(2).unwrap();
    /// A new packet is sent on each of the first two duplicate ACKs (Limited Transmit, RFC 3042).
    LIMITED_TRANSMIT: bool = "limited_transmit", "singledup_", on(2001, 11, 28), false => true;
    /// Tick of the clock that measures round-trip times.
    CLOCK: Duration = "clock", "tcpTick_", on(2002, 3, 7),
        Duration::from_millis(100) => Duration::from_millis(10);
    /// Backoff also multiplies the smallest timeout, as RFC 2988 requires, instead of only the estimate.
    BACKOFF_FROM_MINIMUM: bool = "backoff_from_minimum", "rfc2988_", on(2002, 3, 7), false => true;
    /// Only the first partial ACK of a recovery restarts the timer (the impatient variant of RFC 2582).
    IMPATIENT: bool = "control.newreno.impatient", "newreno_changes1_", on(2003, 5, 5), false => true;
    /// A partial ACK deflates the window by what it acknowledges, instead of by all that duplicate ACKs have
    /// added.
    PARTIAL_DEFLATION: bool = "control.newreno.partial_deflation", "partial_window_deflation_", on(2003, 5, 5),
        false => true;
    /// Duplicate ACKs inflate the window only in fast recovery, and not after a timeout.
    CLEAN_EXIT: bool = "control.*.clean_exit", "exitFastRetrans_", on(2003, 7, 28), false => true;
    /// Smallest retransmission timeout; ns-2 changed this default for the second time.
    MIN_RTO: Duration = "min_rto", "minrto_", on(2004, 10, 14),
        Duration::from_secs(1) => Duration::from_millis(200);
    /// Retransmission timeout until the first round-trip time is measured.
    INITIAL_RTO: Duration = "initial_rto", "rtxcur_init_", on(2006, 1, 21),
        Duration::from_secs(6) => Duration::from_secs(3);
    /// Half of a window may be a fraction of packets, instead of being rounded down.
    FRACTIONAL_HALVES: bool = "fractional_halves", "precisionReduce_", on(2006, 1, 24), false => true;
    /// Largest retransmission timeout, backoff included.
    MAX_RTO: Duration = "max_rto", "maxrto_", on(2007, 3, 28),
        Duration::from_secs(100_000) => Duration::from_secs(60);
    /// The ACK of the server's SYN is delayed like any other, if the server opens the connection.
    DELAYED_SYN_ACK: bool = "delayed_syn_ack", "SYN_immediate_ack_", on(2010, 2, 2), true => false;
}

/// Day in the history of ns-2, whose defaults `classic` TCP has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Era(Date);

impl Default for Era {
    /// ns-2.1b8 reproduces the results of the study `wang`.
    fn default() -> Self {
        Self(RELEASES[1].1)
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match RELEASES.iter().find(|(_, date)| *date == self.0) {
            Some((release, _)) => f.write_str(release),
            None => self.0.fmt(f),
        }
    }
}

impl FromStr for Era {
    type Err = String;

    /// A release of ns-2, or a date such as `2003-06-01`; errors name the nearest release.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((_, date)) = RELEASES.iter().find(|(release, _)| *release == text) {
            return Ok(Self(*date));
        }
        let Some(date) = Date::read(text) else {
            let distance =
                |(release, _): &&(&str, Date)| strsim::damerau_levenshtein(&text.to_lowercase(), release);
            return Err(no_era(text, RELEASES.iter().rev().min_by_key(distance)));
        };
        let (first, opening) = RELEASES[0];
        if date < opening {
            return Err(format!("{text} is before the first era; the nearest is \"{first}\" of {opening}"));
        }
        if !date.exists() || date.to_string() != text {
            let distance =
                |(_, release): &&(&str, Date)| release.approximate_day().abs_diff(date.approximate_day());
            return Err(no_era(text, RELEASES.iter().min_by_key(distance)));
        }
        Ok(Self(date))
    }
}

fn no_era(text: &str, nearest: Option<&(&str, Date)>) -> String {
    let hint = nearest.map(|(name, date)| format!(" (did you mean \"{name}\", of {date}?)"));
    let hint = hint.unwrap_or_default();
    format!("there is no era `{text}`{hint}; expected a release of ns-2, or a date such as \"2003-06-01\"")
}

impl Serialize for Era {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Era {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Era;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a release of ns-2 or a date in quotes, such as \"ns-2.26\" or \"2003-06-01\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Era, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Name)
    }
}

impl JsonSchema for Era {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Era".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let releases: Vec<&str> = RELEASES.iter().map(|(release, _)| *release).collect();
        json_schema!({
            "type": "string",
            "description": format!(
                "Version of ns-2: a date such as \"2003-06-01\", or a release: {}.", releases.join(", ")
            ),
            "examples": ["ns-2.26", "2003-06-01"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn era(text: &str) -> Era {
        text.parse().unwrap()
    }

    #[test]
    fn default_changes_on_its_day() {
        for (day, window, allowed) in
            [("2001-05-25", 1, false), ("2001-05-26", 2, false), ("2001-11-28", 2, true)]
        {
            assert_eq!(INITIAL_WINDOW.of(None, era(day)).get(), window, "{day}");
            assert_eq!(LIMITED_TRANSMIT.of(None, era(day)), allowed, "{day}");
        }
    }

    #[test]
    fn explicit_value_overrides_era() {
        assert!(LIMITED_TRANSMIT.of(Some(true), era("ns-2.1b8")));
        assert_eq!(CLOCK.of(Some(Duration::from_millis(1)), era("ns-2.35")), Duration::from_millis(1));
    }

    #[test]
    fn release_name_equals_its_date() {
        assert_eq!(era("ns-2.26"), era("2003-02-26"));
        assert_eq!(era("2003-02-26").to_string(), "ns-2.26");
        assert_eq!(era("2003-06-01").to_string(), "2003-06-01");
        assert_eq!(Era::default(), era("ns-2.1b8"));
    }

    #[test]
    fn releases_and_switches_are_in_order_of_time() {
        assert!(
            RELEASES.is_sorted_by_key(|(_, date)| *date) && RELEASES.iter().all(|(_, date)| date.exists())
        );
        let days: Vec<String> = switches().into_iter().map(|[_, _, day, ..]| day).collect();
        assert!(days.is_sorted(), "{days:?}");
    }

    #[test]
    fn invalid_era_suggests_nearest_release() {
        let wrong = |text: &str| text.parse::<Era>().unwrap_err();
        assert!(wrong("1999-01-01").contains("before the first era; the nearest is \"ns-2.1b7a\""));
        assert!(wrong("1998").contains("\"ns-2.1b7a\""));
        assert!(wrong("ns-2.36").contains("did you mean \"ns-2.35\""));
        assert!(wrong("NS-2.27").contains("did you mean \"ns-2.27\""));
        for text in ["2003", "2003-04", "2003-04-31", "2003-4-1"] {
            assert!(wrong(text).contains("did you mean \"ns-2.26\""), "{text}: {}", wrong(text));
        }
        assert!(wrong("2003-13-01").contains("did you mean \"ns-2.27\""));
        assert!(wrong("").contains("there is no era"));
        assert!(wrong("2003-06-01-2").contains("there is no era"));
    }
}
