pub mod cqi;
pub mod curves;
pub mod recorded;
pub mod shannon;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;

use self::curves::Curves;
use nodeb_air::cell::channel::Channel;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::profile::BLOCK;
use nodeb_air::mac::outer_loop::FirstAnswer;
use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::umts::payload::Payload;

pub trait LinkAdaptationParams {
    /// Every block matches the channel whatever number of codes it has.
    fn is_certain(&self) -> bool {
        false
    }
    /// `_recorded` is true if every user's CQIs are recorded.
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offer {
    /// PDUs or bytes.
    pub units: u32,
    pub codes: u32,
    /// `None` if the block cannot fail.
    pub curve: Option<u8>,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Free ones.
    pub codes: u32,
    /// Users who share the TTI's power.
    pub sharers: u32,
    /// Units that wait.
    pub units: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    pub payload: Payload,
    pub curves: &'a Curves,
    pub numerology: Numerology,
}

#[derive(Debug)]
pub enum Adapter {
    Cqi(cqi::Reporter),
    Shannon(shannon::Genie),
    Recorded(recorded::RecordedRate),
}

impl LinkAdaptationSpec {
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
    /// The reported CQI, the SNR in dB, or 10 log10 of the bits that a recorded rate allows.
    #[inline]
    pub fn quality(&mut self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> f32 {
        match self {
            Self::Cqi(reporter) => f32::from(reporter.report(channel, sequence, tti)),
            Self::Shannon(genie) => genie.look(channel.snr(sequence, tti)),
            Self::Recorded(recorded) => recorded.look(channel.recorded_rate(tti)),
        }
    }

    /// Only CQI reports use `quality`; the other methods use the channel at the last call of
    /// [`Self::quality`], and their blocks never need more codes than are free.
    pub fn offer(&self, quality: f32, limits: Limits) -> Option<Offer> {
        match self {
            Self::Cqi(reporter) => reporter.offer(quality, limits),
            Self::Shannon(genie) => genie.offer(limits),
            Self::Recorded(recorded) => recorded.offer(limits),
        }
    }

    /// CQIs of consecutive TTIs that include `tti`, and the first of these TTIs, if computed ahead.
    #[inline]
    pub fn peek(&self, tti: u64) -> Option<(&[u8; BLOCK], u64)> {
        if let Self::Cqi(reporter) = self { reporter.peek(tti) } else { None }
    }

    /// 0 if the CQI allows no block, or without CQIs.
    pub fn units<const N: usize>(&self, cqis: &[u8; N], limits: Limits) -> [u32; N] {
        if let Self::Cqi(reporter) = self { reporter.units(cqis, limits) } else { [0; N] }
    }

    /// `u64::MAX` without CQIs.
    #[inline]
    pub fn max_units(&self) -> u64 {
        if let Self::Cqi(reporter) = self { reporter.max_units() } else { u64::MAX }
    }

    /// Bound from TTI `tti` on and the first TTI in which it is not valid; `None` if it is not cheap.
    pub fn peak(&self, channel: &mut Channel, sequence: &JakesSequence, tti: u64) -> Option<(u8, u64)> {
        if let Self::Cqi(reporter) = self { reporter.peak(channel, sequence, tti) } else { None }
    }

    pub fn has_cqis(&self) -> bool {
        matches!(self, Self::Cqi(_))
    }

    pub fn sees_channel(&self) -> bool {
        !matches!(self, Self::Recorded(_))
    }

    pub fn learns(&self) -> bool {
        matches!(self, Self::Cqi(reporter) if reporter.learns())
    }

    pub fn on_answer(&mut self, answer: FirstAnswer) {
        if let Self::Cqi(reporter) = self {
            reporter.on_answer(answer);
        }
    }
}
