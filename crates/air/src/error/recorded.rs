//! Recorded sequence of errors, which is repeated in a loop.

use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::Streams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ErrorParams, ErrorProcess};

/// Parameters of a recorded sequence of errors, which is repeated in a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordedErrors {
    /// Run lengths of the sequence: number of steps without errors, with errors, without errors,
    /// and so on. The first number may be 0.
    pub errors: Vec<u64>,
    /// Number of the first block of the sequence to be used, from 0, modulo the number of whole blocks. Default: a
    /// random block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// Doubles represent all integers up to 2^53 exactly.
const LONGEST: u64 = 1 << 53;

impl Checked for RecordedErrors {
    fn check(&self, check: &mut Check) {
        let sum = self.errors.iter().try_fold(0u64, |sum, run| sum.checked_add(*run));
        let steps = sum.filter(|sum| *sum <= LONGEST);
        check.require(steps.is_some(), "errors", || {
            format!("the sequence is too long; expected at most {LONGEST} steps")
        });
        check.require(steps != Some(0), "errors", || {
            "the sequence is empty; expected lengths of runs, such as [120, 2, 45, 1]".to_owned()
        });
        let correct: u64 = self.errors.iter().step_by(2).fold(0, |sum, run| sum.saturating_add(*run));
        check.require(steps == Some(0) || correct > 0, "errors", || {
            "every step is an error, so nothing ever arrives; expected some without".to_owned()
        });
    }
}

impl RecordedErrors {
    /// Cut off after the last whole block, with the number of whole blocks; a shorter sequence counts as one
    /// block.
    fn ends(&self, steps: u64) -> (Vec<u64>, u64) {
        let total: u64 = self.errors.iter().sum();
        let blocks = (total / steps).max(1);
        let end = total.min(blocks * steps);
        let sums = self.errors.iter().scan(0, |sum, run| {
            *sum += run;
            Some((*sum).min(end))
        });
        (sums.collect(), blocks)
    }
}

impl ErrorParams for RecordedErrors {
    /// Starts at the boundary of a block; after the last whole block it continues with the first one.
    fn build(&self, streams: &Streams, user: u64, steps: u32) -> Box<dyn ErrorProcess> {
        let (ends, blocks) = self.ends(u64::from(steps));
        let random = streams.indexed("radio link", user, "errors: offset").uniform(0);
        let block = self.offset.unwrap_or((random * blocks as f64) as u64) % blocks;
        let mut playback = Playback { ends, run: 0, at: 0 };
        playback.seek(block * u64::from(steps));
        Box::new(playback)
    }

    fn clean(&self, steps: u32) -> f64 {
        let length = u64::from(steps);
        let (ends, blocks) = self.ends(length);
        let (mut dirty, mut next, mut begin) = (0, 0, 0);
        for (i, end) in ends.into_iter().enumerate() {
            if i % 2 == 1 && end > begin {
                let (first, last) = ((begin / length).max(next), (end - 1) / length);
                dirty += (last + 1).saturating_sub(first);
                next = next.max(last + 1);
            }
            begin = end;
        }
        1.0 - dirty as f64 / blocks as f64
    }
}

#[derive(Debug)]
pub struct Playback {
    /// First step after each run; runs with errors have odd indices.
    ends: Vec<u64>,
    /// Index of the run with the next step, or of an earlier run.
    run: usize,
    at: u64,
}

impl Playback {
    fn length(&self) -> u64 {
        self.ends.last().copied().unwrap_or(1)
    }

    fn seek(&mut self, step: u64) {
        self.at = step % self.length();
        self.run = self.ends.partition_point(|end| *end <= self.at);
    }
}

impl ErrorProcess for Playback {
    fn next_is_error(&mut self) -> bool {
        while self.ends[self.run] <= self.at {
            self.run += 1;
        }
        let error = self.run % 2 == 1;
        self.at += 1;
        if self.at == self.length() {
            (self.run, self.at) = (0, 0);
        }
        error
    }

    fn skip(&mut self, steps: u64) {
        self.seek(self.at + steps % self.length());
    }
}
