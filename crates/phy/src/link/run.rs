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

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub bits: Tally,
    /// Trials are PDUs, errors failed CRCs; without a CRC none fails.
    pub pdus: Tally,
    pub blocks: Tally,
    pub raw: Tally,
    /// Trials are TTIs.
    pub signalling: Tally,
    /// Wrong bits with a correct CRC, or without any.
    pub undetected: u64,
    /// Of the turbo decoder over all code blocks of the data channel; 0 with a convolutional code.
    pub iterations: u64,
    /// On the air.
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

/// Stopping rule: the simulation ends when the first of the limits is reached. The rule is checked
/// after each unit of 16 blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Number of simulated bits of the data channel's PDUs after which the simulation ends.
    pub bits: u64,
    /// Number of block errors after which the simulation of a point ends. Default: no limit.
    pub block_errors: Option<u64>,
}

impl Default for Stop {
    fn default() -> Self {
        Self { bits: 10_000_000, block_errors: None }
    }
}

impl Stop {
    /// Checks that the limits are positive.
    ///
    /// # Errors
    ///
    /// Returns an error if a limit is 0, with which nothing would be simulated.
    pub fn check(&self) -> Result<()> {
        if self.bits == 0 {
            return Err(Error::config("bits", "at least one bit, not 0"));
        }
        if self.block_errors == Some(0) {
            return Err(Error::config(
                "block_errors",
                "at least one error, not 0; remove the key for no limit",
            ));
        }
        Ok(())
    }

    fn reached(&self, counts: &Counts) -> bool {
        counts.bits.trials >= self.bits || self.block_errors.is_some_and(|n| counts.blocks.errors >= n)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub counts: Counts,
    pub pdu_errors: Vec<bool>,
    /// By the callback; the outcome covers the part until then.
    pub broken_off: bool,
}

/// On any number of `threads` the same. `watch` gets the counts after each batch of 64 blocks per thread, and
/// may end the run.
///
/// # Errors
/// Returns an error if a value of the link cannot be simulated or the threads cannot be started.
pub fn run(
    link: &Link,
    seed: u64,
    stop: Stop,
    threads: NonZeroU32,
    watch: &mut dyn FnMut(&Counts) -> ControlFlow<()>,
) -> Result<Outcome> {
    run_on(Isa::best(), link, seed, stop, threads, watch)
}

/// Simulates a link like [`run`], but with the instruction set `isa`, on which the outcome does not
/// depend.
///
/// # Errors
///
/// Returns the errors of [`run`].
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
        // A batch of units is simulated in parallel. Units after the unit that meets the stopping
        // rule are discarded, so that the outcome does not depend on the number of threads.
        let batch = next..next + u64::from(threads.get()) * UNITS_PER_THREAD;
        next = batch.end;
        let units: Vec<_> = pool.install(|| {
            let simulate = |workspace: &mut _, unit| simulator.unit(unit, workspace);
            batch.into_par_iter().map_init(|| simulator.workspace(), simulate).collect()
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

/// Excess units of the last batch are discarded.
const UNITS_PER_THREAD: u64 = 4;
