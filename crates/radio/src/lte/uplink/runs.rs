//! Runs of neighbouring groups of resource blocks. A phone sends on one run, as SC-FDMA needs neighbouring
//! subcarriers, with a number of resource blocks whose prime factors are 2, 3 and 5 (TS 36.211, 5.3.3).

use super::super::resources::largest_uplink_grant;
use crate::mac::band::{Band, Groups};

// Clause: TS 36.211, 5.3.3: runs of resource blocks for PUSCH
// Simplified: whole groups of resource blocks, no frequency hopping
/// Returns a run of at most `most` groups of `free`: the lowest run with `most` groups, else the longest run. The run
/// is shortened to a number of resource blocks that a phone can use. Returns an empty set if `free` is empty or
/// `most` is 0.
pub fn find(band: &Band, free: Groups, most: usize) -> Groups {
    let mut longest = (0, 0);
    let mut begin = 0;
    for end in 0..=band.groups() {
        if end < band.groups() && free.contains(end) {
            if end + 1 - begin >= most {
                longest = (begin, end + 1);
                break;
            }
            continue;
        }
        if end - begin > longest.1 - longest.0 {
            longest = (begin, end);
        }
        begin = end + 1;
    }
    let (begin, end) = longest;
    usable(band, begin, (end - begin).min(most))
}

/// Returns the longest usable run of at most `most` groups from group `begin` on.
fn usable(band: &Band, begin: usize, most: usize) -> Groups {
    let run = |count: usize| (begin..begin + count).collect::<Groups>();
    let is_usable = |groups: &Groups| {
        let blocks = band.blocks_in(*groups);
        largest_uplink_grant(blocks) == blocks
    };
    (1..=most).rev().map(run).find(is_usable).unwrap_or(Groups::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests the feature: runs of resource blocks for PUSCH (worked example)
    #[test]
    fn runs_are_neighbouring_and_usable() {
        let band = Band::new(100, 4, 180e3);
        let free = Groups::first(25).without([0, 8, 24].into_iter().collect());
        let blocks = |most| {
            let run = find(&band, free, most);
            (run.into_iter().next(), band.blocks_in(run))
        };
        assert_eq!(blocks(1), (Some(1), 4));
        assert_eq!(blocks(7), (Some(1), 24), "28 blocks have the factor 7");
        assert_eq!(blocks(8), (Some(9), 32));
        assert_eq!(blocks(25), (Some(9), 60));
        assert_eq!(blocks(0), (None, 0));
        assert_eq!(find(&band, Groups::NONE, 3), Groups::NONE);
        let narrow = Band::new(25, 2, 180e3);
        assert_eq!(narrow.blocks_in(find(&narrow, narrow.all(), 13)), 25);
    }
}
