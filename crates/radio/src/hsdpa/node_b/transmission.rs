//! Transmission of a user's blocks by its HARQ processes, and the outcomes of blocks.

use std::ops::Range;

use nodeb_base::rng::uniform;

use super::block::Block;
use super::turn::Grant;
use super::user::User;
use crate::cell::doppler::JakesSequence;
use crate::hsdpa::Hsdpa;
use crate::hsdpa::adaptation::Offer;
use crate::mac::harq::Decoding;
use crate::mac::harq::link_curve::SPREADING_FACTOR;

/// Outcome of a block, which takes effect at the end of its TTI.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub user: usize,
    pub tsn: u64,
    pub units: Range<u64>,
    /// Whether the block was decoded. If not, its units are lost.
    pub decoded: bool,
}

/// Block that was sent, with the result of the transmission.
#[derive(Clone, Debug)]
pub struct SentBlock {
    pub tsn: u64,
    pub units: Range<u64>,
    /// Number of transmissions of the block so far in the serving cell.
    pub transmission: u32,
    /// Whether the units of the block were sent for the first time. False for retransmissions, also
    /// for those after a change of cell.
    pub is_new: bool,
    pub failed: bool,
    /// Final outcome of the block, if this transmission decides it: true if the UE decoded the
    /// block for the first time, false if the Node B sends it no more although it is not decoded.
    /// `None` otherwise.
    pub settled: Option<bool>,
}

impl User {
    /// Sends the block of `grant` in TTI `tti`. Returns the block with the result of the
    /// transmission, or `None` if there was nothing to send.
    pub fn send(
        &mut self,
        tti: u64,
        grant: Grant,
        sharers: u32,
        params: &Hsdpa,
        sequence: &JakesSequence,
    ) -> Option<SentBlock> {
        let (index, mut block) = match grant.offer {
            None => self.processes.take_retransmission(tti)?,
            Some(offer) => self.begin(tti, offer)?,
        };
        block.transmissions += 1;
        let snr = f64::from(self.channel.snr(sequence, tti)) / f64::from(sharers);
        let had_been_decoded = block.decoded;
        let failed = !had_been_decoded && !self.decodes(tti, &mut block, snr, params);
        block.decoded = !failed;
        let cqi = if self.adapter.has_cqis() { grant.quality } else { f32::NAN };
        self.tally.sent(snr, cqi, block.transmissions == 1 && !block.forwarded, failed);

        let error = if block.decoded { params.ack_error } else { params.nack_error };
        let is_wrong = error.0 > 0.0 && uniform(&mut self.draws.feedback) < error.0;
        let acknowledged = block.decoded != is_wrong;
        let may_retransmit = params.max_transmissions.is_none_or(|most| block.transmissions < most.get());
        let is_retransmitted = !acknowledged && may_retransmit;
        let at = params.answer_at(tti);
        self.rested = tti + self.tti_distance;

        let is_settled = block.decoded && !had_been_decoded || !block.decoded && !is_retransmitted;
        let sent = SentBlock {
            tsn: block.tsn,
            units: block.units.clone(),
            transmission: block.transmissions,
            is_new: block.transmissions == 1 && !block.forwarded,
            failed,
            settled: is_settled.then_some(block.decoded),
        };
        let answer = (block.transmissions == 1 && self.adapter.learns()).then_some(acknowledged);
        self.processes.sent(index, block.tsn, at, is_retransmitted.then_some(block), answer);
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
        let block = Block {
            tsn,
            units: self.packets.send(units),
            codes: offer.codes,
            curve: offer.curve,
            transmissions: 0,
            forwarded: false,
            symbol_snr: 0.0,
            decoded: false,
            draw: uniform(&mut self.draws.decoding),
        };
        Some((index, block))
    }

    /// Returns true if the UE can decode the block after a transmission at the linear SNR `snr`
    /// before despreading, combined with earlier transmissions.
    fn decodes(&mut self, tti: u64, block: &mut Block, snr: f64, params: &Hsdpa) -> bool {
        let Some(curve) = block.curve else {
            return true;
        };
        let gain = SPREADING_FACTOR / f64::from(block.codes);
        let n = block.transmissions;
        block.symbol_snr = params.combining.add(block.symbol_snr, snr * gain, n);
        let recorded = self.channel.recorded_combined(tti, n).map(f64::from);
        let combined = recorded.unwrap_or(block.symbol_snr / gain);
        let draw = match params.decoding {
            Decoding::OneNumber => block.draw,
            Decoding::Independent if n == 1 => block.draw,
            Decoding::Independent => uniform(&mut self.draws.decoding),
        };
        self.curves.decodes(curve, combined, draw)
    }
}
