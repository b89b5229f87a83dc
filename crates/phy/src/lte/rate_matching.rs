//! TS 36.212, 5.1.4.1.

use crate::coding::turbo::TAIL;

const COLUMNS: usize = 32;
pub const REDUNDANCY_VERSIONS: usize = 4;

/// The order in which transmissions take the coded bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircularBuffer {
    /// Indices in the encoder's output, without dummy bits.
    order: Vec<u32>,
    /// In `order`, by redundancy version.
    starts: [usize; REDUNDANCY_VERSIONS],
}

impl CircularBuffer {
    /// All coded bits, `N_cb = K_w`.
    pub fn new(k: usize) -> Self {
        Self::limited(k, usize::MAX)
    }

    /// Dummy bits count as positions.
    pub fn limited(k: usize, size: usize) -> Self {
        let streams = [0, 1, 2].map(|stream| interleaved(k + TAIL / 3, stream));
        let [systematic, first, second] = &streams;
        let parity = first.iter().zip(second).flat_map(|(first, second)| [*first, *second]);
        let mut positions: Vec<Option<u32>> = systematic.iter().copied().chain(parity).collect();
        positions.truncate(size);
        let rows = systematic.len() / COLUMNS;
        let first_of = |version| rows * (2 * positions.len().div_ceil(8 * rows) * version + 2);
        let bits_before = |position: usize| positions[..position % positions.len()].iter().flatten().count();
        let starts = std::array::from_fn(|version| bits_before(first_of(version)));
        Self { order: positions.into_iter().flatten().collect(), starts }
    }

    /// Returns the coded bits that a transmission of a redundancy version, 0 to 3, sends, as indices in the
    /// output of [`Encoder::encode`](crate::coding::turbo::Encoder::encode). A transmission of E bits takes
    /// the first E indices. The iterator starts again after the last bit of the buffer and never ends.
    ///
    /// # Panics
    ///
    /// Panics if there is no such redundancy version.
    pub fn bits(&self, version: usize) -> impl Iterator<Item = usize> {
        self.order.iter().cycle().skip(self.starts[version]).map(|&bit| bit as usize)
    }
}

/// TS 36.212, 5.1.4.1.1: indices in the encoder's output, `None` for dummy bits; also for the tail, as both
/// encoders have the order `x z x z x z` of 5.1.3.2.2.
fn interleaved(length: usize, stream: usize) -> Vec<Option<u32>> {
    let rows = length.div_ceil(COLUMNS);
    let size = rows * COLUMNS;
    // Dummy bits are in front.
    let bit = |position: usize| Some((3 * position.checked_sub(size - length)? + stream) as u32);
    let shift = usize::from(stream == 2);
    (0..size).map(|k| bit((column(k / rows) + COLUMNS * (k % rows) + shift) % size)).collect()
}

/// The number with its five bits reversed (TS 36.212, table 5.1.4-1).
fn column(nth: usize) -> usize {
    (nth as u8).reverse_bits() as usize >> 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::interleaver::sizes;

    #[test]
    fn columns_are_those_of_the_table() {
        let table = [
            0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, 1, 17, 9, 25, 5, 21, 13, 29, 3, 19,
            11, 27, 7, 23, 15, 31,
        ];
        assert!((0..COLUMNS).map(column).eq(table));
    }

    /// Streams have 44 bits behind 20 dummy bits in 2 rows and 32 columns: the first column has a dummy bit
    /// and bit 12, column 16, read next, a dummy bit and bit 28.
    #[test]
    fn buffer_of_40_bits_matches_hand_computation() {
        let buffer = CircularBuffer::new(40);
        assert_eq!(buffer.order.len(), 3 * 44);
        // Columns 0, 16, 8, ... have the positions 0 and 32, 16 and 48, 8 and 40, ... Positions below 20 are dummy
        // bits, so that position p has bit p - 20.
        let systematic: Vec<u32> = buffer.order[..44].iter().map(|bit| bit / 3).collect();
        assert_eq!(systematic[..12], [12, 28, 20, 4, 36, 16, 0, 32, 24, 8, 40, 14]);
        // The first parity bits alternate. Those of the second stream are read one position later: 1, 33,
        // 17, 49, ...
        assert_eq!(buffer.order[44..52], [37, 41, 85, 89, 61, 65, 13, 17]);
        // Redundancy version 0 begins at column 2 of the systematic bits; positions 0 and 2 are dummy bits.
        assert_eq!(buffer.starts[0], 2);
        assert_eq!(buffer.bits(0).take(3).collect::<Vec<_>>(), [60, 12, 108]);
    }

    /// `R (2 ceil(N_cb / 8 R) rv + 2)`: 2, 26, 50 and 74 columns of 96.
    #[test]
    fn redundancy_versions_begin_at_their_columns() {
        for k in [40, 1024, 6144] {
            let (buffer, rows) = (CircularBuffer::new(k), (k + 4_usize).div_ceil(COLUMNS));
            let streams = [0, 1, 2].map(|stream| interleaved(k + 4, stream));
            let parity = streams[1].iter().zip(&streams[2]).flat_map(|(a, b)| [*a, *b]);
            let all: Vec<Option<u32>> = streams[0].iter().copied().chain(parity).collect();
            for (version, column) in [2, 26, 50, 74].into_iter().enumerate() {
                let first = all[column * rows..].iter().flatten().next().unwrap();
                assert_eq!(buffer.bits(version).next(), Some(*first as usize), "K = {k}, rv {version}");
            }
        }
    }

    #[test]
    fn every_version_is_a_permutation_of_the_coded_bits() {
        for k in sizes() {
            let (buffer, coded) = (CircularBuffer::new(k), 3 * k + TAIL);
            for version in 0..REDUNDANCY_VERSIONS {
                let mut seen = vec![false; coded];
                buffer.bits(version).take(coded).for_each(|bit| seen[bit] = true);
                assert!(seen.into_iter().all(|seen| seen), "K = {k}, rv {version}");
                assert_eq!(buffer.bits(version).nth(coded), buffer.bits(version).next());
            }
        }
    }

    /// Two thirds never send half of the parity bits.
    #[test]
    fn limited_buffers_keep_the_first_positions() {
        let (whole, cut) = (CircularBuffer::new(1024), CircularBuffer::limited(1024, 2 * 33 * 32));
        assert_eq!(cut.order[..], whole.order[..cut.order.len()]);
        // Half of the columns of both parity streams are left, with half of their 28 dummy bits.
        assert_eq!(cut.order.len(), 2 * 33 * 32 - 28 - 2 * 14);
    }
}
