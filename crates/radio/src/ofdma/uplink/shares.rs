use crate::ofdma::uplink::runs::{largest_uplink_grant, smallest_uplink_grant};

/// What is left for the phones that need at least an even share.
#[derive(Clone, Copy, Debug)]
pub struct EvenShares {
    blocks: u16,
    phones: u16,
    /// Even share, rounded down: phones that need at most this get what they need.
    level: u16,
}

impl EvenShares {
    /// What some phones do not need is shared among the others.
    pub fn new(needs: impl Iterator<Item = u16>, free: u16) -> Self {
        let mut needs: Vec<u16> = needs.collect();
        needs.sort_unstable();
        let (mut blocks, mut phones) = (free, needs.len() as u16);
        for need in needs {
            if need > blocks / phones {
                break;
            }
            blocks -= need;
            phones -= 1;
        }
        Self { blocks, phones, level: blocks.checked_div(phones).unwrap_or(u16::MAX) }
    }

    pub fn limits(&self, need: u16) -> bool {
        need > self.level
    }

    /// The numbers that a run can have are not multiples of a share: phones that must share get the next
    /// larger number while it leaves the next smaller one to each of the others.
    pub fn most(&self, need: u16) -> u16 {
        if !self.limits(need) {
            return self.level;
        }
        let phones = self.phones.max(1);
        let low = largest_uplink_grant(self.blocks / phones);
        let high = smallest_uplink_grant(low + 1);
        if high + (phones - 1) * low <= self.blocks { high } else { low }
    }

    pub fn take(&mut self, need: u16, got: u16) {
        if self.limits(need) {
            self.phones = self.phones.saturating_sub(1);
            self.blocks = self.blocks.saturating_sub(got);
        } else {
            self.blocks = self.blocks.saturating_sub(got.saturating_sub(need));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of phones that can use the whole band.
    fn shares(phones: u16, free: u16) -> Vec<u16> {
        let need = free + 1;
        let mut shares = EvenShares::new((0..phones).map(|_| need), free);
        let next = |_| {
            let most = shares.most(need);
            shares.take(need, most);
            most
        };
        (0..phones).map(next).collect()
    }

    // Tests the feature: grants (worked example)
    #[test]
    fn shares_are_usable_numbers_next_to_an_even_share() {
        assert_eq!(shares(1, 98), [96]);
        assert_eq!(shares(2, 98), [50, 48]);
        assert_eq!(shares(5, 98), [20, 20, 20, 20, 18]);
        assert_eq!(shares(7, 98), [15, 15, 15, 15, 12, 12, 12]);
        assert_eq!(shares(5, 4), [1, 1, 1, 1, 0]);
        let mut unequal = EvenShares::new([30, 2, 96, 10, 96].into_iter(), 98);
        assert_eq!([2, 10, 27, 30, 96].map(|need| unequal.limits(need)), [false, false, false, true, true]);
        assert_eq!(unequal.most(96), 30);
        unequal.take(96, 30);
        assert_eq!([10, 96].map(|need| unequal.most(need)), [28, 27]);
        assert!(!EvenShares::new([4, 5].into_iter(), 98).limits(98));
    }

    // Tests the feature: grants (property)
    /// Shares do not grow, and differ by at most one step between numbers that a run can have.
    #[test]
    fn shares_fill_the_band() {
        for free in 1..=110 {
            for phones in 1..=20 {
                let shares = shares(phones, free);
                let (used, least) = (shares.iter().sum::<u16>(), shares[usize::from(phones) - 1]);
                assert!(shares.is_sorted_by(|a, b| a >= b), "{shares:?}");
                assert!(used <= free && shares[0] <= smallest_uplink_grant(least + 1), "{shares:?}");
                assert!(used + smallest_uplink_grant(least + 1) > free + least, "{free}: {shares:?}");
            }
        }
    }
}
