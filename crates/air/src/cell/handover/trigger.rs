//! Event 1D (change of the best cell) of TS 25.331, 14.1.2.4.

use super::Handover;
use crate::cell::plan::Journey;
use crate::numerology::Numerology;

#[derive(Debug)]
pub struct Trigger {
    /// `hysteresis_db` as a linear ratio of powers.
    ratio: f32,
    ttis: u64,
    /// TTI since which each site has been received better than the serving one by at least the hysteresis.
    since: Vec<Option<u64>>,
}

impl Trigger {
    pub fn new(params: &Handover, numerology: Numerology) -> Self {
        Self {
            ratio: libm::pow(10.0, params.hysteresis_db / 10.0) as f32,
            ttis: numerology.ttis(params.time_to_trigger),
            since: vec![None; params.cells],
        }
    }

    /// The site received best if event 1D occurs for several.
    pub fn compare(&mut self, tti: u64, journey: &mut Journey) -> Option<usize> {
        let serving = journey.serving();
        let least = journey.strength(serving, tti) * self.ratio;
        let mut best: Option<(f32, usize)> = None;
        for (site, since) in self.since.iter_mut().enumerate() {
            let strength = journey.strength(site, tti);
            if site == serving || strength < least {
                *since = None;
                continue;
            }
            let lasts = tti - *since.get_or_insert(tti) >= self.ttis;
            if lasts && best.is_none_or(|(most, _)| strength > most) {
                best = Some((strength, site));
            }
        }
        let (_, site) = best?;
        self.forget();
        Some(site)
    }

    /// The time to trigger of each site starts again.
    pub fn forget(&mut self) {
        self.since.fill(None);
    }
}
