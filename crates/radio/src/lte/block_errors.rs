//! Values that depend only on tables and curves are computed once per process, when first needed, and shared
//! by all cells and runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::adaptation::Allocation;
use super::curves;
use super::mcs::McsTable;
use nodeb_air::error::curves::BlockErrorRate;

/// For reporting a CQI and selecting an MCS above 0 (TS 36.213, 7.2.3).
pub const TARGET: f32 = 0.1;

/// A power of two; no table has more MCSs.
const MCSS: usize = 32;

/// All MCSs of a table on one allocation, with the ideal receiver of [`curves`].
#[derive(Debug)]
pub struct Blocks {
    mcss: McsTable,
    allocation: Allocation,
    /// 0 if the tables have no such block.
    bits: [u32; MCSS],
    largest_bits: u32,
    /// Smallest linear SNR with an error rate of at most [`TARGET`], as bits of an f32: NaN until computed,
    /// infinite for blocks that do not exist or need not be decoded (TS 36.213, 7.1.7).
    required_snrs: [AtomicU32; MCSS],
    rates: [OnceLock<BlockErrorRate>; MCSS],
}

impl Blocks {
    fn new(mcss: McsTable, allocation: Allocation) -> Self {
        let bits = std::array::from_fn(|mcs| allocation.bits(mcss, mcs as u8).unwrap_or(0));
        let fits = |mcs: usize| mcs < MCSS && allocation.fits(mcss, mcs as u8);
        let required = |mcs| if fits(mcs) { f32::NAN } else { f32::INFINITY };
        Self {
            mcss,
            allocation,
            bits,
            largest_bits: bits.into_iter().max().unwrap_or(0),
            required_snrs: std::array::from_fn(|mcs| AtomicU32::new(required(mcs).to_bits())),
            rates: [const { OnceLock::new() }; MCSS],
        }
    }

    /// Shared by all cells and runs of the process.
    fn shared(mcss: McsTable, allocation: Allocation) -> &'static Self {
        type Known = BTreeMap<(u32, u16, u8), &'static Blocks>;
        static KNOWN: [Mutex<Known>; 4] = [const { Mutex::new(Known::new()) }; 4];
        let mut known = KNOWN[mcss as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let Allocation { blocks, layers, elements } = allocation;
        // There are few allocations, and their blocks are kept until the process ends.
        let shared = known.entry((elements, blocks, layers));
        shared.or_insert_with(|| Box::leak(Box::new(Self::new(mcss, allocation))))
    }

    #[inline]
    pub fn bits(&self, mcs: u8) -> Option<u32> {
        Some(self.bits[usize::from(mcs) % MCSS]).filter(|bits| *bits > 0)
    }

    /// For [`TARGET`]; infinity if there is none.
    #[inline]
    fn required_snr(&self, mcs: u8) -> f32 {
        // If several threads compute the value at the same time, they store the same value.
        let known = f32::from_bits(self.required_snrs[usize::from(mcs) % MCSS].load(Ordering::Relaxed));
        if known.is_nan() { self.compute_snr(mcs) } else { known }
    }

    #[cold]
    fn compute_snr(&self, mcs: u8) -> f32 {
        let snr = curves::required_snr(curves::turbo(), self.allocation, self.mcss, mcs, TARGET);
        let snr = snr.unwrap_or(f32::INFINITY);
        self.required_snrs[usize::from(mcs) % MCSS].store(snr.to_bits(), Ordering::Relaxed);
        snr
    }

    /// 1 if there is no such block.
    #[inline]
    fn bler(&self, mcs: u8, snr: f32) -> f64 {
        let rate = || {
            let rate = curves::block_error_rate(curves::turbo(), self.allocation, self.mcss, mcs);
            rate.unwrap_or_else(BlockErrorRate::never)
        };
        f64::from(self.rates[usize::from(mcs) % MCSS].get_or_init(rate).at(snr))
    }
}

#[derive(Debug)]
pub struct BlockErrors {
    mcss: McsTable,
    /// Factor by which the SNR must exceed that of the curves.
    loss: f32,
    /// By number of resource blocks (index) and of resource elements; an inner list is short, as most
    /// subframes have equally many.
    known: RefCell<Vec<Vec<(u32, &'static Blocks)>>>,
}

impl BlockErrors {
    pub fn new(mcss: McsTable, loss_db: f64) -> Self {
        let loss = libm::pow(10.0, loss_db / 10.0) as f32;
        Self { mcss, loss, known: RefCell::default() }
    }

    /// One value of this type serves one number of layers, because the cache ignores it.
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

    /// At most `most_bits`, decodable, and failing at most with [`TARGET`].
    #[inline]
    pub fn allows(&self, blocks: &Blocks, mcs: u8, snr: f32, most_bits: u32) -> bool {
        let is_small = most_bits >= blocks.largest_bits || blocks.bits[usize::from(mcs) % MCSS] <= most_bits;
        is_small && snr >= self.loss * blocks.required_snr(mcs)
    }

    /// 1 if there is no such block.
    #[inline]
    pub fn bler(&self, blocks: &Blocks, mcs: u8, snr: f32) -> f64 {
        blocks.bler(mcs, snr / self.loss)
    }
}
