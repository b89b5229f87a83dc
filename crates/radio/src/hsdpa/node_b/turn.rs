//! What a user would be sent if it were its turn.

use super::slot::Slot;
use super::user::User;
use crate::cell::doppler::JakesSequence;
use crate::cell::profile::BLOCK;
use crate::hsdpa::adaptation::{Limits, Offer};
use crate::mac::sched::{Candidate, View};

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

impl User {
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
        let (cqi, first) = self.adapter.peek(tti)?;
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
}
