//! Constant bit rate, carried by TCP: equal amounts of data at equal intervals.

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{After, Source, Transfer};

/// Constant bit rate: equal amounts of data at equal intervals, whether or not the previous amount has arrived.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cbr {
    /// Amount of data per interval.
    pub size: Size,
    /// Time from the start of one amount to the start of the next.
    pub interval: Duration,
}

impl Checked for Cbr {
    fn check(&self, check: &mut Check) {
        check.require(self.size.0 > 0, "size", || "0 B is out of range; expected at least 1 B".to_owned());
        check.require(self.interval.0 >= 1_000, "interval", || {
            format!("{} is out of range; expected at least 1 us", self.interval)
        });
    }
}

#[derive(Debug)]
pub struct Ticks {
    params: Cbr,
    begun: bool,
}

impl Ticks {
    pub fn new(params: &Cbr) -> Self {
        Self { params: params.clone(), begun: false }
    }
}

impl Source for Ticks {
    fn next(&mut self) -> Option<Transfer> {
        let wait = if self.begun { self.params.interval } else { Duration::ZERO };
        self.begun = true;
        Some(Transfer {
            bytes: self.params.size.0,
            wait,
            after: After::Beginning,
            request_bytes: None,
            is_last: true,
        })
    }
}
