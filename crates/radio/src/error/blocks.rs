//! Errors of a bearer's blocks. Errors are independent, or an error model determines them for each
//! user.

use nodeb_base::rng::{ErrorGaps, Stream, Streams};
use nodeb_base::units::Probability;

use super::within_block::PatternDistribution;
use super::{Advances, ErrorModel, ErrorProcess, Unit};
use crate::mac::harq::{CombiningSpec, LAST_DISTINCT};

/// Resource on which a block is sent to a user: a channel in a TTI.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// Index of the user on the bearer.
    pub user: usize,
    /// Number of the TTI since the start of the run, from 0.
    pub tti: u64,
    /// Index of the channel in the TTI, from 0.
    pub channel: u64,
}

/// Source of the block errors of a bearer.
#[derive(Debug)]
pub enum BlockErrors {
    /// Independent errors.
    Independent(Box<IndependentErrors>),
    /// Errors that an error model determines, with one error process for each user's radio link.
    Modelled(Modelled),
}

/// Independent errors of blocks, with one sequence for each number of earlier transmissions of a
/// block. The largest numbers share the last sequence.
#[derive(Debug)]
pub struct IndependentErrors {
    /// Errors of first transmissions.
    pub first: ErrorGaps,
    /// Errors of retransmissions by the number of earlier transmissions, from 1. The list grows when a block
    /// is transmitted more often than any block before, because a short run needs only a few sequences.
    later: Vec<ErrorGaps>,
    bler: Probability,
    bits: u64,
    combining: CombiningSpec,
    streams: Streams,
    /// Number of the bearer's first user, which names the random streams.
    user: u64,
}

impl IndependentErrors {
    fn new(shape: BlockShape<'_>, bits: u64, user: u64, streams: Streams) -> Self {
        let BlockShape { bler, combining, .. } = shape;
        let first = gaps(bler, 1, user, streams);
        Self {
            first,
            later: Vec::with_capacity(LAST_DISTINCT as usize - 1),
            bler,
            bits,
            combining: combining.clone(),
            streams,
            user,
        }
    }

    /// Returns the errors of retransmissions of blocks that were transmitted `times` times (1 or
    /// more) before.
    #[inline]
    pub fn of_retransmission(&mut self, times: u32) -> &mut ErrorGaps {
        let index = times.min(LAST_DISTINCT - 1) as usize - 1;
        if index >= self.later.len() {
            self.add_later(index);
        }
        &mut self.later[index]
    }

    #[cold]
    fn add_later(&mut self, index: usize) {
        for index in self.later.len()..=index {
            let n = index as u32 + 2;
            let p = self.combining.failure(self.bler, n, self.bits);
            self.later.push(gaps(p, n, self.user, self.streams));
        }
    }
}

/// Returns the errors of transmission number `n` of blocks, which fails with probability `p`.
fn gaps(p: Probability, n: u32, user: u64, streams: Streams) -> ErrorGaps {
    ErrorGaps::new(p.0, streams.stream("bearer", user, &format!("block errors {n}")))
}

/// Error processes of the radio links of all users on a bearer.
#[derive(Debug)]
pub struct Modelled {
    channels: u64,
    links: Vec<LinkErrors>,
}

impl Modelled {
    /// Returns the number of a resource, from 0: the channels are counted through all TTIs since the
    /// start of the run.
    fn number(&self, on: Resource) -> u64 {
        on.tti * self.channels + on.channel
    }

    // This function is kept out of line, so that it does not slow down the code for independent
    // errors.
    #[inline(never)]
    fn first_failure(&mut self, number: u64, user: usize, blocks: u64, pdus: u32) -> Option<u64> {
        let link = &mut self.links[user];
        (0..blocks).find(|nth| link.block_fails(number + nth, pdus, 0))
    }

    #[inline(never)]
    fn retransmission_fails(&mut self, number: u64, user: usize, pdus: u32, nth: usize) -> bool {
        self.links[user].block_fails(number, pdus, nth)
    }
}

/// Shape of a bearer's blocks, and their error rate without an error model.
#[derive(Clone, Copy, Debug)]
pub struct BlockShape<'a> {
    /// Block error rate of first transmissions, which is used if there is no error model.
    pub bler: Probability,
    /// Number of channels, that is, of blocks per TTI.
    pub channels: u32,
    /// Number of PDUs in a block if the block is full.
    pub pdus: u32,
    /// Size of a PDU in bytes, from which the length of a block follows.
    pub pdu_bytes: u32,
    /// Soft combining of all transmissions of a block.
    pub combining: &'a CombiningSpec,
}

impl BlockErrors {
    /// Creates the block errors of a bearer with the users `users`. Errors follow `model`, or are
    /// independent if `model` is `None`.
    pub fn new(model: Option<&ErrorModel>, shape: BlockShape<'_>, users: &[u64], streams: &Streams) -> Self {
        let bits = u64::from(shape.pdus) * u64::from(shape.pdu_bytes) * 8;
        let Some(model) = model else {
            let user = users.first().copied().unwrap_or_default();
            return Self::Independent(Box::new(IndependentErrors::new(shape, bits, user, *streams)));
        };
        let bler = model.block_error_rate(shape.pdus);
        let remaining = |n| {
            let p = shape.combining.failure(bler, n, bits);
            if bler.0 > 0.0 { p.0 / bler.0 } else { 1.0 }
        };
        let shares: Vec<f64> = (1..=LAST_DISTINCT).map(remaining).collect();
        let of_user = |user: &u64| LinkErrors::new(model, shape.pdus, &shares, *user, *streams);
        let links = users.iter().map(of_user).collect();
        Self::Modelled(Modelled { channels: u64::from(shape.channels), links })
    }

