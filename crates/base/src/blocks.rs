//! Radio blocks of consecutive TTIs in one value, which costs less than one value per block.

/// Radio blocks of consecutive TTIs with the same number of blocks in each, in order of
/// transmission.
///
/// Failed blocks are retransmitted before new blocks and in the order in which they failed. So one
/// bit per block, "is a retransmission", is enough to find out which block it repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    /// The other new units have the numbers that follow.
    pub first: u64,
    pub units: u32,
    /// PDUs or octets; the last new block may have fewer.
    pub per_block: u32,
    pub per_tti: u32,
    pub ttis: u32,
    /// Bit `n` is set if block `n`, counted from 0 over all TTIs, fails.
    pub failed: u64,
    /// Bit `n` is set if block `n`, counted from 0 over all TTIs, is a retransmission.
    pub again: u64,
}

/// Bits 0 to `place - 1` set, all 64 from 64 on.
const fn before(place: u32) -> u64 {
    if place < u64::BITS { (1 << place) - 1 } else { u64::MAX }
}

impl Blocks {
    /// Number of blocks for which `failed` and `again` have a bit. One value describes more blocks than that
    /// only if all of them are new and none fails.
    pub const MAX: u32 = u64::BITS;

    pub const fn count(&self) -> u32 {
        self.per_tti * self.ttis
    }

    /// No block is a retransmission and none fails.
    pub const fn are_plain(&self) -> bool {
        self.failed | self.again == 0
    }

    pub const fn has_failed(&self, place: u32) -> bool {
        place < Self::MAX && self.failed >> place & 1 == 1
    }

    pub const fn is_again(&self, place: u32) -> bool {
        place < Self::MAX && self.again >> place & 1 == 1
    }

    pub const fn again_before(&self, place: u32) -> u32 {
        (self.again & before(place)).count_ones()
    }

    /// Within a TTI, retransmissions precede new blocks.
    pub const fn again_before_and_in(&self, tti: u32) -> (u32, u32) {
        if self.again == 0 {
            return (0, 0);
        }
        let first = tti * self.per_tti;
        let earlier = self.again_before(first);
        (earlier, self.again_before(first + self.per_tti) - earlier)
    }

    /// If no new block follows, this is the next unit to be sent later, provided that the last new block is full.
    pub fn unit(&self, place: u32) -> u64 {
        let new = u64::from(place - self.again_before(place));
        self.first + new * u64::from(self.per_block)
    }

    pub fn end(&self) -> u64 {
        self.first + u64::from(self.units)
    }

    /// TTI after the last retransmission up to and including `tti`, 0 without retransmissions.
    pub const fn new_since(&self, tti: u32) -> u32 {
        let end = (tti + 1) * self.per_tti;
        let again = self.again & before(end);
        (u64::BITS - again.leading_zeros()).div_ceil(self.per_tti)
    }

    /// Appends the blocks of `next`, the TTIs that follow. Returns false, and changes nothing, if
    /// one value cannot describe all blocks together, such as TTIs with different numbers of
    /// blocks.
    #[inline]
    pub fn join(&mut self, next: &Self) -> bool {
        let count = self.count();
        let is_alike = (self.per_tti, self.per_block) == (next.per_tti, next.per_block);
        let (Some(all), Some(units)) = (count.checked_add(next.count()), self.units.checked_add(next.units))
        else {
            return false;
        };
        if !is_alike || (all > Self::MAX && !(self.are_plain() && next.are_plain())) {
            return false;
        }
        let new = count - if self.again == 0 { 0 } else { self.again.count_ones() };
        if self.first + u64::from(new) * u64::from(self.per_block) != next.first {
            return false;
        }
        if !next.are_plain() {
            self.failed |= next.failed << count;
            self.again |= next.again << count;
        }
        (self.units, self.ttis) = (units, self.ttis + next.ttis);
        true
    }

    #[must_use]
    pub fn split(&mut self, ttis: u32) -> Self {
        let place = ttis * self.per_tti;
        let first = self.unit(place);
        let (of, units) = (before(place), (first - self.first) as u32);
        let head = Self { units, ttis, failed: self.failed & of, again: self.again & of, ..*self };
        let after = |bits: u64| bits.checked_shr(place).unwrap_or_default();
        let (failed, again) = (after(self.failed), after(self.again));
        *self = Self { first, units: self.units - units, ttis: self.ttis - ttis, failed, again, ..*self };
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tti(first: u64, per_tti: u32, failed: u64, again: u64) -> Blocks {
        let units = 2 * (per_tti - again.count_ones());
        Blocks { first, units, per_block: 2, per_tti, ttis: 1, failed, again }
    }

    #[test]
    fn split_restores_joined_ttis() {
        let parts = [tti(10, 3, 0b100, 0), tti(16, 3, 0, 0), tti(22, 3, 0b011, 0b001), tti(26, 3, 0, 0b011)];
        let mut all = parts[0];
        assert!(parts[1..].iter().all(|part| all.join(part)));
        let expected = (10, 18, 4, 0b000_011_000_100, 0b011_001_000_000);
        assert_eq!((all.first, all.units, all.ttis, all.failed, all.again), expected);
        assert_eq!([0, 3, 6, 7, 9, 11].map(|place| all.unit(place)), [10, 16, 22, 22, 26, 26]);
        assert_eq!((all.again_before(6), all.again_before(12), all.end()), (0, 3, 28));
        assert_eq!([0, 1, 2, 3].map(|tti| all.new_since(tti)), [0, 0, 3, 4]);
        assert_eq!([0, 1, 2, 3].map(|tti| all.again_before_and_in(tti)), [(0, 0), (0, 0), (0, 1), (1, 2)]);
        for part in &parts[..3] {
            assert_eq!(all.split(1), *part);
        }
        assert_eq!(all, parts[3]);
    }

    #[test]
    fn unlike_or_discontinuous_ttis_are_not_joined() {
        let other = Blocks { per_block: 1, ..tti(6, 3, 0, 0) };
        for next in [tti(8, 3, 0, 0), tti(6, 2, 0, 0), other] {
            assert!(!tti(0, 3, 0, 0).join(&next), "{next:?}");
        }
        // The last block of `partial` is not full, so its end differs from what the number of
        // blocks suggests, and a following TTI cannot be joined.
        let mut partial = Blocks { units: 5, ..tti(0, 3, 0, 0) };
        assert!(!partial.join(&tti(5, 3, 0, 0)));
        assert!(tti(0, 3, 0, 0).join(&Blocks { first: 6, ..partial }));
    }

    #[test]
    fn at_most_64_blocks_are_joined_unless_all_are_plain() {
        let (mut plain, mut all) = (tti(0, 32, 0, 0), tti(0, 32, 0, 0));
        assert!(all.join(&tti(64, 32, 1 << 31, 0)) && all.has_failed(63));
        assert!(!all.join(&tti(128, 32, 0, 0)), "65 blocks");
        assert!(plain.join(&tti(64, 32, 0, 0)) && plain.join(&tti(128, 32, 0, 0)), "without errors");
        assert!(!plain.join(&tti(192, 32, 1, 0)));
        assert!(!plain.has_failed(64) && !plain.is_again(90));
        assert_eq!((plain.split(2).end(), plain.unit(32)), (128, 192));
        let mut full = all;
        assert_eq!((full.split(1).failed, full.failed), (0, 1 << 31));
    }
}
