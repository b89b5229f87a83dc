//! A block is decoded as a whole, so the errors of its PDUs occur together.

use nodeb_base::params;
use std::collections::BTreeMap;

use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::{Stream, uniform};
use rand_core::Rng as _;

params! {
    /// Distribution of the PDUs in error within a failed block. Exactly one key must be set.
    pub struct WithinBlock {
        /// Probability of each pattern, such as `"0110" = 0.4`: one digit per PDU in order, 1 for a
        /// PDU in error.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub patterns: BTreeMap<String, f64>,
        /// Probabilities of 1, 2, ... PDUs in error, up to the number of PDUs in a block; all choices of PDUs
        /// are equally likely.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub count_law: Vec<f64>,
    }
}

/// Sums deviate because numbers in files are rounded.
const TOLERANCE: f64 = 1e-6;

const MAX_PDUS: usize = 1_000;

impl Checked for WithinBlock {
    fn check(&self, check: &mut Check) {
        check.require(self.patterns.is_empty() != self.count_law.is_empty(), "patterns", || {
            "expected either probabilities of `patterns` or a `count_law`".to_owned()
        });
        let length = self.pdus() as usize;
        for pattern in self.patterns.keys() {
            let is_pattern = pattern.bytes().all(|digit| matches!(digit, b'0' | b'1'));
            check.require(is_pattern && pattern.contains('1'), "patterns", || {
                format!(
                    "`{pattern}` is not a pattern of a failed block; expected digits 0 and 1, at least one 1"
                )
            });
            check.require(pattern.len() == length, "patterns", || {
                format!(
                    "`{pattern}` has {} digits, others {length}; expected one for each PDU",
                    pattern.len()
                )
            });
        }
        check.require(length <= MAX_PDUS, "patterns", || {
            format!("blocks of {length} PDUs are too many; expected at most {MAX_PDUS}")
        });
        let key = if self.count_law.is_empty() { "patterns" } else { "count_law" };
        let weights = || self.patterns.values().chain(&self.count_law);
        check.require(weights().all(|p| (0.0..=1.0).contains(p)), key, || {
            "expected probabilities, from 0 to 1".to_owned()
        });
        let sum: f64 = weights().sum();
        check.require((sum - 1.0).abs() <= TOLERANCE, key, || {
            format!("the probabilities sum to {sum}; expected 1")
        });
    }
}

impl WithinBlock {
    /// 0 if no key is set.
    pub fn pdus(&self) -> u32 {
        self.patterns.keys().next().map_or(self.count_law.len(), String::len) as u32
    }

    pub fn build(&self) -> PatternDistribution {
        let digits = |pattern: &String| pattern.bytes().map(|digit| digit == b'1').collect();
        let entries = if self.count_law.is_empty() {
            self.patterns.iter().map(|(pattern, p)| (*p, Wrong::These(digits(pattern)))).collect()
        } else {
            self.count_law.iter().zip(1..).map(|(p, count)| (*p, Wrong::Any(count))).collect()
        };
        PatternDistribution { entries, pdus: self.pdus() as usize }
    }
}

#[derive(Debug)]
enum Wrong {
    These(Vec<bool>),
    /// At random positions.
    Any(usize),
}

#[derive(Debug)]
pub struct PatternDistribution {
    entries: Vec<(f64, Wrong)>,
    pdus: usize,
}

impl PatternDistribution {
    pub fn draw(&self, stream: &mut Stream) -> Vec<bool> {
        let mut left = uniform(stream);
        let beyond = |(p, _): &&(f64, Wrong)| {
            left -= p;
            left < 0.0
        };
        // If rounding has reduced the sum of the probabilities, the search may find no entry. Then
        // the most likely entry is used.
        let found = self.entries.iter().find(beyond);
        let likeliest = || self.entries.iter().max_by(|a, b| a.0.total_cmp(&b.0));
        match found.or_else(likeliest).map(|(_, wrong)| wrong) {
            Some(Wrong::These(pattern)) => pattern.clone(),
            Some(Wrong::Any(count)) => any_of(self.pdus, *count, stream),
            None => vec![true; self.pdus],
        }
    }
}

/// Each choice with the same probability (selection sampling: Knuth, The Art of Computer Programming 2,
/// 3.4.2, algorithm S).
fn any_of(n: usize, count: usize, stream: &mut Stream) -> Vec<bool> {
    let mut wanted = count as u64;
    let take = |left: usize| {
        let chosen = wanted > 0 && (u128::from(stream.next_u64()) * left as u128) >> 64 < u128::from(wanted);
        wanted -= u64::from(chosen);
        chosen
    };
    (1..=n).rev().map(take).collect()
}
