//! SC-FDMA needs neighbouring subcarriers, and numbers of resource blocks whose prime factors are 2, 3 and 5
//! (TS 36.211, 5.3.3).

use nodeb_air::mac::band::Run;

/// Bit 0 is the lowest resource block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockSet(u128);

impl BlockSet {
    pub const NONE: Self = Self(0);

    pub fn of(run: Run) -> Self {
        Self(((1 << run.blocks) - 1) << run.begin)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn len(self) -> u16 {
        self.0.count_ones() as u16
    }

    pub fn contains(self, run: Run) -> bool {
        Self::of(run).0 & !self.0 == 0
    }

    #[must_use]
    pub fn with(self, run: Run) -> Self {
        Self(self.0 | Self::of(run).0)
    }

    #[must_use]
    pub fn without(self, run: Run) -> Self {
        Self(self.0 & !Self::of(run).0)
    }

    // Clause: TS 36.211, 5.3.3: runs of resource blocks for PUSCH
    // Simplified: no frequency hopping
    /// The lowest run of `most`, else the longest, shortened at its upper end to a number that a phone can
    /// use.
    pub fn find(self, most: u16) -> Option<Run> {
        let (mut rest, mut longest) = (self.0, Run { begin: 0, blocks: 0 });
        while rest != 0 && longest.blocks < most {
            let begin = rest.trailing_zeros();
            let run = Run { begin: begin as u16, blocks: (rest >> begin).trailing_ones() as u16 };
            if run.blocks > longest.blocks {
                longest = run;
            }
            rest &= !Self::of(run).0;
        }
        let blocks = largest_uplink_grant(longest.blocks.min(most));
        (blocks > 0).then_some(Run { blocks, ..longest })
    }
}

/// TS 36.211, 6.2.1.
const MAX_BLOCKS: usize = 110;

/// No prime factors other than 2, 3 and 5 (TS 36.211, 5.3.3); `blocks` is at most 110.
#[inline]
pub fn largest_uplink_grant(blocks: u16) -> u16 {
    static LARGEST: [u8; MAX_BLOCKS + 1] = {
        let (mut largest, mut blocks) = ([0; MAX_BLOCKS + 1], 1);
        while blocks <= MAX_BLOCKS {
            largest[blocks] = if is_product_of_2_3_5(blocks) { blocks as u8 } else { largest[blocks - 1] };
            blocks += 1;
        }
        largest
    };
    u16::from(LARGEST[usize::from(blocks).min(MAX_BLOCKS)])
}

/// `blocks` is at most 120.
#[inline]
pub fn smallest_uplink_grant(blocks: u16) -> u16 {
    (blocks..=MAX_BLOCKS as u16).find(|blocks| largest_uplink_grant(*blocks) == *blocks).unwrap_or(120)
}

const fn is_product_of_2_3_5(mut blocks: usize) -> bool {
    let factors = [2, 3, 5];
    let mut at = 0;
    while at < factors.len() {
        if blocks.is_multiple_of(factors[at]) { blocks /= factors[at] } else { at += 1 }
    }
    blocks == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: runs of resource blocks for PUSCH (worked example)
    #[test]
    fn runs_are_neighbouring_and_usable() {
        let all = BlockSet::of(Run { begin: 1, blocks: 98 });
        let free = [(0, 2), (31, 3), (97, 1)]
            .into_iter()
            .fold(all, |free, (begin, blocks)| free.without(Run { begin, blocks }));
        let run = |most| free.find(most).map(|Run { begin, blocks }| (begin, blocks));
        assert_eq!(run(1), Some((2, 1)));
        assert_eq!(run(28), Some((2, 27)), "28 blocks have the factor 7");
        assert_eq!(run(30), Some((34, 30)));
        assert_eq!(run(98), Some((34, 60)), "63 blocks have the factor 7");
        assert_eq!(run(0), None);
        assert_eq!(BlockSet::NONE.find(3), None);
        assert_eq!(all.find(98), Some(Run { begin: 1, blocks: 96 }));
    }

    // Tests the feature: runs of resource blocks for PUSCH (property)
    #[test]
    fn runs_are_the_longest_usable_ones() {
        // Every set of 12 resource blocks.
        for bits in 0..1u128 << 12 {
            let is_free = |block: u16| bits >> block & 1 == 1;
            for most in 0..=12 {
                let length = |begin: u16| (begin..12).take_while(|block| is_free(*block)).count() as u16;
                let longest = (0..12).map(length).max().unwrap().min(most);
                let expected = [0, 1, 2, 3, 4, 5, 6, 6, 8, 9, 10, 10, 12][usize::from(longest)];
                let begin = (0..12).find(|begin| length(*begin) >= longest);
                let expected = (expected > 0).then(|| Run { begin: begin.unwrap(), blocks: expected });
                assert_eq!(BlockSet(bits).find(most), expected, "{bits:b}, {most}");
            }
        }
    }

    #[test]
    fn grants_have_no_prime_factors_above_5() {
        assert_eq!(
            [0, 1, 7, 14, 49, 97, 100, 110].map(largest_uplink_grant),
            [0, 1, 6, 12, 48, 96, 100, 108]
        );
        assert_eq!(
            [0, 1, 7, 13, 49, 97, 101, 109].map(smallest_uplink_grant),
            [0, 1, 8, 15, 50, 100, 108, 120]
        );
    }
}
