#[cfg(test)]
mod tests;

use super::mcs::McsTable;
use nodeb_air::error::effective::modulation::Modulation;
use nodeb_air::error::effective::{EffectiveSnr, Mapping};

/// Beta for each MCS of [`McsTable::Down64Qam`], fitted for MCS table 1 of NR (TS 38.214, table 5.1.3.1-1),
/// with the same modulations and close code rates; from 5G-LENA, as in Sionna.
const BETAS: [f32; 29] = [
    1.6, 1.61, 1.63, 1.65, 1.67, 1.7, 1.73, 1.76, 1.79, 1.82, 3.97, 4.27, 4.71, 5.16, 5.66, 6.16, 6.5, 9.95,
    10.97, 12.92, 14.96, 17.06, 19.33, 21.85, 24.51, 27.14, 29.94, 32.05, 34.28,
];

// Clause: TR 25.892, A: exponential effective SNR
// Simplified: betas of NR; only for comparisons
/// Takes milliseconds: all users should share one.
pub fn effective_snr(mapping: Mapping) -> EffectiveSnr {
    match mapping {
        Mapping::Information => {
            let modulation = |mcs| McsTable::Down64Qam.row(mcs).map(|row| row.modulation);
            let modulations: Vec<Modulation> = (0..).map_while(modulation).collect();
            EffectiveSnr::by_information(&modulations)
        }
        Mapping::Exponential => EffectiveSnr::exponential(&BETAS),
    }
}
