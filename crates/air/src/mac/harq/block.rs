use std::num::NonZeroU32;
use std::ops::Range;

use nodeb_base::check::Check;
use nodeb_base::context::Context;
use nodeb_base::event::{Event, Part};
use nodeb_base::rng::{Stream, Streams, uniform};
use nodeb_base::units::Probability;

use super::{CombiningSpec, Decoding};

#[derive(Clone, Debug)]
pub struct Rules {
    pub combining: CombiningSpec,
    pub decoding: Decoding,
    /// ACK received as a NACK.
    pub ack_error: Probability,
    /// NACK received as an ACK.
    pub nack_error: Probability,
    /// `None` if unlimited.
    pub max_transmissions: Option<NonZeroU32>,
}

impl Rules {
    /// Some values never deliver some blocks.
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

/// Boxed by users, as they are large and only used for transmissions.
#[derive(Debug)]
pub struct Draws {
    decoding: Stream,
    feedback: Stream,
}

impl Draws {
    pub fn new(id: u64, streams: &Streams) -> Self {
        let stream = |purpose| streams.stream("user", id, purpose);
        Self { decoding: stream("decoding"), feedback: stream("feedback") }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Block<F> {
    /// Never wraps.
    pub number: u64,
    /// RLC units.
    pub units: Range<u64>,
    /// Without padding, in the payload units of the radio.
    pub size: u32,
    pub format: F,
    /// In the serving cell.
    pub transmissions: u32,
    /// Linear, after combining all transmissions in the serving cell.
    pub snr: f64,
    pub decoded: bool,
    /// First sent in a cell that the user has left.
    forwarded: bool,
    /// Uniform in [0, 1); decides the first transmission in each cell, or all if decoding uses one number per
    /// block.
    draw: f64,
}

impl<F> Block<F> {
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

    /// In another cell; earlier transmissions are not combined.
    pub fn restart(&mut self) {
        (self.transmissions, self.snr, self.forwarded) = (0, 0.0, true);
    }

    // Clause: TS 36.321, 5.3.2.2: soft combining
    // Simplified: SNRs or information add up; redundancy versions and the size of the soft buffer have no effect
    /// `snr` is linear.
    #[inline]
    pub fn combine(&mut self, snr: f64, rules: &Rules) {
        self.snr = rules.combining.add(self.snr, snr, self.transmissions);
    }

    /// See [`Decoding::draw`].
    #[inline]
    pub fn draw(&self, rules: &Rules, draws: &mut Draws) -> f64 {
        rules.decoding.draw(self.transmissions, self.draw, &mut draws.decoding)
    }

    /// `decodes` is not called for a block that the phone has decoded before.
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

/// As the base station receives it.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    pub acknowledged: bool,
    /// A NACK is received, and the limit of transmissions is not reached.
    pub is_retransmitted: bool,
}

#[derive(Clone, Debug)]
pub struct SentBlock {
    /// Never wraps.
    pub number: u64,
    /// RLC units.
    pub units: Range<u64>,
    /// Without padding, in the payload units of the radio.
    pub size: u32,
    /// In the serving cell.
    pub transmission: u32,
    /// False also for retransmissions after a change of cell.
    pub is_new: bool,
    pub failed: bool,
    /// True if decoded for the first time, false if given up.
    pub settled: Option<bool>,
}

impl SentBlock {
    /// Also the parts of a new block, which `carried` returns, and the loss of a block given up.
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

    #[inline]
    pub fn decided(&self, user: usize) -> Option<Decided> {
        let Self { number, settled, .. } = *self;
        settled.map(|decoded| Decided { user, number, units: self.units.clone(), decoded })
    }
}

/// Takes effect at the start of the next TTI.
#[derive(Clone, Debug)]
pub struct Decided {
    pub user: usize,
    /// Never wraps.
    pub number: u64,
    /// RLC units.
    pub units: Range<u64>,
    /// If not, the units are lost.
    pub decoded: bool,
}
