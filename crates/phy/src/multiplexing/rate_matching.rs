//! TS 25.212, 4.2.7, uplink.

use super::interleave::first_columns;

/// In proportion to rate-matching attribute times size, rounded so that the shares fill the frame (4.2.7, the
/// intermediate `Z`).
pub fn shares(channels: &[(u32, usize)], capacity: usize) -> Vec<usize> {
    let weight = |&(attribute, bits): &(u32, usize)| u64::from(attribute) * bits as u64;
    let total: u64 = channels.iter().map(weight).sum();
    let mut sum = 0;
    let mut before = 0;
    channels
        .iter()
        .map(|channel| {
            sum += weight(channel);
            let filled = (sum * capacity as u64 / total) as usize;
            filled - std::mem::replace(&mut before, filled)
        })
        .collect()
}

/// TS 25.212, 4.2.7.5: spreads repeated or punctured bits evenly.
#[derive(Clone, Copy, Debug)]
struct Accumulator {
    error: i64,
    plus: i64,
    minus: i64,
}

impl Accumulator {
    /// 1 if sent, 0 if punctured.
    fn puncture(&mut self) -> usize {
        self.error -= self.minus;
        if self.error > 0 {
            return 1;
        }
        self.error += self.plus;
        0
    }

    /// At least 1.
    fn repeat(&mut self) -> usize {
        self.error -= self.minus;
        let mut sent = 1;
        while self.error <= 0 {
            self.error += self.plus;
            sent += 1;
        }
        sent
    }
}

/// `sent` numbers below `bits`; of a turbo code only parity bits are punctured.
pub fn pattern(frame: usize, frames: usize, bits: usize, sent: usize, turbo: bool) -> Vec<usize> {
    let change = sent as i64 - bits as i64;
    let copies: Vec<usize> = match change {
        0 => vec![1; bits],
        _ if change < 0 && turbo => parity_copies(frame, frames, bits, change),
        _ => {
            let mut accumulator = any_bit(frame, frames, bits as i64, change);
            let next = if change < 0 { Accumulator::puncture } else { Accumulator::repeat };
            (0..bits).map(|_| next(&mut accumulator)).collect()
        }
    };
    copies.iter().enumerate().flat_map(|(bit, &copies)| std::iter::repeat_n(bit, copies)).collect()
}

/// Puncturing of convolutional codes, and repetition (TS 25.212, 4.2.7.1.2.1).
fn any_bit(frame: usize, frames: usize, bits: i64, change: i64) -> Accumulator {
    let f = frames as i64;
    let rest = change.rem_euclid(bits);
    let q = if rest != 0 && 2 * rest <= bits { ceiling(bits, rest) } else { ceiling(bits, rest - bits) };
    // The standard's q' is a multiple of 1/F, so all values are in units of 1/F.
    let step = if q % 2 == 0 { q * f + gcd(q.abs(), f) } else { q * f };
    let mut shift = vec![0; frames];
    for x in 0..f {
        let place = (x * step).div_euclid(f).abs();
        shift[(place % f) as usize] = place / f;
    }
    let (a, column) = (2, first_columns(frames)[frame]);
    Accumulator {
        error: (a * shift[column] * change.abs() + 1).rem_euclid(a * bits),
        plus: a * bits,
        minus: a * change.abs(),
    }
    .started()
}

/// 0 or 1, for a turbo code (TS 25.212, 4.2.7.1.2.2).
fn parity_copies(frame: usize, frames: usize, bits: usize, change: i64) -> Vec<usize> {
    let per_stream = (bits / 3) as i64;
    let mut streams = [(2, 1, change.div_euclid(2)), (1, 2, change - change.div_euclid(2))]
        .map(|(a, stream, change)| parity(frame, frames, per_stream, (a, stream, change)));
    let column = first_columns(frames)[frame];
    // The first interleaver took every F-th of the bits x1 z1 z'1 x2 ..., beginning with the bit
    // whose number is that of the column. Bits after the last complete triple count as systematic,
    // so they are not punctured.
    let stream = |at: usize| if at < 3 * (bits / 3) { (column + frames * at) % 3 } else { 0 };
    let mut copies = |at| match stream(at) {
        0 => 1,
        stream => streams[stream - 1].as_mut().map_or(1, Accumulator::puncture),
    };
    (0..bits).map(&mut copies).collect()
}