    /// Sends up to `blocks` new blocks of `pdus` PDUs on consecutive channels, and stops after the
    /// first block that fails. Returns the number of good blocks before the failed one, or `None`
    /// if no block fails.
    #[inline]
    pub fn first_failure(&mut self, on: Resource, blocks: u64, pdus: u32) -> Option<u64> {
        match self {
            Self::Independent(errors) => errors.first.next_error_within(blocks),
            Self::Modelled(model) => model.first_failure(model.number(on), on.user, blocks, pdus),
        }
    }

    /// Returns the number of new blocks that will be received without errors before one fails.
    /// Returns `None` if there is an error model, because a model decides about a block only when
    /// the block is sent.
    #[inline]
    pub fn good_blocks(&self) -> Option<u64> {
        match self {
            Self::Independent(errors) => Some(errors.first.good()),
            Self::Modelled(_) => None,
        }
    }

    /// Sends `blocks` new blocks that do not fail. Their number must be at most
    /// [`Self::good_blocks`]. Does nothing if there is an error model.
    #[inline]
    pub fn pass_good(&mut self, blocks: u64) {
        if let Self::Independent(errors) = self {
            let failed = errors.first.next_error_within(blocks);
            debug_assert!(failed.is_none(), "a block fails among those expected to be good");
        }
    }

    /// Retransmits a block of `pdus` PDUs that has failed `times` times. Returns true if the
    /// retransmission fails too.
    #[inline]
    pub fn retransmission_fails(&mut self, on: Resource, pdus: u32, times: u32) -> bool {
        match self {
            Self::Independent(errors) => errors.of_retransmission(times).next_is_error(),
            Self::Modelled(model) => {
                let nth = times.min(LAST_DISTINCT - 1) as usize;
                model.retransmission_fails(model.number(on), on.user, pdus, nth)
            }
        }
    }

    /// Sends a block in which each PDU has its own checksum. Sets the elements of `wrong` to true
    /// for PDUs in error and to false for others. Without an error model either all PDUs of the
    /// block are in error or none.
    pub fn wrong_pdus(&mut self, on: Resource, wrong: &mut [bool]) {
        match self {
            Self::Independent(errors) => wrong.fill(errors.first.next_is_error()),
            Self::Modelled(model) => {
                let number = model.number(on);
                model.links[on.user].wrong_pdus(number, wrong);
            }
        }
    }
}

/// Errors of the blocks and PDUs on one user's radio link.
#[derive(Debug)]
pub struct LinkErrors {
    process: Box<dyn ErrorProcess>,
    unit: Unit,
    advances: Advances,
    /// Number of steps that the error process takes per full block.
    steps: u64,
    next: u64,
    within: Option<(PatternDistribution, Stream)>,
    /// Errors that soft combining does not correct: one sequence for each number of earlier failures
    /// of a block. A block fails only if both the error process and its sequence yield an error.
    remains: Vec<ErrorGaps>,
    wrong: Vec<bool>,
}

impl LinkErrors {
    fn new(model: &ErrorModel, pdus: u32, remains: &[f64], user: u64, streams: Streams) -> Self {
        let steps = model.steps(pdus);
        let stream = |purpose: &str| streams.stream("radio link", user, purpose);
        let gaps =
            |(n, share): (usize, &f64)| ErrorGaps::new(*share, stream(&format!("combining fails {n}")));
        let none = || Box::new(ErrorGaps::new(0.0, stream("errors"))) as _;
        Self {
            process: model.process.as_ref().map_or_else(none, |spec| spec.build(&streams, user, steps)),
            unit: model.unit,
            advances: model.advances,
            steps: u64::from(steps),
            next: 0,
            within: model.within_block.as_ref().map(|patterns| (patterns.build(), stream("errors: pattern"))),
            remains: remains.iter().enumerate().map(gaps).collect(),
            wrong: Vec::new(),
        }
    }

    /// Skips the steps of the resources before number `number`, if the process advances with time.
    /// The block on resource `number` takes the next steps.
    fn go_to(&mut self, number: u64) {
        if self.advances == Advances::WithTime {
            let begin = number * self.steps;
            self.process.skip(begin.saturating_sub(self.next));
            self.next = self.next.max(begin);
        }
    }

    /// Sends a block on resource `number`: the error process takes the block's steps. Sets the
    /// elements of `wrong` to true for PDUs in error and to false for others. If the block is only
    /// partly filled, a pattern may have all its errors beyond the end of `wrong`. Then no PDU is in
    /// error.
    fn wrong_pdus(&mut self, number: u64, wrong: &mut [bool]) {
        self.go_to(number);
        if self.unit == Unit::Pdu {
            for wrong in wrong.iter_mut() {
                *wrong = self.process.next_is_error();
            }
            // A partly filled block advances the process by as many steps as a full one.
            let taken = wrong.len() as u64;
            self.process.skip(self.steps.saturating_sub(taken));
            self.next += self.steps.max(taken);
            return;
        }
        self.next += 1;
        let failed = self.process.next_is_error();
        wrong.fill(failed);
        if failed && let Some((patterns, stream)) = &mut self.within {
            for (wrong, drawn) in wrong.iter_mut().zip(patterns.draw(stream)) {
                *wrong = drawn;
            }
        }
    }

    /// Returns true if a block with one checksum over all its PDUs fails. `times` is the number of
    /// its earlier failures.
    fn block_fails(&mut self, number: u64, pdus: u32, times: usize) -> bool {
        let mut wrong = std::mem::take(&mut self.wrong);
        wrong.clear();
        wrong.resize(pdus as usize, false);
        self.wrong_pdus(number, &mut wrong);
        let failed = wrong.contains(&true);
        self.wrong = wrong;
        failed && self.remains[times].next_is_error()
    }
}
