//! The block that a user would be sent in a TTI.

use super::slot::Slot;
use super::user::User;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::hsdpa::adaptation::{Limits, Offer};
use crate::mac::sched::{Candidate, View};

/// Block that a user would be sent in a TTI.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// Channel quality known to the Node B.
    pub quality: f32,
    /// New block; `None` for a retransmission.
    pub offer: Option<Offer>,
    /// Number of HS-PDSCH codes of the block.
    pub codes: u32,
    pub units: u32,
}

impl User {
    /// Returns the block that could be sent to the user in TTI `tti`, or `None` if there is none.
    #[inline]
    pub fn grant(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Option<Grant> {
        let quality = self.quality(tti, sequence);
        self.grant_at(quality, tti, limits)
    }

    /// Returns the block that could be sent in TTI `tti` at channel quality `quality`, or `None` if
    /// there is none.
    fn grant_at(&self, quality: f32, tti: u64, limits: Limits) -> Option<Grant> {
        if let Some(block) = self.processes.retransmission(tti) {
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

    /// Returns the number of units that could be sent in TTI `tti`, 0 for none, and the channel
    /// quality known to the Node B. Both are cached in `slot` for as many TTIs as they are valid.
    #[inline]
    pub fn look(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        slot: &mut Slot,
    ) -> (u32, f32) {
        slot.recall(tti).unwrap_or_else(|| self.compute(tti, limits, sequence, slot))
    }

    fn compute(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence, slot: &mut Slot) -> (u32, f32) {
        self.listen(tti);
        let quality = self.quality(tti, sequence);
        if let Some(plan) = self.plan(tti, limits) {
            *slot = plan;
            return slot.recall(tti).unwrap_or((0, quality));
        }
        (self.grant_at(quality, tti, limits).map_or(0, |grant| grant.units), quality)
    }

    /// Returns upper bounds, valid from TTI `tti` on, of the units in a block for the user and of the
    /// channel quality; and the TTI at which the bounds end. A refresh of the user's cached state
    /// ends them earlier. Returns `None` if the bounds would take too much time to compute.
    pub fn peak(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Option<((u32, f32), u64)> {
        let (cqi, until) = self.adapter.peak(&mut self.channel, sequence, tti)?;
        let units = if self.processes.has_retransmission() {
            // A retransmitted block may be larger than the channel allows now.
            u32::MAX
        } else {
            let [units] = self.adapter.units(&[cqi], Limits { units: self.available(), ..limits });
            units
        };
        Some(((units, f32::from(cqi)), until))
    }

    /// Returns the units and CQIs for TTI `tti` and TTIs after it, or `None` if they are not known
    /// in advance.
    fn plan(&self, tti: u64, limits: Limits) -> Option<Slot> {
        let (cqi, first) = self.adapter.peek(tti)?;
        let mut until = (first + BLOCK as u64).min(self.processes.unchanged_until(tti));
        if self.adapter.learns() {
            until = until.min(self.processes.next_answer());
        }
        let units = if let Some(block) = self.processes.retransmission(tti) {
            [if block.codes <= limits.codes { (block.units.end - block.units.start) as u32 } else { 0 };
                BLOCK]
        } else if self.available() == 0 || !self.processes.has_free(tti) {
            [0; BLOCK]
        } else {
            self.adapter.units(cqi, Limits { units: self.available(), ..limits })
        };
        Some(Slot { first, until, units, cqi: *cqi })
    }

    /// Returns the new block that could be sent if the queue were full and a HARQ process were
    /// free.
    pub fn full_queue_grant(&self, quality: f32, limits: Limits) -> Option<Grant> {
        self.grant_of(quality, Limits { units: u64::MAX, ..limits })
    }

    fn grant_of(&self, quality: f32, limits: Limits) -> Option<Grant> {
        let offer = self.adapter.offer(quality, limits)?;
        Some(Grant { quality, offer: Some(offer), codes: offer.codes, units: offer.units })
    }

    /// Returns the probability that the first transmission of a grant's block fails in TTI `tti`.
    pub fn first_bler(&mut self, tti: u64, grant: Grant, sharers: u32, sequence: &JakesSequence) -> f64 {
        let Some(curve) = grant.offer.and_then(|offer| offer.curve) else {
            return 0.0;
        };
        let snr = self.channel.snr(sequence, tti) / sharers.max(1) as f32;
        let snr = self.channel.recorded_combined(tti, 1).unwrap_or(snr);
        self.curves.bler(curve, 10.0 * libm::log10(f64::from(snr)))
    }

    /// Returns the grant limited to the codes that other users have left, or `None` if no block
    /// fits.
    pub fn limit(&self, grant: Grant, limits: Limits) -> Option<Grant> {
        match grant.offer {
            Some(_) => self.offer(grant.quality, limits),
            None => Some(grant).filter(|grant| grant.codes <= limits.codes),
        }
    }

    /// Returns the user as a candidate for the scheduler, with the properties that `view` names.
    #[inline]
    pub fn candidate(&self, user: usize, rate: u32, quality: f32, view: View) -> Candidate {
        let deadline = if view.deadline { self.deadline() } else { 0 };
        Candidate { user, rate, quality, deadline }
    }

    /// Returns the TTI by which the user's next packet should arrive: the TTI since which it waits
    /// plus the delay budget.
    pub fn deadline(&self) -> u64 {
        self.packets.waits_since().unwrap_or(0) + self.delay_budget
    }

    /// Asserts that cached results equal newly computed ones.
    #[cfg(test)]
    pub fn assert_cached(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        (rate, quality): (u32, f32),
    ) {
        assert!(!self.adapter.learns() || self.processes.next_answer() > tti, "an answer was not taken");
        let computed = self.grant(tti, limits, sequence).map_or(0, |grant| grant.units);
        assert_eq!(rate, computed, "units in TTI {tti}");
        assert_eq!(quality.to_bits(), self.quality(tti, sequence).to_bits(), "quality in TTI {tti}");
    }
}
