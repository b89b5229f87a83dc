use super::grant::Grant;
use super::user::User;
use crate::hsdpa::adaptation::Offer;
use crate::hsdpa::adaptation::curves::Curves;
use nodeb_air::cell::channel::Channel;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::mac::harq::block::{self, Draws, Rules, SentBlock};
use nodeb_air::mac::harq::link_curve::SPREADING_FACTOR;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    pub codes: u32,
    /// CQI whose BLER curve decides; `None` if the block cannot fail.
    pub curve: Option<u8>,
}

/// Numbered by the transmission sequence number, which is modulo 64 on the air; its SNR is per symbol, after
/// despreading.
pub type Block = block::Block<Format>;

impl User {
    /// `sharers` users share the power.
    pub fn send(
        &mut self,
        tti: u64,
        grant: Grant,
        sharers: u32,
        answer_at: u64,
        rules: &Rules,
        sequence: &JakesSequence,
    ) -> Option<SentBlock> {
        let (index, mut block) = match grant.offer {
            None => self.processes.take_retransmission(tti)?,
            Some(offer) => self.begin(tti, offer)?,
        };
        let Self { channel, curves, draws, .. } = self;
        let sharers = f64::from(sharers);
        let snr = f64::from(channel.snr(sequence, tti)) / sharers;
        let decodes = |block: &mut Block, draws: &mut Draws| {
            let Some(curve) = block.format.curve else { return true };
            decodes(block, curve, curves, (tti, channel), (snr, sharers), rules, draws)
        };
        let (sent, answer) = block.send(rules, draws, decodes);
        let cqi = if self.adapter.has_cqis() { grant.quality } else { f32::NAN };
        self.tally.sent(snr, cqi, sent.is_new, sent.failed);
        self.rested = tti + self.tti_distance;
        let learns = block.transmissions == 1 && self.adapter.learns();
        let first = learns.then(|| self.processes.first_answer(tti, answer.acknowledged));
        self.processes.sent(index, block.number, answer_at, answer.is_retransmitted.then_some(block), first);
        Some(sent)
    }

    fn begin(&mut self, tti: u64, offer: Offer) -> Option<(usize, Block)> {
        let room = u64::from(offer.units);
        if self.direct && self.queue < room {
            self.queue += self.packets.take_for(self.numerology.beginning(tti), room - self.queue);
        }
        let units = room.min(self.queue);
        if units == 0 {
            return None;
        }
        let (index, tsn) = self.processes.begin(tti)?;
        self.queue -= units;
        let format = Format { codes: offer.codes, curve: offer.curve };
        Some((index, Block::new(tsn, self.packets.send(units), units as u32, format, &mut self.draws)))
    }
}

/// `snr` is linear with the user's share of the power, before despreading; combined with earlier ones. A
/// recorded SNR for this number of transmissions, divided by `sharers`, replaces the result.
#[inline]
fn decodes(
    block: &mut Block,
    curve: u8,
    curves: &Curves,
    (tti, channel): (u64, &Channel),
    (snr, sharers): (f64, f64),
    rules: &Rules,
    draws: &mut Draws,
) -> bool {
    let gain = SPREADING_FACTOR / f64::from(block.format.codes);
    block.combine(snr * gain, rules);
    let recorded = channel.recorded_combined(tti, block.transmissions).map(|snr| f64::from(snr) / sharers);
    let combined = recorded.unwrap_or(block.snr / gain);
    curves.decodes(curve, combined, block.draw(rules, draws))
}
