//! TS 25.211, 5.2.1.1: slot format 0 has 6 pilot bits, 2 bits of TFCI and 2 of TPC.

use super::SLOTS;

/// Each bit is spread to 256 chips.
pub const SLOT_BITS: usize = 10;
pub const PILOTS: usize = 6;

/// TS 25.211, table 3, slots 0 to 14; columns 1, 2, 4 and 5 are the frame synchronisation words.
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

/// As sent: +1 for bit 0.
pub fn pilots(slot: usize) -> [f32; PILOTS] {
    PILOT_BITS[slot].map(|bit| 1.0 - 2.0 * f32::from(bit))
}

/// `others` has TFCI and TPC, four bits per slot, which the receiver does not read.
pub fn frame(others: &[u8]) -> Vec<u8> {
    let slots = PILOT_BITS.iter().zip(others.chunks(SLOT_BITS - PILOTS));
    slots.flat_map(|(pilots, others)| pilots.iter().chain(others)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum of the autocorrelations of four words.
    #[test]
    fn synchronisation_words_have_a_single_peak() {
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
    fn each_slot_begins_with_its_pilots() {
        let frame = frame(&[0; 60]);
        assert_eq!(frame.len(), 150);
        assert_eq!(frame[..12], [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0]);
    }
}
