//! Link adaptation: what block a user can be sent in a TTI, given what the Node B knows.

pub mod cqi;
pub mod curves;
pub mod recorded;
pub mod shannon;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;

use self::curves::Curves;
use super::payload::Payload;
use crate::cell::channel::Channel;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::numerology::Numerology;

/// The parameters of link adaptation.
pub trait LinkAdaptationParams {
    /// Returns true if every block is what the channel carries, whatever the codes are, and none can fail.
    fn is_certain(&self) -> bool {
        false
    }
    /// Reports keys of measurements that have no effect if every user's CQIs are `recorded`.
    fn check_reports(&self, _recorded: bool, _check: &mut Check) {}
}

registry! {
    /// Link adaptation, as a scenario names it.
    "link adaptation" LinkAdaptationSpec = Cqi as LinkAdaptationParams {
        /// CQI reports choose among the transport formats of the UE category.
        "cqi" => Cqi(cqi::CqiReports),
        /// Capacity of the channel in the TTI itself, without errors: a bound.
        "shannon" => Shannon(shannon::Shannon),
    }
}

/// A block that a user could be sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Units of payload.
    pub units: u32,
    /// HS-PDSCH codes.
    pub codes: u32,
    /// CQI whose link-level curve gives the BLER; absent: the block cannot fail.
    pub curve: Option<u8>,
}

/// A TTI's limits for one user.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Codes free.
    pub codes: u32,
    /// Users among whom the power is shared.
    pub sharers: u32,
    /// Units there are to send.
    pub units: u64,
}

/// What link adaptation has to know of the link.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// How packets fill blocks.
    pub payload: Payload,
    /// What decides about blocks.
    pub curves: &'a Curves,
    /// What the air interface is made of.
    pub numerology: Numerology,
}

/// Link adaptation of one user.
#[derive(Debug)]
pub enum Adapter {
    /// By CQI.
    Cqi(cqi::Reporter),
    /// By capacity.
    Shannon(shannon::Genie),
    /// By recorded rates.
    Recorded(recorded::RecordedRate),
}

impl LinkAdaptationSpec {
    /// The adapter of user number `id`, of a UE category.
    pub fn build(
        &self,
        category: u8,
        link: &Link,
        id: u64,
        streams: &Streams,
        tables: &mut cqi::Tables,
    ) -> Adapter {
        match self {
            Self::Cqi(params) => Adapter::Cqi(params.build(category, link, id, streams, tables)),
            Self::Shannon(params) => Adapter::Shannon(params.build(link.payload, link.numerology)),
        }
    }
}

impl Adapter {
    /// What the Node B knows of the channel in TTI number `tti`: the CQI, the SNR in dB, or
    /// a block's bits in dB.
    #[inline]
    pub fn quality(&mut self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> f32 {
        match self {
            Self::Cqi(reporter) => f32::from(reporter.report(channel, sequence, tti)),
            Self::Shannon(genie) => genie.look(channel.snr(sequence, tti)),
            Self::Recorded(recorded) => recorded.look(channel.recorded_rate(tti)),
        }
    }

    /// The block that this quality and the limits allow, if any.
    pub fn offer(&self, quality: f32, limits: Limits) -> Option<Offer> {
        match self {
            Self::Cqi(reporter) => reporter.offer(quality, limits),
            Self::Shannon(genie) => genie.offer(limits),
            Self::Recorded(recorded) => recorded.offer(limits),
        }
    }

    /// Returns the CQIs of some TTIs in a row, number `tti` among them, and the first of these; if they are known
    /// without looking at the channel again.
    #[inline]
    pub fn peek(&self, tti: u64) -> Option<(&[u8; BLOCK], u64)> {
        if let Self::Cqi(reporter) = self { reporter.peek(tti) } else { None }
    }

    /// Units of the blocks for CQIs that [`Self::peek`] returned, 0 for none.
    pub fn units<const N: usize>(&self, cqis: &[u8; N], limits: Limits) -> [u32; N] {
        if let Self::Cqi(reporter) = self { reporter.units(cqis, limits) } else { [0; N] }
    }

    /// Returns a CQI that is exceeded in no TTI from number `tti` to the one that comes with it, if that is known
    /// without looking at the channel in each.
    pub fn peak(&self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> Option<(u8, u64)> {
        if let Self::Cqi(reporter) = self { reporter.peak(channel, sequence, tti) } else { None }
    }

    /// Whether what the Node B knows of the channel is a CQI, not decibels.
    pub fn has_cqis(&self) -> bool {
        matches!(self, Self::Cqi(_))
    }

    /// Whether it learns from answers.
    pub fn learns(&self) -> bool {
        matches!(self, Self::Cqi(reporter) if reporter.learns())
    }

    /// Whether the first transmission of a block was acknowledged.
    pub fn on_answer(&mut self, acknowledged: bool) {
        if let Self::Cqi(reporter) = self {
            reporter.on_answer(acknowledged);
        }
    }
}
