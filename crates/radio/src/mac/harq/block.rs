//! Blocks of HARQ between their transmissions: combining, decoding, and answers.

use std::num::NonZeroU32;
use std::ops::Range;

use nodeb_base::check::Check;
use nodeb_base::context::Context;
use nodeb_base::event::{Event, Part};
use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::Probability;

use super::{CombiningSpec, Decoding};

/// Parameters that determine whether blocks are decoded and whether they are sent again.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Soft combining of the transmissions of a block.
    pub combining: CombiningSpec,
    /// Method that determines whether a block is decoded.
    pub decoding: Decoding,
    /// Probability that the base station receives an ACK as a NACK.
    pub ack_error: Probability,
    /// Probability that the base station receives a NACK as an ACK.
    pub nack_error: Probability,
    /// Largest number of transmissions of a block; `None` if unlimited.
    pub max_transmissions: Option<NonZeroU32>,
}

impl Rules {
    /// Reports values with which some blocks are never delivered.
    pub fn check(&self, check: &mut Check) {
        check.require(self.ack_error.0 < 1.0 || self.max_transmissions.is_some(), "ack_error", || {
            "no ACK is ever received, and transmissions are unlimited; expected a probability below 1"
                .to_owned()
        });
        let gains = !matches!(self.combining, CombiningSpec::None(_)) || self.max_transmissions.is_some();
        check.require(gains, "combining", || {
            "without combining a block sized for a better channel may fail for ever, and transmissions are \
             unlimited; expected `chase`, `incremental_redundancy`, or `max_transmissions`"
                .to_owned()
        });
    }
}

/// Random streams of a user for decoding and feedback. Users keep them in a box, as they are large and only used for
/// transmissions.
#[derive(Debug)]
pub struct Draws {
    decoding: Stream,
    feedback: Stream,
}

impl Draws {
    /// Creates the streams of user `id`.
    pub fn new(id: u64, streams: &Streams) -> Self {
        let stream = |purpose| streams.stream("user", id, purpose);
        Self { decoding: stream("decoding"), feedback: stream("feedback") }
    }
}

/// Block in a HARQ process, with the format `F` in which it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Block<F> {
    /// Number of the block, which never wraps.
    pub number: u64,
    /// Numbers of the RLC units that the block carries.
    pub units: Range<u64>,
    /// Size of the block's contents without padding, in the payload units of the radio.
    pub size: u32,
    /// Format in which the block is sent.
    pub format: F,
    /// Number of transmissions so far in the serving cell.
    pub transmissions: u32,
    /// Linear SNR after combining all transmissions so far in the serving cell.
    pub snr: f64,
    /// Whether the phone has decoded the block.
    pub decoded: bool,
    /// Whether the block was first sent in a cell that the user has left, and continues in the new cell.
    forwarded: bool,
    /// Random number uniform in [0, 1) that decides the first transmission in each cell. If decoding uses one random
    /// number per block, this number decides all transmissions.
    draw: f64,
}

impl<F> Block<F> {
    /// Creates a block that has not been sent yet.
    #[inline]
    pub fn new(number: u64, units: Range<u64>, size: u32, format: F, draws: &mut Draws) -> Self {
        let draw = uniform(&mut draws.decoding);
        Self {
            number,
            units,
            size,
            format,
            transmissions: 0,
            snr: 0.0,
            decoded: false,
            forwarded: false,
            draw,
        }
    }

    /// Prepares the block for a first transmission in another cell: transmissions in the old cell are not combined with
    /// later ones.
    pub fn restart(&mut self) {
        (self.transmissions, self.snr, self.forwarded) = (0, 0.0, true);
    }

    // Clause: TS 36.321, 5.3.2.2: soft combining
    // Simplified: SNRs or information add up; redundancy versions and the size of the soft buffer have no effect
    /// Combines the current transmission, which has the linear SNR `snr`, with the earlier ones.
    #[inline]
    pub fn combine(&mut self, snr: f64, rules: &Rules) {
        self.snr = rules.combining.add(self.snr, snr, self.transmissions);
    }

