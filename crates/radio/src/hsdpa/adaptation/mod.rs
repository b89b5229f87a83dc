//! Link adaptation: selection of the block that a user can be sent in a TTI, by the channel quality
//! known to the Node B.

pub mod cqi;
pub mod curves;
pub mod recorded;
pub mod shannon;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;

use self::curves::Curves;
use crate::cell::channel::Channel;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::mac::outer_loop::FirstAnswer;
use crate::numerology::Numerology;
use crate::rlc::units::payload::Payload;

/// Parameters of a method of link adaptation, with checks that need other parts of the scenario.
pub trait LinkAdaptationParams {
    /// Returns true if every block matches the channel whatever number of codes it has, so that no
    /// block can fail.
    fn is_certain(&self) -> bool {
        false
    }
    /// Reports keys of CQI measurements that are set without effect. `recorded` is true if every
    /// user's CQIs are recorded, so that none is measured.
    fn check_reports(&self, _recorded: bool, _check: &mut Check) {}
}

registry! {
    /// Link adaptation, as a scenario names it.
    "link adaptation" LinkAdaptationSpec = Cqi as LinkAdaptationParams {
        /// CQI reports select among the transport formats of the UE category.
        "cqi" => Cqi(cqi::CqiReports),
        /// Blocks at the channel's capacity in the TTI, without errors: an upper bound.
        "shannon" => Shannon(shannon::Shannon),
    }
}

/// Block that the Node B could send to a user in a TTI.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// Number of payload units, PDUs or bytes, in the block.
    pub units: u32,
    /// Number of HS-PDSCH codes that the block needs.
    pub codes: u32,
    /// CQI whose BLER curve decides whether the block is decoded; `None` if the block cannot fail.
    pub curve: Option<u8>,
}

/// Limits on the block that a user can be sent in a TTI.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Number of HS-PDSCH codes that are free.
    pub codes: u32,
    /// Number of users who share the transmit power of the TTI.
    pub sharers: u32,
    /// Number of payload units that wait to be sent to the user.
    pub units: u64,
}

/// Properties of the radio link, equal for all users, that link adaptation needs.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Mapping of packets to blocks: the size of PDUs, and whether blocks carry octets of PDUs.
    pub payload: Payload,
    /// BLER curves that decide whether blocks are decoded.
    pub curves: &'a Curves,
    /// Numerology of the air interface, such as the length of a TTI.
    pub numerology: Numerology,
}

/// Link adaptation of one user: selects the user's blocks.
#[derive(Debug)]
pub enum Adapter {
    /// Selects blocks by CQI reports.
    Cqi(cqi::Reporter),
    /// Selects blocks by the capacity of the channel.
    Shannon(shannon::Genie),
    /// Selects blocks by recorded rates.
    Recorded(recorded::RecordedRate),
}

impl LinkAdaptationSpec {
    /// Returns the link adaptation of user `id`, whose UE is of category `category`.
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
    /// Returns the channel quality by which the Node B selects blocks in TTI `tti`: the reported CQI,
    /// the SNR in dB, or 10 log10 of the number of bits that a recorded rate allows.
    #[inline]
    pub fn quality(&mut self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> f32 {
        match self {
            Self::Cqi(reporter) => f32::from(reporter.report(channel, sequence, tti)),
            Self::Shannon(genie) => genie.look(channel.snr(sequence, tti)),
            Self::Recorded(recorded) => recorded.look(channel.recorded_rate(tti)),
        }
    }

    /// Returns the block for a channel quality within `limits`. Returns `None` if no payload unit fits or too
    /// few codes are free. Only CQI reports use `quality`. The other methods use the channel at the last call
    /// of [`Self::quality`], and their blocks never need more codes than are free.
    pub fn offer(&self, quality: f32, limits: Limits) -> Option<Offer> {
        match self {
            Self::Cqi(reporter) => reporter.offer(quality, limits),
            Self::Shannon(genie) => genie.offer(limits),
            Self::Recorded(recorded) => recorded.offer(limits),
        }
    }

    /// Returns the CQIs of consecutive TTIs that include `tti`, and the first of these TTIs.
    /// Returns `None` if the CQI of TTI `tti` was not computed ahead, or if the method uses no
    /// CQIs.
    #[inline]
    pub fn peek(&self, tti: u64) -> Option<(&[u8; BLOCK], u64)> {
        if let Self::Cqi(reporter) = self { reporter.peek(tti) } else { None }
    }

    /// Returns the number of payload units in the block for each of `cqis`, which [`Self::peek`] has
    /// returned. The number is 0 if the CQI allows no block, or if the method uses no CQIs.
    pub fn units<const N: usize>(&self, cqis: &[u8; N], limits: Limits) -> [u32; N] {
        if let Self::Cqi(reporter) = self { reporter.units(cqis, limits) } else { [0; N] }
    }

    /// Returns the number of units in the largest block, `u64::MAX` if the method uses no CQIs.
    #[inline]
    pub fn max_units(&self) -> u64 {
        if let Self::Cqi(reporter) = self { reporter.max_units() } else { u64::MAX }
    }

    /// Returns an upper bound of the CQIs in TTI `tti` and later TTIs, and the first TTI in which
    /// the bound is not valid. Returns `None` if the bound is not cheap to compute, or if the
    /// method uses no CQIs.
    pub fn peak(&self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> Option<(u8, u64)> {
        if let Self::Cqi(reporter) = self { reporter.peak(channel, sequence, tti) } else { None }
    }

    /// Returns true if the channel quality is a CQI, false if it is a value in decibels.
    pub fn has_cqis(&self) -> bool {
        matches!(self, Self::Cqi(_))
    }

    /// Returns true if the channel quality is a CQI or the SNR in dB, false if it follows from a
    /// recorded rate.
    pub fn sees_channel(&self) -> bool {
        !matches!(self, Self::Recorded(_))
    }

    /// Returns true if ACKs and NACKs change the blocks that are offered later.
    pub fn learns(&self) -> bool {
        matches!(self, Self::Cqi(reporter) if reporter.learns())
    }

    /// Processes the first answer to a block; only the outer loop of CQI reports uses it.
    pub fn on_answer(&mut self, answer: FirstAnswer) {
        if let Self::Cqi(reporter) = self {
            reporter.on_answer(answer);
        }
    }
}
