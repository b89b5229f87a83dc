//! TS 25.212, 4.2.5 and 4.2.11.

/// Of the first interleaver for TTIs of 1, 2, 4 and 8 radio frames (TS 25.212, table 4).
pub const fn first_columns(frames: usize) -> &'static [usize] {
    match frames {
        1 => &[0],
        2 => &[0, 1],
        4 => &[0, 2, 1, 3],
        _ => &[0, 4, 2, 6, 1, 5, 3, 7],
    }
}

/// TS 25.212, table 7.
const SECOND: [usize; 30] = [
    0, 20, 10, 5, 15, 25, 3, 13, 23, 8, 18, 28, 1, 11, 21, 6, 16, 26, 4, 14, 24, 19, 9, 29, 12, 2, 7, 22, 27,
    17,
];

pub fn equalise<T: Copy>(tti: &mut Vec<T>, frames: usize, padding: T) {
    tti.resize(tti.len().next_multiple_of(frames), padding);
}

/// TS 25.212, 4.2.5 and 4.2.6.
pub fn first<T: Copy>(tti: &[T], frames: usize) -> Vec<Vec<T>> {
    let column = |&column: &usize| tti.iter().copied().skip(column).step_by(frames).collect();
    first_columns(frames).iter().map(column).collect()
}

/// TS 25.212, 4.2.11: by rows into 30 columns, read by columns.
pub fn second<T: Copy>(frame: &[T]) -> Vec<T> {
    SECOND.iter().flat_map(|&column| frame.iter().copied().skip(column).step_by(SECOND.len())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_orders_are_permutations() {
        for order in [first_columns(1), first_columns(2), first_columns(4), first_columns(8), &SECOND] {
            let mut sorted = order.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..order.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn first_columns_are_reversed_bits() {
        for bits in 0..4u32 {
            for (at, &column) in first_columns(1 << bits).iter().enumerate() {
                let reversed = (0..bits).fold(0, |word, i| word << 1 | at >> i & 1);
                assert_eq!(column, reversed);
            }
        }
    }

    #[test]
    fn interleavers_match_examples_by_hand() {
        assert_eq!(first(&[0, 1, 2, 3, 4, 5, 6, 7], 4), [[0, 4], [2, 6], [1, 5], [3, 7]]);
        let mut tti = vec![1, 2, 3];
        equalise(&mut tti, 2, 9);
        assert_eq!(tti, [1, 2, 3, 9]);
        let second = second(&(0..62).collect::<Vec<_>>());
        assert_eq!(second[..8], [0, 30, 60, 20, 50, 10, 40, 5]);
        assert_eq!(second.len(), 62);
    }
}
