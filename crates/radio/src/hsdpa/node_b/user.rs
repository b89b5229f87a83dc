//! One user of HS-DSCH: its channel, what the Node B keeps for it, and its receiver.

use std::ops::Range;

use super::block::Block;
use super::slot::Slot;
use crate::UserRadio;
use crate::cell::channel::Channel;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::hsdpa::adaptation::cqi::Tables;
use crate::hsdpa::adaptation::curves::Curves;
use crate::hsdpa::adaptation::recorded::RecordedRate;
use crate::hsdpa::adaptation::{Adapter, Limits, Link, Offer};
use crate::hsdpa::format::least_tti_distance;
use crate::hsdpa::handover::Trigger;
use crate::hsdpa::rnc::rlc::Packets;
use crate::hsdpa::tally::Tally;
use crate::hsdpa::{Decoding, Hsdpa};
use crate::mac::harq::link_curve::SPREADING_FACTOR;
use crate::mac::harq::processes::Processes;
use crate::mac::reordering::ReorderingQueue;
use crate::mac::sched::{Candidate, View};
use crate::numerology::Numerology;
use crate::rng::{Stream, Streams, uniform};

/// What a user would be sent in a TTI.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// What the Node B knows of the channel.
    pub quality: f32,
    /// The new block, or none if a failed one goes again.
    pub offer: Option<Offer>,
    /// Codes and units of whichever it is.
    pub codes: u32,
    pub units: u32,
}

/// How a block fared, to be acted on at the end of its TTI.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub user: usize,
    pub tsn: u64,
    pub units: Range<u64>,
    /// Decoded for the first time; otherwise lost for good.
    pub decoded: bool,
}

/// One user.
#[derive(Debug)]
pub struct User {
    pub channel: Channel,
    pub adapter: Adapter,
    curves: Curves,
    numerology: Numerology,
    pub processes: Processes<Block>,
    pub packets: Packets,
    pub reordering: ReorderingQueue<Range<u64>>,
    pub tally: Tally,
    /// New units at the Node B.
    queue: u64,
    /// Whether blocks are filled from the RNC itself, there being no Iub.
    direct: bool,
    /// Least distance of TTIs, and the first TTI that is far enough from the last.
    pub tti_distance: u64,
    rested: u64,
    /// TTIs that a packet may wait.
    pub delay_budget: u64,
    /// The cell that serves it, and when it changes.
    pub serving: usize,
    trigger: Option<Box<Trigger>>,
    /// The first TTI after a change of cell in which it can be sent to.
    pub resumes: u64,
    draws: Box<Draws>,
}

/// Random streams. They are large, and looked at only when something is sent.
#[derive(Debug)]
struct Draws {
    decoding: Stream,
    feedback: Stream,
}

impl User {
    pub fn new(params: &Hsdpa, user: &UserRadio, streams: Streams, tables: &mut Tables) -> Self {
        let (ue, numerology) = (&user.ue, params.numerology());
        let window = u64::from(params.reordering_window.get());
        let curves = Curves::new(params.link_curve.as_deref());
        let link = Link { payload: params.payload(), curves: &curves, numerology };
        let adapter = if ue.channel.has_rates() {
            Adapter::Recorded(RecordedRate::new(params.payload(), numerology))
        } else {
            params.link_adaptation.build(ue.category, &link, user.id, &streams, tables)
        };
        let channel = ue.channel.build(&params.cell, params.served(), user.id, &streams, numerology);
        Self {
            serving: channel.serving(),
            channel,
            adapter,
            curves,
            numerology,
            processes: Processes::new(params.processes.get(), window),
            packets: params.rlc.build(params.payload(), params.buffer.get() as usize, user.id, &streams),
            reordering: ReorderingQueue::new(window, numerology.ttis(params.t1)),
            tally: Tally::default(),
            queue: 0,
            direct: params.iub.is_none(),
            tti_distance: least_tti_distance(ue.category),
            rested: 0,
            delay_budget: ue.delay_budget.0 / numerology.tti.0,
            trigger: params.handover.as_ref().map(|handover| Box::new(Trigger::new(handover, numerology))),
            resumes: 0,
            draws: Box::new(Draws {
                decoding: streams.stream("user", user.id, "decoding"),
                feedback: streams.stream("user", user.id, "feedback"),
            }),
        }
    }