    /// Returns the number that decides the current transmission (see [`Decoding::draw`]).
    #[inline]
    pub fn draw(&self, rules: &Rules, draws: &mut Draws) -> f64 {
        rules.decoding.draw(self.transmissions, self.draw, &mut draws.decoding)
    }

    /// Sends the block for the first time or again. `decodes` returns true if the phone decodes it; it is not called
    /// for a block that the phone has decoded before. Returns the result and the answer that the base station receives.
    #[inline]
    pub fn send(
        &mut self,
        rules: &Rules,
        draws: &mut Draws,
        decodes: impl FnOnce(&mut Self, &mut Draws) -> bool,
    ) -> (SentBlock, Answer) {
        self.transmissions += 1;
        let had_been_decoded = self.decoded;
        if !had_been_decoded {
            self.decoded = decodes(self, draws);
        }
        let error = if self.decoded { rules.ack_error } else { rules.nack_error };
        let is_wrong = error.0 > 0.0 && uniform(&mut draws.feedback) < error.0;
        let acknowledged = self.decoded != is_wrong;
        let may_retransmit = rules.max_transmissions.is_none_or(|most| self.transmissions < most.get());
        let is_retransmitted = !acknowledged && may_retransmit;
        let is_settled = self.decoded && !had_been_decoded || !self.decoded && !is_retransmitted;
        let sent = SentBlock {
            number: self.number,
            units: self.units.clone(),
            size: self.size,
            transmission: self.transmissions,
            is_new: self.transmissions == 1 && !self.forwarded,
            failed: !self.decoded,
            settled: is_settled.then_some(self.decoded),
        };
        (sent, Answer { acknowledged, is_retransmitted })
    }
}

/// Answer to a transmission, as the base station receives it.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Whether the base station receives an ACK.
    pub acknowledged: bool,
    /// Whether the block must be sent again: a NACK is received, and the limit of transmissions is not reached.
    pub is_retransmitted: bool,
}

/// Block that was sent, with the result of the transmission.
#[derive(Clone, Debug)]
pub struct SentBlock {
    /// Number of the block, which never wraps.
    pub number: u64,
    /// Numbers of the RLC units that the block carries.
    pub units: Range<u64>,
    /// Size of the block's contents without padding, in the payload units of the radio.
    pub size: u32,
    /// Number of transmissions of the block so far in the serving cell.
    pub transmission: u32,
    /// Whether the units of the block were sent for the first time. False for retransmissions, also for those after a
    /// change of cell.
    pub is_new: bool,
    /// Whether the phone could not decode the block.
    pub failed: bool,
    /// Final outcome of the block, if this transmission decides it: true if the phone decoded the block for the first
    /// time, false if it is sent no more although it is not decoded. `None` otherwise.
    pub settled: Option<bool>,
}

impl SentBlock {
    /// Emits an event for the transmission to `user`. Also emits the parts of packets in a new block, which `carried`
    /// returns, and the loss of a block that is given up.
    #[cold]
    pub fn emit(&self, ctx: &mut Context, user: usize, carried: impl FnOnce(Range<u64>) -> Vec<Part>) {
        let (bearer, user, block) = (ctx.place.index, user as u32, self.number);
        let (units, transmission, failed) = (self.size, self.transmission, self.failed);
        ctx.emit(Event::Block { bearer, user, block, units, transmission, failed });
        if self.is_new {
            for part in carried(self.units.clone()) {
                ctx.emit(Event::Carries { bearer, user, block, part });
            }
        }
        if self.settled == Some(false) {
            ctx.emit(Event::GivenUp { bearer, user, block });
        }
    }

    /// Returns the final outcome of the block, if this transmission to `user` decides it.
    #[inline]
    pub fn decided(self, user: usize) -> Option<Decided> {
        let Self { number, units, settled, .. } = self;
        settled.map(|decoded| Decided { user, number, units, decoded })
    }
}

/// Final outcome of a block, which takes effect at the start of the TTI after the transmission that
/// decides it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Index of the user to whom the block was sent.
    pub user: usize,
    /// Number of the block, which never wraps.
    pub number: u64,
    /// Numbers of the RLC units in the block.
    pub units: Range<u64>,
    /// Whether the phone decoded the block. If not, its units are lost.
    pub decoded: bool,
}
