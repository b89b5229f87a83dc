//! The uplink's control channel: pilots, TFCI and power control of each slot (TS 25.211, 5.2.1.1),
//! slot format 0: 6 pilot bits, 2 of TFCI, 2 of TPC.

use super::SLOTS;

/// Bits of a slot; each is spread by 256.
pub const SLOT_BITS: usize = 10;
/// Pilot bits of a slot, its first.
pub const PILOTS: usize = 6;

/// The pilot bits of slots 0 to 14 (table 3 of TS 25.211, six pilots); the columns 1, 2, 4 and 5 are
/// the frame synchronisation words.
const PILOT_BITS: [[u8; PILOTS]; SLOTS] = [
    [1, 1, 1, 1, 1, 0],
    [1, 0, 0, 1, 1, 0],
    [1, 0, 1, 1, 0, 1],
    [1, 0, 0, 1, 0, 0],
    [1, 1, 0, 1, 0, 1],
    [1, 1, 1, 1, 1, 0],
    [1, 1, 1, 1, 0, 0],
    [1, 1, 0, 1, 0, 0],
    [1, 0, 1, 1, 1, 0],
    [1, 1, 1, 1, 1, 1],
    [1, 0, 1, 1, 0, 1],
    [1, 1, 0, 1, 1, 1],
    [1, 1, 0, 1, 0, 0],
    [1, 0, 0, 1, 1, 1],
    [1, 0, 0, 1, 1, 1],
];

/// The pilots of `slot` (0 to 14) as they are sent, +1 for a 0.
pub fn pilots(slot: usize) -> [f32; PILOTS] {
    PILOT_BITS[slot].map(|bit| 1.0 - 2.0 * f32::from(bit))
}

/// The control bits of a frame: the pilots, and `others` (4 a slot) for TFCI and TPC, which the
/// receiver does not read.
pub fn frame(others: &[u8]) -> Vec<u8> {
    let slots = PILOT_BITS.iter().zip(others.chunks(SLOT_BITS - PILOTS));
    slots.flat_map(|(pilots, others)| pilots.iter().chain(others)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summed over the four words, the autocorrelation of the frame synchronisation words is flat
    /// away from the frame's beginning.
    #[test]
    fn synchronisation_words_find_the_frame() {
        let correlation = |shift: usize| {
            let columns = [1, 2, 4, 5].map(|column| {
                (0..SLOTS)
                    .map(|slot| pilots(slot)[column] * pilots((slot + shift) % SLOTS)[column])
                    .sum::<f32>()
            });
            columns.iter().sum::<f32>()
        };
        assert_eq!(correlation(0), 60.0);
        assert!((1..SLOTS).all(|shift| correlation(shift) == -4.0));
    }

    #[test]
    fn pilots_lead_each_slot() {
        let frame = frame(&[0; 60]);
        assert_eq!(frame.len(), 150);
        assert_eq!(frame[..12], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0]);
    }
}