    /// Units have come to the Node B.
    pub fn enqueue(&mut self, units: u64) {
        self.queue += units;
    }

    /// New units that a block can be filled with.
    fn available(&self) -> u64 {
        if self.direct { self.queue + self.packets.waiting() } else { self.queue }
    }

    /// The first TTI in which there may be something to send.
    pub fn ready(&self) -> u64 {
        self.processes.ready(self.available() > 0).max(self.rested).max(self.resumes)
    }

    /// The Node B takes note of the answers that are there by TTI number `tti`.
    #[inline]
    pub fn listen(&mut self, tti: u64) {
        let adapter = &mut self.adapter;
        self.processes.listen(tti, |acknowledged| adapter.hear(acknowledged));
    }

    /// What the Node B knows of the channel in TTI number `tti`.
    #[inline]
    pub fn quality(&mut self, tti: u64, sequence: &JakesSequence) -> f32 {
        self.adapter.quality(&mut self.channel, sequence, tti)
    }

    /// What could be sent in TTI number `tti`, if anything.
    #[inline]
    pub fn grant(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Option<Grant> {
        let quality = self.quality(tti, sequence);
        self.grant_at(quality, tti, limits)
    }

    /// What could be sent in TTI number `tti` at this quality, if anything.
    fn grant_at(&self, quality: f32, tti: u64, limits: Limits) -> Option<Grant> {
        if let Some(block) = self.processes.again(tti) {
            let (codes, units) = (block.codes, (block.units.end - block.units.start) as u32);
            return (codes <= limits.codes).then_some(Grant { quality, offer: None, codes, units });
        }
        if self.available() == 0 || !self.processes.has_free(tti) {
            return None;
        }
        self.offer(quality, limits)
    }

    fn offer(&self, quality: f32, limits: Limits) -> Option<Grant> {
        self.grant_of(quality, Limits { units: self.available(), ..limits })
    }

    /// How many units could be sent in TTI number `tti`, 0 for nothing, and what the Node B knows of the channel.
    /// The slot keeps that for as many TTIs as it is known for.
    #[inline]
    pub fn look(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        slot: &mut Slot,
    ) -> (u32, f32) {
        slot.recall(tti).unwrap_or_else(|| self.look_anew(tti, limits, sequence, slot))
    }

    fn look_anew(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        slot: &mut Slot,
    ) -> (u32, f32) {
        self.listen(tti);
        let quality = self.quality(tti, sequence);
        if let Some(plan) = self.plan(tti, limits) {
            *slot = plan;
            return slot.recall(tti).unwrap_or((0, quality));
        }
        (self.grant_at(quality, tti, limits).map_or(0, |grant| grant.units), quality)
    }

    /// Units and a quality that are not exceeded from TTI number `tti` to the one that comes with them, as long as
    /// nothing happens to the user; where that is cheap to find.
    pub fn peak(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Option<((u32, f32), u64)> {
        let (cqi, until) = self.adapter.peak(&mut self.channel, sequence, tti)?;
        let units = if self.processes.has_again() {
            // It may be larger than what the channel allows now.
            u32::MAX
        } else {
            let [units] = self.adapter.units(&[cqi], Limits { units: self.available(), ..limits });
            units
        };
        Some(((units, f32::from(cqi)), until))
    }

    /// What would be sent in TTI number `tti` and those after it, if that is known now.
    fn plan(&self, tti: u64, limits: Limits) -> Option<Slot> {
        let (cqi, first) = self.adapter.known(tti)?;
        let mut until = (first + BLOCK as u64).min(self.processes.holds_until(tti));
        if self.adapter.learns() {
            until = until.min(self.processes.next_answer());
        }
        let units = if let Some(block) = self.processes.again(tti) {
            [if block.codes <= limits.codes { (block.units.end - block.units.start) as u32 } else { 0 };
                BLOCK]
        } else if self.available() == 0 || !self.processes.has_free(tti) {
            [0; BLOCK]
        } else {
            self.adapter.units(cqi, Limits { units: self.available(), ..limits })
        };
        Some(Slot { first, until, units, cqi: *cqi })
    }

    /// What could be sent if the queue were full and a process free.
    pub fn full_queue_grant(&self, quality: f32, limits: Limits) -> Option<Grant> {
        self.grant_of(quality, Limits { units: u64::MAX, ..limits })
    }

    fn grant_of(&self, quality: f32, limits: Limits) -> Option<Grant> {
        let offer = self.adapter.offer(quality, limits)?;
        Some(Grant { quality, offer: Some(offer), codes: offer.codes, units: offer.units })
    }

    /// The probability that the first transmission of a grant's block fails in TTI number `tti`.
    pub fn first_bler(&mut self, tti: u64, grant: Grant, sharers: u32, sequence: &JakesSequence) -> f64 {
        let Some(curve) = grant.offer.and_then(|offer| offer.curve) else {
            return 0.0;
        };
        let snr = self.channel.snr(sequence, tti) / sharers.max(1) as f32;
        let snr = self.channel.recorded_combined(tti, 1).unwrap_or(snr);
        self.curves.bler(curve, 10.0 * libm::log10(f64::from(snr)))
    }

    /// Whether it may come into another cell.
    pub fn moves(&mut self) -> bool {
        self.trigger.is_some() && self.channel.journey().is_some()
    }

    /// It compares the Node Bs in TTI number `tti`, unless a change is under way; whether its cell changes.
    pub fn compare(&mut self, tti: u64) -> bool {
        if tti >= self.resumes
            && let (Some(trigger), Some(journey)) = (&mut self.trigger, self.channel.journey())
            && let Some(site) = trigger.compare(tti, journey)
        {
            journey.change(site);
            self.serving = site;
            return true;
        }
        false
    }

    /// It belongs to the cell that is received best in TTI number `tti`.
    pub fn reselect(&mut self, tti: u64) {
        if let (Some(trigger), Some(journey)) = (&mut self.trigger, self.channel.journey()) {
            trigger.forget();
            self.serving = journey.best(tti);
            journey.change(self.serving);
        }
    }

    /// Its cell has changed without a reset of MAC-hs.
    pub fn begin_blocks_again(&mut self) {
        self.processes.begin_again(self.resumes, Block::begin_again);
        self.reordering.delay_timer(self.resumes);
    }

    /// MAC-hs is reset, here and in the phone; what becomes of what it held.
    pub fn flush(&mut self) -> Flushed {
        let queued = std::mem::take(&mut self.queue);
        let arrived = self.reordering.reset().into_iter().map(|units| (units, false));
        let lost = self.processes.flush().filter(|block| !block.decoded);
        let on_air = lost.map(|block| (block.units, true));
        let mut all: Vec<_> = arrived.chain(on_air).collect();
        if queued > 0 {
            all.push((self.packets.send(queued), true));
        }
        Flushed { all, queued }
    }

    /// The same grant when others have taken codes.
    pub fn limit(&self, grant: Grant, limits: Limits) -> Option<Grant> {
        match grant.offer {
            Some(_) => self.offer(grant.quality, limits),
            None => Some(grant).filter(|grant| grant.codes <= limits.codes),
        }
    }

    /// The user as a scheduler sees it that looks at so much.
    #[inline]
    pub fn candidate(&self, user: usize, rate: u32, quality: f32, view: View) -> Candidate {
        let deadline = if view.deadline { self.deadline() } else { 0 };
        Candidate { user, rate, quality, deadline }
    }

    /// TTI by which its next packet shall be there.
    pub fn deadline(&self) -> u64 {
        self.packets.waits_since().unwrap_or(0) + self.delay_budget
    }

    /// What is remembered of a TTI is what is found when one looks.
    #[cfg(test)]
    pub fn assert_remembered(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        (rate, quality): (u32, f32),
    ) {
        assert!(!self.adapter.learns() || self.processes.next_answer() > tti, "an answer was not heard");
        let fresh = self.grant(tti, limits, sequence).map_or(0, |grant| grant.units);
        assert_eq!(rate, fresh, "units in TTI {tti}");
        assert_eq!(quality.to_bits(), self.quality(tti, sequence).to_bits(), "quality in TTI {tti}");
    }

    /// Sends a grant's block in TTI number `tti`: units sent, new ones among them, whether it failed,
    /// and how it fared if that is settled.
    pub fn send(
        &mut self,
        tti: u64,
        grant: Grant,
        sharers: u32,
        params: &Hsdpa,
        sequence: &JakesSequence,
    ) -> Option<SentBlock> {
        let (index, mut block) = match grant.offer {
            None => self.processes.take_again(tti)?,
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
        let misheard = error.0 > 0.0 && uniform(&mut self.draws.feedback) < error.0;
        let acknowledged = block.decoded != misheard;
        let may_again = params.max_transmissions.is_none_or(|most| block.transmissions < most.get());
        let goes_again = !acknowledged && may_again;
        let at = params.answer_at(tti);
        self.rested = tti + self.tti_distance;

        let is_settled = block.decoded && !had_been_decoded || !block.decoded && !goes_again;
        let sent = SentBlock {
            tsn: block.tsn,
            units: block.units.clone(),
            transmission: block.transmissions,
            is_new: block.transmissions == 1 && !block.forwarded,
            failed,
            settled: is_settled.then_some(block.decoded),
        };
        let answer = (block.transmissions == 1 && self.adapter.learns()).then_some(acknowledged);
        self.processes.sent(index, block.tsn, at, goes_again.then_some(block), answer);
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
            fortune: uniform(&mut self.draws.decoding),
        };
        Some((index, block))
    }

    /// Whether a transmission with this SNR (linear, per chip) makes the block readable.
    fn decodes(&mut self, tti: u64, block: &mut Block, snr: f64, params: &Hsdpa) -> bool {
        let Some(curve) = block.curve else {
            return true;
        };
        let gain = SPREADING_FACTOR / f64::from(block.codes);
        let n = block.transmissions;
        block.symbol_snr = params.combining.add(block.symbol_snr, snr * gain, n);
        let recorded = self.channel.recorded_combined(tti, n).map(f64::from);
        let combined = recorded.unwrap_or(block.symbol_snr / gain);
        let luck = match params.decoding {
            Decoding::OneNumber => block.fortune,
            Decoding::Independent if n == 1 => block.fortune,
            Decoding::Independent => uniform(&mut self.draws.decoding),
        };
        self.curves.spares(curve, 10.0 * libm::log10(combined), luck)
    }
}

/// What a reset of MAC-hs leaves.
#[derive(Debug)]
pub struct Flushed {
    /// Units, and whether they are lost; otherwise they have arrived.
    pub all: Vec<(Range<u64>, bool)>,
    /// Of these the ones that had not been sent.
    pub queued: u64,
}

/// What was sent.
#[derive(Clone, Debug)]
pub struct SentBlock {
    pub tsn: u64,
    pub units: Range<u64>,
    /// How often it has been sent.
    pub transmission: u32,
    /// Whether its units were sent for the first time.
    pub is_new: bool,
    pub failed: bool,
    /// Whether it was decoded, if that is decided now.
    pub settled: Option<bool>,
}
