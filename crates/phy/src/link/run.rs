//! Runs a link until enough was seen.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::Link;
use super::simulator::Simulator;
use super::tally::Tally;
use crate::error::{Error, Result};
use crate::simd::Isa;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Bits of the data channel's PDUs and those decoded wrongly.
    pub bits: Tally,
    /// PDUs and those whose CRC failed. Without a CRC none fails.
    pub pdus: Tally,
    /// Blocks, which are the PDUs of one TTI, and those that lost one.
    pub blocks: Tally,
    /// Bits of the DPDCH and those received wrongly, before decoding.
    pub raw: Tally,
    /// TTIs of the signalling channel and those whose CRC failed.
    pub signalling: Tally,
    /// PDUs with wrong bits whose CRC is right.
    pub undetected: u64,
    /// Iterations of the turbo decoder over all code blocks.
    pub iterations: u64,
    /// Time on the air, s.
    pub seconds: f64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.bits.add(&other.bits);
        self.pdus.add(&other.pdus);
        self.blocks.add(&other.blocks);
        self.raw.add(&other.raw);
        self.signalling.add(&other.signalling);
        self.undetected += other.undetected;
        self.iterations += other.iterations;
        self.seconds += other.seconds;
    }
}

/// When to stop: whichever comes first. Checked after each unit of 16 blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Bits of the data channel's PDUs.
    pub bits: u64,
    /// Block errors; absent: they do not count.
    pub block_errors: Option<u64>,
}

impl Default for Stop {
    fn default() -> Self {
        Self { bits: 10_000_000, block_errors: None }
    }
}

impl Stop {
    /// # Errors
    /// When nothing would be simulated.
    pub fn check(&self) -> Result<()> {
        if self.bits == 0 {
            return Err(Error::config("bits", "at least one bit, not 0"));
        }
        if self.block_errors == Some(0) {
            return Err(Error::config(
                "block_errors",
                "at least one error, not 0; leave it out to count none",
            ));
        }
        Ok(())
    }

    fn reached(&self, counts: &Counts) -> bool {
        counts.bits.trials >= self.bits || self.block_errors.is_some_and(|n| counts.blocks.errors >= n)
    }
}

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// All counts.
    pub counts: Counts,
    /// For each PDU of the data channel in the order of sending, whether it was lost.
    pub pdu_errors: Vec<bool>,
    /// Whether the watcher broke the run off; what was counted until then is the beginning of what
    /// the whole run would have counted.
    pub broken_off: bool,
}

/// Simulates `link` under `seed` on `threads` threads until `stop`. The outcome does not depend on
/// the number of threads. `watch` is shown the counts a few times a second and may break the run off.
///
/// # Errors
/// When the link has a value that cannot be simulated.
pub fn run(
    link: &Link,
    seed: u64,
    stop: Stop,
    threads: NonZeroU32,
    watch: &mut dyn FnMut(&Counts) -> ControlFlow<()>,
) -> Result<Outcome> {
    run_on(Isa::best(), link, seed, stop, threads, watch)
}

/// [`run`] with a given instruction set, which does not show either.
///
/// # Errors
/// As [`run`].
pub fn run_on(
    isa: Isa,
    link: &Link,
    seed: u64,
    stop: Stop,
    threads: NonZeroU32,
    watch: &mut dyn FnMut(&Counts) -> ControlFlow<()>,
) -> Result<Outcome> {
    let simulator = Simulator::new(link, seed, isa)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get() as usize)
        .build()
        .map_err(|error| Error::config("threads", error.to_string()))?;
    let mut outcome = Outcome::default();
    let mut next = 0;
    while !stop.reached(&outcome.counts) {
        // A wave of units; those after the one that reaches the end are thrown away.
        let wave = next..next + u64::from(threads.get()) * UNITS_PER_THREAD;
        next = wave.end;
        let units: Vec<_> = pool.install(|| {
            let simulate = |workspace: &mut _, unit| simulator.unit(unit, workspace);
            wave.into_par_iter().map_init(|| simulator.workspace(), simulate).collect()
        });
        for (counts, lost) in units {
            if !stop.reached(&outcome.counts) {
                outcome.counts.add(&counts);
                outcome.pdu_errors.extend(lost);
            }
        }
        if watch(&outcome.counts).is_break() {
            outcome.broken_off = true;
            break;
        }
    }
    Ok(outcome)
}

/// Units that a thread does between two looks at the stopping rule.
const UNITS_PER_THREAD: u64 = 4;