fn parity(
    frame: usize,
    frames: usize,
    bits: i64,
    (a, stream, change): (i64, i64, i64),
) -> Option<Accumulator> {
    let (f, change) = (frames as i64, change.abs());
    if change == 0 {
        return None;
    }
    let q = bits / change;
    let mut shift = vec![0; frames];
    let mut set = |r: i64, value: i64| shift[((3 * r + stream) % f) as usize] = value;
    if q <= 2 {
        for r in 0..f {
            set(r, r % 2);
        }
    } else {
        let step = if q % 2 == 0 { q * f - gcd(q, f) } else { q * f };
        for x in 0..f {
            let place = ceiling(x * step, f);
            set(place % f, place / f);
        }
    }
    let column = first_columns(frames)[frame];
    let error = (a * shift[column] * change + bits).rem_euclid(a * bits);
    Some(Accumulator { error, plus: a * bits, minus: a * change }.started())
}

impl Accumulator {
    /// As in the standard, an initial error of 0 becomes `plus`, a whole period.
    fn started(self) -> Self {
        if self.error == 0 { Self { error: self.plus, ..self } } else { self }
    }
}

/// Rounded up.
fn ceiling(a: i64, b: i64) -> i64 {
    a / b + i64::from(a % b != 0 && (a < 0) == (b < 0))
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::multiplexing::interleave;

    fn numbered(bits: usize, frames: usize) -> Vec<Vec<usize>> {
        interleave::first(&(0..bits * frames).collect::<Vec<_>>(), frames)
    }

    proptest! {
        #[test]
        fn copies_of_bits_differ_by_at_most_one(
            frames in prop::sample::select(vec![1usize, 2, 4, 8]),
            bits in 20usize..1500, share in 0.5f64..3.0,
        ) {
            let sent = ((bits as f64 * share) as usize).max(1);
            for frame in 0..frames {
                let pattern = pattern(frame, frames, bits, sent, false);
                prop_assert_eq!(pattern.len(), sent);
                let mut copies = vec![0usize; bits];
                for bit in pattern {
                    copies[bit] += 1;
                }
                let (least, most) = (copies.iter().min().unwrap(), copies.iter().max().unwrap());
                prop_assert!(most - least <= 1, "{} to {}", least, most);
            }
        }

        #[test]
        fn puncturing_a_turbo_code_balances_parities_and_spares_systematic_bits(
            frames in prop::sample::select(vec![1usize, 2, 4, 8]),
            triples in 20usize..500, share in 0.4f64..1.0,
        ) {
            let bits = 3 * triples;
            let sent = (bits as f64 * share) as usize;
            let mut lost = [0usize; 3];
            for (frame, numbers) in numbered(bits, frames).iter().enumerate() {
                let pattern = pattern(frame, frames, bits, sent, true);
                prop_assert_eq!(pattern.len(), sent);
                let kept: std::collections::HashSet<_> = pattern.into_iter().collect();
                for at in (0..bits).filter(|at| !kept.contains(at)) {
                    lost[numbers[at] % 3] += 1;
                }
            }
            prop_assert_eq!(lost[0], 0);
            prop_assert!(lost[1].abs_diff(lost[2]) <= frames, "{:?}", lost);
        }

        #[test]
        fn shares_fill_the_frame(
            channels in prop::collection::vec((1u32..=256, 1usize..5000), 1..4), capacity in 150usize..9600,
        ) {
            prop_assert_eq!(shares(&channels, capacity).iter().sum::<usize>(), capacity);
        }
    }

    #[test]
    fn changes_are_spread_over_the_tti() {
        for (frames, bits, sent) in
            [(2, 400, 361), (4, 330, 301), (8, 200, 187), (4, 90, 97), (2, 1000, 1099)]
        {
            let mut changed = Vec::new();
            for (frame, numbers) in numbered(bits, frames).iter().enumerate() {
                let mut copies = vec![0; bits];
                for bit in pattern(frame, frames, bits, sent, false) {
                    copies[bit] += 1;
                }
                changed.extend((0..bits).filter(|&at| copies[at] != 1).map(|at| numbers[at]));
            }
            changed.sort_unstable();
            let even = bits as f64 / sent.abs_diff(bits) as f64;
            let nearest = changed.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
            assert!(nearest as f64 > even / 2.0, "{frames} {bits} {sent}: {nearest} for {even}");
        }
    }

    /// TS 25.212, 4.2.7.3: by TTI and by radio frame.
    #[test]
    fn stream_offsets_match_tables_5_and_6() {
        for (frames, alpha, beta) in [
            (1, [0, 1, 2], vec![0]),
            (2, [0, 2, 1], vec![0, 1]),
            (4, [0, 1, 2], vec![0, 1, 2, 0]),
            (8, [0, 2, 1], vec![0, 1, 2, 0, 1, 2, 0, 1]),
        ] {
            for (numbers, beta) in numbered(30, frames).iter().zip(beta) {
                for (stream, alpha) in alpha.iter().enumerate() {
                    assert_eq!(numbers[(alpha + beta) % 3] % 3, stream, "{frames}: {beta}");
                }
            }
        }
    }
}
