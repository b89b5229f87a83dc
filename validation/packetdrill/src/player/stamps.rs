//! Timestamps (RFC 7323). Those of a script count milliseconds from any start value, and those of nodeb count
//! microseconds from the start of its run.

use std::collections::BTreeMap;

const TICK_US: i64 = 1_000;

/// Pairs of the script's value in ms and nodeb's value in us.
#[derive(Clone, Debug, Default)]
pub struct Stamps {
    known: BTreeMap<u32, u32>,
}

impl Stamps {
    pub fn note(&mut self, value: u32, own_us: u32) {
        self.known.entry(value).or_insert(own_us);
    }

    /// Returns nodeb's timestamp for the script's `value`, converted from the last timestamp up to `value`
    /// that was sent, or else from the first one above. Returns 0 if no timestamp was sent.
    pub fn own(&self, value: u32) -> u32 {
        let below = self.known.range(..=value).next_back();
        let nearest = below.or_else(|| self.known.range(value..).next());
        nearest.map_or(0, |(&known, &own)| {
            let later = i64::from(value) - i64::from(known);
            u32::try_from(i64::from(own) + later * TICK_US).unwrap_or(1).max(1)
        })
    }
}
