//! Which PDUs and blocks of a radio link arrive in error, where they are not independent.
//!
//! A process gives one error or none in each step. A step stands for a PDU or for a block of them;
//! in the second case a law says which PDUs of a failed block are wrong. A user has a process of
//! its own, whose steps go on with time or with the blocks that are sent.

pub mod blocks;
pub mod bsc;
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

/// A source of errors, one step after the other.
pub trait ErrorProcess: Send + std::fmt::Debug {
    /// Whether the next step is an error.
    fn next_is_error(&mut self) -> bool;
    /// Takes steps that nobody looks at.
    fn skip(&mut self, steps: u64);
}

/// The parameters of a process of errors.
pub trait ErrorParams: Parameters {
    /// The errors of a user's radio link whose blocks take `steps` steps each.
    fn build(&self, streams: &Streams, user: u64, steps: u32) -> Box<dyn ErrorProcess>;
    /// Probability, in the long run, that a block of `steps` steps is free of errors.
    fn clean(&self, steps: u32) -> f64;
}

registry! {
    /// A process of errors on a radio link, as a scenario names it.
    "errors" ErrorSpec as ErrorParams + Plugin {
        /// Every step with the same probability, independently of the others.
        "bsc" => Bsc(bsc::IndependentErrors),
        /// In bursts: a good and a bad state, each with its own probability.
        "gilbert_elliott" => GilbertElliott(gilbert_elliott::GilbertElliottErrors),
        /// A hidden Markov model: any number of states, each with its own probability.
        "hmm" => Hmm(hmm::HiddenMarkov),
        /// A recorded sequence, played back in a loop.
        "recorded" => Recorded(recorded::RecordedErrors),
    }
}

/// What one step of a process stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A block: all PDUs that are coded together in one TTI.
    #[default]
    Block,
    /// A PDU: a block takes as many steps as it has PDUs.
    Pdu,
}

/// What makes a process go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Advances {
    /// Time: every TTI takes the steps of its blocks, sent or not.
    #[default]
    WithTime,
    /// Blocks: only those that are sent take steps.
    WithBlocks,
}

params! {
    /// Errors of a radio link. A model file, as `nodeb fit` writes it, gives all but `advances`.
    pub struct ErrorModel {
        /// A model file to take the other keys from. The path counts from the scenario file's folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub file: Option<String>,
        /// What one step of the process stands for.
        pub unit: Unit,
        /// PDUs in a block for which the model was made; absent: any number.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pdus_per_block: Option<NonZeroU32>,
        /// Where the errors come from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub process: Option<ErrorSpec>,
        /// Which PDUs of a failed block are wrong, where a step is a block; absent: all.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub within_block: Option<WithinBlock>,
        /// What makes the process go on.
        pub advances: Advances,
    }
}

impl Checked for ErrorModel {
    fn check(&self, check: &mut Check) {
        check.require(self.file.is_some() || self.process.is_some(), "process", || {
            format!("no errors are given; expected one of: {}, or a `file`", ErrorSpec::names().join(", "))
        });
        if let Some(process) = &self.process {
            check.within("process", |check| process.check(check));
        }
        check.require(self.within_block.is_none() || self.unit == Unit::Block, "within_block", || {
            "a law within blocks goes with `unit = \"block\"`; here every PDU has a step of its own"
                .to_owned()
        });
        if let Some(law) = &self.within_block {
            check.within("within_block", |check| law.check(check));
            let (of_law, stated) = (law.pdus(), self.pdus_per_block.map(NonZeroU32::get));
            check.require(stated.is_none_or(|pdus| pdus == of_law), "within_block", || {
                format!(
                    "the law is of blocks of {of_law} PDUs, `pdus_per_block` is {}; expected the same",
                    stated.unwrap_or_default()
                )
            });
        }
    }
}

/// Why a radio's BLER does nothing beside a model.
pub const BY_MODEL: &str = "the model in `errors` says which blocks fail";

impl ErrorModel {
    /// What is wrong where the model file has still to be read: this crate knows no files.
    pub fn unread(&self) -> Option<String> {
        let file = self.file.as_ref().filter(|_| self.process.is_none())?;
        Some(format!("errors: the model file `{file}` has not been read; expected its process"))
    }

    /// PDUs in a block, where the model is of one size only.
    pub fn block_size(&self) -> Option<u32> {
        let stated = self.pdus_per_block.map(NonZeroU32::get);
        stated.or(self.within_block.as_ref().map(WithinBlock::pdus))
    }

    /// Share of the blocks of `pdus` PDUs, in the long run, that have a wrong PDU.
    pub fn block_error_rate(&self, pdus: u32) -> Probability {
        let steps = self.steps(pdus);
        let clean = self.process.as_ref().map_or(1.0, |process| process.clean(steps));
        Probability((1.0 - clean).clamp(0.0, 1.0))
    }

    /// Steps that a block of `pdus` PDUs takes.
    fn steps(&self, pdus: u32) -> u32 {
        if self.unit == Unit::Pdu { pdus } else { 1 }
    }

    /// Reports what does not go with blocks of `pdus` PDUs, of which each may be sent `most` times.
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
                    "the model is of blocks of {} PDUs, but the radio's have {pdus}; expected the same",
                    made_for.unwrap_or_default()
                )
            });
            check.require(most.is_some() || self.block_error_rate(pdus).0 < 1.0, "process", || {
                format!(
                    "every block of {pdus} PDUs would have an error, so that with unlimited retransmissions none \
                     would ever arrive; expected fewer errors, or set `max_transmissions`"
                )
            });
        });
    }
}
