//! Blocks of a cell's transport formats, by MCS and resource elements: sizes and block error rates.
//!
//! What depends on tables of the specifications and on curves only is computed once per process, when it is needed
//! first, and shared by all cells and runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::adaptation::Allocation;
use super::coding::{MAX_CODE_RATE, code_rate};
use super::curves;
use super::mcs::McsTable;
use crate::error::curves::BlockErrorRate;
use crate::error::effective::modulation::Modulation;

/// Block error rate at which a base station expects the first transmissions of blocks (TS 36.213, 7.2.3).
pub const TARGET: f32 = 0.1;

/// Block of an MCS on an allocation.
#[derive(Debug)]
struct Block {
    /// Size in bits, or `None` if the tables have no such block.
    bits: Option<u32>,
    modulation: Modulation,
    /// Whether the code rate is at most [`MAX_CODE_RATE`].
    is_decodable: bool,
    /// Smallest linear SNR at which the rate is at most [`TARGET`].
    required_snr: OnceLock<f32>,
    /// Rate by SNR; `None` if the tables have no such block.
    rate: OnceLock<Option<BlockErrorRate>>,
}

/// Blocks of all MCSs of a table on an allocation, for receivers as good as the curves.
#[derive(Debug)]
pub struct Blocks {
    mcss: McsTable,
    allocation: Allocation,
    by_mcs: Vec<Block>,
}

impl Blocks {
    fn new(mcss: McsTable, allocation: Allocation) -> Self {
        let block = |mcs: u8| {
            let (row, bits) = (mcss.row(mcs)?, allocation.bits(mcss, mcs));
            let elements = allocation.elements * u32::from(allocation.layers);
            let fits = |bits: u32| code_rate(bits, elements, row.modulation) <= MAX_CODE_RATE;
            Some(Block {
                bits,
                modulation: row.modulation,
                is_decodable: bits.is_some_and(fits),
                required_snr: OnceLock::new(),
                rate: OnceLock::new(),
            })
        };
        Self { mcss, allocation, by_mcs: (0..).map_while(block).collect() }
    }

    /// Returns the blocks of a table on an allocation, which all cells share.
    fn shared(mcss: McsTable, allocation: Allocation) -> &'static Self {
        type Known = BTreeMap<(u32, u16, u8), &'static Blocks>;
        static KNOWN: [Mutex<Known>; 3] = [const { Mutex::new(Known::new()) }; 3];
        let mut known = KNOWN[mcss as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let Allocation { blocks, layers, elements } = allocation;
        // There are few allocations, and their blocks are kept until the process ends.
        known
            .entry((elements, blocks, layers))
            .or_insert_with(|| Box::leak(Box::new(Self::new(mcss, allocation))))
    }

    /// Returns the number of MCSs.
    #[inline]
    pub fn count(&self) -> u8 {
        self.by_mcs.len() as u8
    }

    /// Returns the size in bits of the block of an MCS, or `None` if the tables have no such block.
    #[inline]
    pub fn bits(&self, mcs: u8) -> Option<u32> {
        self.by_mcs[usize::from(mcs)].bits
    }

    /// Returns the modulation of an MCS.
    #[inline]
    pub fn modulation(&self, mcs: u8) -> Modulation {
        self.by_mcs[usize::from(mcs)].modulation
    }

    /// Returns true if the block of an MCS has at most `most_bits` bits and a phone must try to decode it, because
    /// its code rate is at most [`MAX_CODE_RATE`] (TS 36.213, 7.1.7).
    #[inline]
    pub fn fits(&self, mcs: u8, most_bits: u32) -> bool {
        let block = &self.by_mcs[usize::from(mcs)];
        block.is_decodable && block.bits.is_some_and(|bits| bits <= most_bits)
    }

    /// Returns the smallest linear SNR at which the block of an MCS fails with at most [`TARGET`].
    #[inline]
    fn required_snr(&self, mcs: u8) -> f32 {
        let required = || curves::required_snr(curves::turbo(), self.allocation, self.mcss, mcs, TARGET);
        let block = &self.by_mcs[usize::from(mcs)];
        *block.required_snr.get_or_init(|| required().unwrap_or(f32::INFINITY))
    }

    /// Returns the probability, 0 to 1, that the block of an MCS fails at a linear SNR.
    #[inline]
    fn bler(&self, mcs: u8, snr: f32) -> f64 {
        let rate = || curves::block_error_rate(curves::turbo(), self.allocation, self.mcss, mcs);
        let rate = self.by_mcs[usize::from(mcs)].rate.get_or_init(rate);
        rate.as_ref().map_or(1.0, |rate| f64::from(rate.at(snr)))
    }
}

/// Block error rates of the receivers of a cell.
#[derive(Debug)]
pub struct BlockErrors {
    mcss: McsTable,
    /// Factor by which the SNR must exceed that of the curves.
    loss: f32,
    /// The blocks that were needed so far, by number of resource blocks and then with their resource elements. Of these
    /// there are few numbers, and most subframes have the same.
    known: RefCell<Vec<Vec<(u32, &'static Blocks)>>>,
}

impl BlockErrors {
    /// Creates the rates of a table of MCSs, for receivers that need `loss_db` dB more than the curves.
    pub fn new(mcss: McsTable, loss_db: f64) -> Self {
        let loss = libm::pow(10.0, loss_db / 10.0) as f32;
        Self { mcss, loss, known: RefCell::default() }
    }

    /// Returns the blocks on an allocation, which has one layer.
    #[inline]
    pub fn blocks(&self, allocation: Allocation) -> &'static Blocks {
        self.find(allocation).unwrap_or_else(|| self.add(allocation))
    }

    #[inline]
    fn find(&self, allocation: Allocation) -> Option<&'static Blocks> {
        let known = self.known.borrow();
        let mut of_size = known.get(usize::from(allocation.blocks))?.iter();
        of_size.find(|(elements, _)| *elements == allocation.elements).map(|(_, blocks)| *blocks)
    }

    #[cold]
    fn add(&self, allocation: Allocation) -> &'static Blocks {
        let (known, blocks) = (&mut self.known.borrow_mut(), Blocks::shared(self.mcss, allocation));
        let place = usize::from(allocation.blocks);
        if known.len() <= place {
            known.resize(place + 1, Vec::new());
        }
        known[place].push((allocation.elements, blocks));
        blocks
    }

    /// Returns the smallest linear SNR at which the block of an MCS fails with at most [`TARGET`].
    #[inline]
    pub fn required_snr(&self, blocks: &Blocks, mcs: u8) -> f32 {
        self.loss * blocks.required_snr(mcs)
    }

    /// Returns the probability, 0 to 1, that the block of an MCS fails at a linear SNR.
    #[inline]
    pub fn bler(&self, blocks: &Blocks, mcs: u8, snr: f32) -> f64 {
        blocks.bler(mcs, snr / self.loss)
    }
}
