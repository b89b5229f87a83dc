use super::standard::CQIS;

/// Of an f32's bits; the others number a step of at most 0.5 dB.
const STEP_BITS: u32 = f32::MANTISSA_DIGITS - 1 - 3;
const STEPS: usize = 1 << (u32::BITS - STEP_BITS);

/// The sum of an SNR's bits and the entry of its step has the CQI above [`STEP_BITS`] bits: a carry counts the
/// CQI that begins within the step.
#[derive(Debug)]
pub struct CqiOfSnr(Box<[u32; STEPS]>);

impl CqiOfSnr {
    /// By the smallest linear SNR of each CQI, in ascending order and at least 0.5 dB apart; that of CQI 0 is
    /// not looked at.
    pub fn new(thresholds: &[f32; CQIS as usize]) -> Self {
        let mut entries = Box::new([0; STEPS]);
        let mut cqi = 0;
        for (step, entry) in (0u32..).zip(entries.iter_mut()) {
            let begin = step << STEP_BITS;
            let next = |cqi: u32| thresholds.get(cqi as usize + 1).map_or(f32::NAN, |threshold| *threshold);
            if f32::from_bits(begin) >= next(cqi) {
                cqi += 1;
            }
            let (from, threshold) = (f32::from_bits(begin), next(cqi).to_bits());
            *entry = if from.is_sign_negative() || from.is_nan() {
                begin.wrapping_neg()
            } else if threshold >> STEP_BITS == step {
                cqi += 1;
                (cqi << STEP_BITS).wrapping_sub(threshold)
            } else {
                (cqi << STEP_BITS).wrapping_sub(begin)
            };
        }
        Self(entries)
    }

    /// 0 for negative SNRs.
    #[inline]
    pub fn at(&self, snr: f32) -> u8 {
        let bits = snr.to_bits();
        (self.0[(bits >> STEP_BITS) as usize].wrapping_add(bits) >> STEP_BITS) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::cqi::CqiTable;

    #[test]
    fn cqis_are_those_whose_thresholds_are_reached() {
        for table in [CqiTable::Qam64, CqiTable::Qam256] {
            let thresholds: [f32; CQIS as usize] = std::array::from_fn(|cqi| {
                table.row(cqi as u8).map_or(f32::NAN, |row| row.efficiency() as f32)
            });
            let cqi_of = CqiOfSnr::new(&thresholds);
            let expected = |snr: f32| thresholds.iter().filter(|threshold| snr >= **threshold).count() as u8;
            let near = |snr: f32| [snr.next_down(), snr, snr.next_up()];
            let sweep = (0..2_000).map(|step| 1e-4 * 1.01f32.powi(step));
            for snr in thresholds[1..].iter().copied().chain(sweep).flat_map(near) {
                assert_eq!(cqi_of.at(snr), expected(snr), "{snr}");
            }
            assert_eq!([-1.0, 0.0, f32::INFINITY].map(|snr| cqi_of.at(snr)), [0, 0, 15]);
        }
    }
}
