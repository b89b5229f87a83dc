//! DPCCH, the control channel of the uplink: pilots, TFCI and power control (TS 25.211, 5.2.1.1).
//! Slots have format 0: 6 pilot bits, 2 bits of TFCI and 2 bits of TPC.

use super::SLOTS;

/// Each bit is spread to 256 chips.
pub const SLOT_BITS: usize = 10;
pub const PILOTS: usize = 6;

/// Pilot bits of slots 0 to 14 (TS 25.211, table 3, six pilots); columns 1, 2, 4 and 5 are the frame synchronisation
/// words.
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

/// Returns the pilots of slot `slot`, 0 to 14, as they are sent: +1 for bit 0 and -1 for bit 1.
pub fn pilots(slot: usize) -> [f32; PILOTS] {
    PILOT_BITS[slot].map(|bit| 1.0 - 2.0 * f32::from(bit))
}

/// Returns the 150 DPCCH bits of a frame. `others` has the four bits of TFCI and TPC of each slot, which the
/// receiver does not read.
pub fn frame(others: &[u8]) -> Vec<u8> {
    let slots = PILOT_BITS.iter().zip(others.chunks(SLOT_BITS - PILOTS));
    slots.flat_map(|(pilots, others)| pilots.iter().chain(others)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of the autocorrelations of the four frame synchronisation words has its only peak at
    /// the beginning of the frame.
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
