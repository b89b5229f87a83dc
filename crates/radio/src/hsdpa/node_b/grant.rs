use super::selection::{CachedBlocks, QualityBound};
use super::user::User;
use crate::hsdpa::adaptation::{Limits, Offer};
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::profile::BLOCK;
use nodeb_air::mac::sched::{Candidate, View};

#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// A CQI, or a value in dB.
    pub quality: f32,
    /// `None` for a retransmission.
    pub offer: Option<Offer>,
    pub codes: u32,
    pub units: u32,
}

impl User {
    #[inline]
    pub fn grant(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> Option<Grant> {
        let quality = self.quality(tti, sequence);
        self.grant_at(quality, tti, limits)
    }

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

    /// Units that could be sent and channel quality, cached for following TTIs in `cached`.
    #[inline]
    pub fn look(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        cached: &mut CachedBlocks,
    ) -> (u32, f32) {
        cached.recall(tti).unwrap_or_else(|| self.compute(tti, limits, sequence, cached))
    }

    pub fn compute(
        &mut self,
        tti: u64,
        limits: Limits,
        sequence: &JakesSequence,
        cached: &mut CachedBlocks,
    ) -> (u32, f32) {
        self.listen(tti);
        let quality = self.quality(tti, sequence);
        if let Some(plan) = self.plan(tti, limits) {
            *cached = plan;
            return cached.recall(tti).unwrap_or((0, quality));
        }
        (self.grant_at(quality, tti, limits).map_or(0, |grant| grant.units), quality)
    }

    /// Bounds for `tti` and some TTIs after it, until a refresh; [`QualityBound::NONE`] if they are not cheap.
    pub fn quality_bound(&mut self, tti: u64, limits: Limits, sequence: &JakesSequence) -> QualityBound {
        let Some((cqi, until)) = self.adapter.peak(&mut self.channel, sequence, tti) else {
            return QualityBound::NONE;
        };
        let (quality, retransmission_at) = (f32::from(cqi), self.processes.first_retransmission());
        if retransmission_at <= tti {
            // A retransmitted block may be larger than the current CQI allows, so there is no
            // useful bound.
            return QualityBound { units: u32::MAX, quality, until };
        }
        let [units] = self.adapter.units(&[cqi], Limits { units: self.available(), ..limits });
        QualityBound { units, quality, until: until.min(retransmission_at) }
    }

    /// `None` if the CQI of TTI `tti` was not computed ahead.
    fn plan(&self, tti: u64, limits: Limits) -> Option<CachedBlocks> {
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
        Some(CachedBlocks { first, until, units, cqi: *cqi })
    }

    /// With a full queue and a free HARQ process.
    pub fn full_queue_grant(&self, quality: f32, limits: Limits) -> Option<Grant> {
        self.grant_of(quality, Limits { units: u64::MAX, ..limits })
    }

    fn grant_of(&self, quality: f32, limits: Limits) -> Option<Grant> {
        let offer = self.adapter.offer(quality, limits)?;
        Some(Grant { quality, offer: Some(offer), codes: offer.codes, units: offer.units })
    }

    /// 0 for a retransmission or a block that cannot fail.
    pub fn first_bler(&mut self, tti: u64, grant: Grant, sharers: u32, sequence: &JakesSequence) -> f64 {
        let Some(curve) = grant.offer.and_then(|offer| offer.curve) else {
            return 0.0;
        };
        let snr = self.channel.snr(sequence, tti) / sharers.max(1) as f32;
        self.curves.bler(curve, 10.0 * libm::log10(f64::from(snr)))
    }

    /// A retransmission is not made smaller.
    pub fn limit(&self, grant: Grant, limits: Limits) -> Option<Grant> {
        match grant.offer {
            Some(_) => self.offer(grant.quality, limits),
            None => Some(grant).filter(|grant| grant.codes <= limits.codes),
        }
    }

    /// The deadline is 0 unless `view` requires it.
    #[inline]
    pub fn candidate(&self, user: usize, rate: u32, quality: f32, view: View) -> Candidate {
        let deadline = if view.deadline { self.deadline() } else { 0 };
        Candidate { user, rate, quality, deadline }
    }

    /// TTI since which the next packet waits (0 without one) plus the delay budget.
    pub fn deadline(&self) -> u64 {
        self.packets.waits_since().unwrap_or(0) + self.delay_budget
    }

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
