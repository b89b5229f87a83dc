//! A step is a PDU or a block of PDUs. If a step is a block, a distribution determines the PDUs in error of a
//! failed block; without a distribution all of them are in error. Each user has an independent process, which
//! advances with time or with the blocks sent.

pub mod blocks;
pub mod bsc;
pub mod curves;
pub mod effective;
pub mod file;
pub mod gilbert_elliott;
pub mod hmm;
mod matrix;
pub mod recorded;
pub mod within_block;

#[cfg(test)]
mod tests;

use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::plugin::Parameters;
use nodeb_base::registry;
use nodeb_base::rng::Streams;
use nodeb_base::units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use within_block::WithinBlock;

pub trait ErrorProcess: std::fmt::Debug {
    fn next_is_error(&mut self) -> bool;
    fn skip(&mut self, steps: u64);
}

pub trait ErrorParams: Parameters {
    /// A block takes `steps` steps.
    fn build(&self, streams: &Streams, user: u64, steps: u32) -> Box<dyn ErrorProcess>;
    /// Long-run probability that a block of `steps` steps has no error.
    fn clean(&self, steps: u32) -> f64;
}

registry! {
    /// Error process of a radio link, as a scenario names it.
    "errors" ErrorSpec as ErrorParams + Plugin {
        /// Independent errors with the same probability in every step.
        "bsc" => Bsc(bsc::IndependentErrors),
        /// Errors in bursts: a good and a bad state, each with its own probability.
        "gilbert_elliott" => GilbertElliott(gilbert_elliott::GilbertElliottErrors),
        /// A hidden Markov model: any number of states, each with its own error probability.
        "hmm" => Hmm(hmm::HiddenMarkov),
        /// A recorded sequence of errors, repeated in a loop.
        "recorded" => Recorded(recorded::RecordedErrors),
    }
}

/// Part of the transmitted data that one step of an error process decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A block: all PDUs coded together in one TTI.
    #[default]
    Block,
    /// A PDU: a block takes as many steps as it has PDUs.
    Pdu,
}

/// Rule that determines when an error process takes steps: with time or with blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Advances {
    /// With time: in every TTI the process takes the steps of its blocks, even if none are sent.
    #[default]
    WithTime,
    /// With blocks: the process takes steps only for blocks that are sent.
    WithBlocks,
}

params! {
    /// Model of the errors on a radio link.
    ///
    /// A model file, as written by `nodeb fit`, sets all keys except `file` and `advances`.
    pub struct ErrorModel {
        /// Path of a model file that sets the other keys except `advances`, relative to the scenario
        /// file's folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// Data whose errors one step of the process decides: a block or a PDU.
        pub unit: Unit,
        /// Number of PDUs per block for which the model is valid. Default: any number.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pdus_per_block: Option<NonZeroU32>,
        /// Process that decides in each step whether an error occurs.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub process: Option<ErrorSpec>,
        /// Distribution of the PDUs in error within a failed block, for `unit = "block"`. Default:
        /// all PDUs are in error.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub within_block: Option<WithinBlock>,
        /// Rule for the steps of the process: with time, or only with blocks that are sent.
        pub advances: Advances,
    }
}

impl Checked for ErrorModel {
    fn check(&self, check: &mut Check) {
        check.require(self.file.is_some() || self.process.is_some(), "process", || {
            format!("no error process; expected one of: {}, or a `file`", ErrorSpec::names().join(", "))
        });
        if let Some(process) = &self.process {
            check.within("process", |check| process.check(check));
        }
        check.require(self.within_block.is_none() || self.unit == Unit::Block, "within_block", || {
            "`within_block` needs `unit = \"block\"`; with `unit = \"pdu\"` every PDU has its own step"
                .to_owned()
        });
        if let Some(within) = &self.within_block {
            check.within("within_block", |check| within.check(check));
            let (of_patterns, stated) = (within.pdus(), self.pdus_per_block.map(NonZeroU32::get));
            check.require(stated.is_none_or(|pdus| pdus == of_patterns), "within_block", || {
                format!(
                    "the distribution is for blocks of {of_patterns} PDUs, but `pdus_per_block` is {}; expected the same",
                    stated.unwrap_or_default()
                )
            });
        }
    }
}

/// Explanation for a BLER and an error model set together.
pub const BY_MODEL: &str = "the model in `errors` says which blocks fail";

impl ErrorModel {
    /// The caller must read the model file, as this crate reads none.
    pub fn unread(&self) -> Option<String> {
        let file = self.file.as_ref().filter(|_| self.process.is_none())?;
        Some(format!("errors: the model file `{file}` has not been read; expected its process"))
    }

    /// In PDUs; `None` if the model is valid for any number.
    pub fn block_size(&self) -> Option<u32> {
        let stated = self.pdus_per_block.map(NonZeroU32::get);
        stated.or(self.within_block.as_ref().map(WithinBlock::pdus))
    }

    /// Long-run share of blocks with at least one PDU in error, 0 without a process.
    pub fn block_error_rate(&self, pdus: u32) -> Probability {
        let steps = self.steps(pdus);
        let clean = self.process.as_ref().map_or(1.0, |process| process.clean(steps));
        Probability((1.0 - clean).clamp(0.0, 1.0))
    }

    /// `pdus` if the unit is a PDU, 1 if it is a block.
    fn steps(&self, pdus: u32) -> u32 {
        if self.unit == Unit::Pdu { pdus } else { 1 }
    }

    /// `most` is the largest number of transmissions of a block; without one, the model must not fail all
    /// blocks.
    pub fn check_for(&self, pdus: u32, most: Option<u32>, check: &mut Check) {
        let mut own = Check::default();
        self.check(&mut own);
        if !own.into_problems().is_empty() {
            return check.within("errors", |check| self.check(check));
        }
        check.within("errors", |check| {
            let made_for = self.block_size();
            check.require(made_for.is_none_or(|made_for| made_for == pdus), "pdus_per_block", || {
                format!(
                    "the model is for blocks of {} PDUs, but the radio's have {pdus}; expected the same",
                    made_for.unwrap_or_default()
                )
            });
            check.require(most.is_some() || self.block_error_rate(pdus).0 < 1.0, "process", || {
                format!(
                    "every block of {pdus} PDUs has an error, so that with unlimited retransmissions none \
                     ever arrives; expected fewer errors, or set `max_transmissions`"
                )
            });
        });
    }
}
