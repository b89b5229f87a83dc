//! Computation of the block that a user would be sent in a TTI.

use super::slot::{Peak, Slot};
use super::user::User;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::hsdpa::adaptation::{Limits, Offer};
use crate::mac::sched::{Candidate, View};

/// Block that the Node B would send to a user in a TTI.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// Channel quality by which the Node B selected the block: a CQI, or a value in decibels.
    pub quality: f32,
    /// New block, or `None` if the block is a retransmission.
    pub offer: Option<Offer>,
    /// Number of HS-PDSCH codes that the block takes.
    pub codes: u32,
    pub units: u32,
}

impl User {
    /// Returns the block that could be sent to the user in TTI `tti`, or `None` if nothing can be
    /// sent.
    #[inline]
    pub fn grant(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Option<Grant> {
        let quality = self.quality(tti, sequence);
        self.grant_at(quality, tti, limits)
    }

    /// Returns the block that could be sent in TTI `tti` at the channel quality `quality`, or
    /// `None` if nothing can be sent.
    fn grant_at(&self, quality: f32, tti: u64, limits: Limits) -> Option<Grant> {
        if let Some(block) = self.processes.retransmission(tti) {
            let (codes, units) = (block.format.codes, block.size);
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

    /// Returns the number of units that could be sent in TTI `tti`, 0 if nothing can be sent, and
    /// the channel quality that the Node B uses. Caches these values for following TTIs in `slot`.
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

    /// Computes what [`Self::look`] returns if nothing is cached for TTI `tti` in `slot`.
    pub fn compute(
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

    /// Returns upper bounds of the number of units in a block for the user and of the channel
    /// quality in TTI `tti` and some TTIs after it. A refresh of the user's cached state also
    /// invalidates these bounds. Returns [`Peak::NONE`] if they are not cheap to compute.
    pub fn peak(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Peak {
        let Some((cqi, until)) = self.adapter.peak(&mut self.channel, sequence, tti) else {
            return Peak::NONE;
        };
        let (quality, retransmission_at) = (f32::from(cqi), self.processes.first_retransmission());
        if retransmission_at <= tti {
            // A retransmitted block may be larger than the current CQI allows, so there is no
            // useful bound.
            return Peak { units: u32::MAX, quality, until };
        }
        let [units] = self.adapter.units(&[cqi], Limits { units: self.available(), ..limits });
        Peak { units, quality, until: until.min(retransmission_at) }
    }

    /// Returns the units and CQIs to be cached for TTI `tti` and for following TTIs whose CQIs were
    /// computed ahead. Returns `None` if the CQI of TTI `tti` was not computed ahead.
    fn plan(&self, tti: u64, limits: Limits) -> Option<Slot> {
        let (cqi, first) = self.adapter.peek(tti)?;
        let mut until = (first + BLOCK as u64).min(self.processes.unchanged_until(tti));
        if self.adapter.learns() {
            until = until.min(self.processes.next_answer());
        }
        let units = if let Some(block) = self.processes.retransmission(tti) {
            [if block.format.codes <= limits.codes { block.size } else { 0 }; BLOCK]
        } else if self.available() == 0 || !self.processes.has_free(tti) {
            [0; BLOCK]
        } else {
            self.adapter.units(cqi, Limits { units: self.available(), ..limits })
        };
        Some(Slot { first, until, units, cqi: *cqi })
    }

    /// Returns the new block that could be sent if the user's queue were full and a HARQ process were
    /// free. Returns `None` if no payload unit fits or too few codes are free.
    pub fn full_queue_grant(&self, quality: f32, limits: Limits) -> Option<Grant> {
        self.grant_of(quality, Limits { units: u64::MAX, ..limits })
    }

    fn grant_of(&self, quality: f32, limits: Limits) -> Option<Grant> {
        let offer = self.adapter.offer(quality, limits)?;
        Some(Grant { quality, offer: Some(offer), codes: offer.codes, units: offer.units })
    }

    /// Returns the probability that the first transmission of a grant's block fails in TTI `tti`,
    /// if `sharers` users share the power. Returns 0 if the grant is a retransmission or its block
    /// cannot fail.
    pub fn first_bler(&mut self, tti: u64, grant: Grant, sharers: u32, sequence: &JakesSequence) -> f64 {
        let Some(curve) = grant.offer.and_then(|offer| offer.curve) else {
            return 0.0;
        };
        let snr = self.channel.snr(sequence, tti) / sharers.max(1) as f32;
        self.curves.bler(curve, 10.0 * libm::log10(f64::from(snr)))
    }

    /// Returns the user's block within `limits`: the codes that other users have left, and the number of
    /// users who share the power. A retransmission is not made smaller. Returns `None` if no block fits.
    pub fn limit(&self, grant: Grant, limits: Limits) -> Option<Grant> {
        match grant.offer {
            Some(_) => self.offer(grant.quality, limits),
            None => Some(grant).filter(|grant| grant.codes <= limits.codes),
        }
    }

    /// Returns the user as a candidate for the scheduler. The deadline is computed only if `view`
    /// requires deadlines; otherwise it is 0.
    #[inline]
    pub fn candidate(&self, user: usize, rate: u32, quality: f32, view: View) -> Candidate {
        let deadline = if view.deadline { self.deadline() } else { 0 };
        Candidate { user, rate, quality, deadline }
    }

    /// Returns the TTI by which the user's next packet should arrive: the TTI since which the
    /// packet waits, plus the delay budget. If no packet waits, the first term is 0.
    pub fn deadline(&self) -> u64 {
        self.packets.waits_since().unwrap_or(0) + self.delay_budget
    }

    /// Asserts that the cached units and channel quality of TTI `tti` equal newly computed ones.
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
