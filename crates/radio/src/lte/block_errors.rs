//! Block error rates of a cell's transport formats, by MCS and resource elements.

use std::cell::RefCell;

use super::adaptation::Allocation;
use super::curves;
use super::mcs::McsTable;
use crate::error::curves::BlockErrorRate;

/// Block error rate at which a base station expects the first transmissions of blocks (TS 36.213, 7.2.3).
pub const TARGET: f32 = 0.1;

/// Block error rate of a format, with the SNR that it requires.
#[derive(Clone, Debug)]
struct Known {
    elements: u32,
    /// Smallest linear SNR at which the rate is at most [`TARGET`], with the loss of the implementation.
    required_snr: f32,
    /// Rate by SNR; `None` if the tables have no such block.
    rate: Option<BlockErrorRate>,
}

/// Block error rates by MCS, each computed when it is needed first.
#[derive(Debug)]
pub struct BlockErrors {
    mcss: McsTable,
    /// Factor by which the SNR must exceed that of the curves.
    loss: f32,
    /// For each MCS the known rates, in ascending order of resource elements.
    known: RefCell<Vec<Vec<Known>>>,
}

impl BlockErrors {
    /// Creates the rates of a table of `count` MCSs, for receivers that need `loss_db` dB more than the curves.
    pub fn new(mcss: McsTable, count: usize, loss_db: f64) -> Self {
        let loss = libm::pow(10.0, loss_db / 10.0) as f32;
        Self { mcss, loss, known: RefCell::new(vec![Vec::new(); count]) }
    }

    /// Returns the smallest linear SNR at which a block of an MCS fails with at most [`TARGET`].
    pub fn required_snr(&self, mcs: u8, allocation: Allocation) -> f32 {
        self.with(mcs, allocation, |known| known.required_snr)
    }

    /// Returns the probability, 0 to 1, that a block of an MCS fails at a linear SNR.
    pub fn bler(&self, mcs: u8, allocation: Allocation, snr: f32) -> f64 {
        let snr = snr / self.loss;
        self.with(mcs, allocation, |known| known.rate.as_ref().map_or(1.0, |rate| f64::from(rate.at(snr))))
    }

    /// Passes the rate of a format to `look`, and returns the result of `look`.
    fn with<R>(&self, mcs: u8, allocation: Allocation, look: impl FnOnce(&Known) -> R) -> R {
        let known = &mut self.known.borrow_mut()[usize::from(mcs)];
        let place = known.binary_search_by_key(&allocation.elements, |known| known.elements);
        let place = place.unwrap_or_else(|place| {
            known.insert(place, self.compute(mcs, allocation));
            place
        });
        look(&known[place])
    }

    #[cold]
    fn compute(&self, mcs: u8, allocation: Allocation) -> Known {
        let rate = curves::block_error_rate(curves::turbo(), allocation, self.mcss, mcs);
        let required_snr = rate.as_ref().map_or(f32::INFINITY, |rate| self.loss * rate.snr(TARGET));
        Known { elements: allocation.elements, required_snr, rate }
    }
}
