use std::collections::VecDeque;
use std::ops::Range;

/// Disjoint ranges in ascending order, with a gap between any two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: VecDeque<Range<u64>>,
    octets: u64,
}

impl RangeSet {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    #[inline]
    pub fn octets(&self) -> u64 {
        self.octets
    }

    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    #[inline]
    pub fn first(&self) -> Option<Range<u64>> {
        self.ranges.front().cloned()
    }

    /// Index of the first range that ends after `octet`.
    fn index_after(&self, octet: u64) -> usize {
        self.ranges.partition_point(|range| range.end <= octet)
    }

    pub fn count(&self, range: &Range<u64>) -> u64 {
        let overlap = |held: &Range<u64>| held.end.min(range.end) - held.start.max(range.start);
        self.overlapping(range.clone()).map(overlap).sum()
    }

    pub fn contains(&self, range: &Range<u64>) -> bool {
        let held = self.ranges.get(self.index_after(range.start));
        range.is_empty() || held.is_some_and(|held| held.start <= range.start && range.end <= held.end)
    }

    /// End of the range with `octet`, or `octet` if it is in none.
    pub fn run_end(&self, octet: u64) -> u64 {
        let held = self.ranges.get(self.index_after(octet));
        held.filter(|held| held.start <= octet).map_or(octet, |held| held.end)
    }

    fn overlapping(&self, range: Range<u64>) -> impl Iterator<Item = &Range<u64>> {
        self.ranges.range(self.index_after(range.start)..).take_while(move |held| held.start < range.end)
    }

    pub fn gaps(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let ends = std::iter::once(range.end..range.end);
        let mut from = range.start;
        self.overlapping(range).cloned().chain(ends).filter_map(move |held| {
            let gap = from..held.start;
            from = held.end;
            (!gap.is_empty()).then_some(gap)
        })
    }

    /// Octets that are new.
    pub fn insert(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        // A range that ends where `range` starts is merged with it too, so that no two ranges
        // touch.
        let first = self.ranges.partition_point(|held| held.end < range.start);
        let (mut merged, mut covered, mut last) = (range, 0, first);
        while let Some(held) = self.ranges.get(last).filter(|held| held.start <= merged.end) {
            covered += held.end - held.start;
            merged = merged.start.min(held.start)..merged.end.max(held.end);
            last += 1;
        }
        let added = merged.end - merged.start - covered;
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        self.octets += added;
        added
    }

    /// Octets that were in the set.
    pub fn remove(&mut self, range: Range<u64>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let first = self.index_after(range.start);
        let mut removed = 0;
        let mut at = first;
        while let Some(held) = self.ranges.get(at).filter(|held| held.start < range.end).cloned() {
            removed += held.end.min(range.end) - held.start.max(range.start);
            let (before, after) = (held.start..range.start, range.end..held.end);
            match (before.is_empty(), after.is_empty()) {
                (true, true) => drop(self.ranges.remove(at)),
                (true, false) => self.ranges[at] = after,
                (false, true) => self.ranges[at] = before,
                (false, false) => {
                    self.ranges[at] = before;
                    self.ranges.insert(at + 1, after);
                }
            }
            at += usize::from(held.start < range.start);
            if held.end >= range.end {
                break;
            }
        }
        self.octets -= removed;
        removed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn range_set_matches_a_set_of_octets(
            changes in prop::collection::vec((any::<bool>(), 0..60u64, 0..20u64), 1..60),
            asked in (0..70u64, 0..30u64),
        ) {
            let (mut set, mut octets) = (RangeSet::default(), BTreeSet::new());
            for (add, start, length) in changes {
                let range = start..start + length;
                let before = octets.len() as u64;
                if add {
                    let added = set.insert(range.clone());
                    octets.extend(range);
                    prop_assert_eq!(added, octets.len() as u64 - before);
                } else {
                    let removed = set.remove(range.clone());
                    octets.retain(|octet| !range.contains(octet));
                    prop_assert_eq!(removed, before - octets.len() as u64);
                }
                prop_assert_eq!(set.octets(), octets.len() as u64);
                prop_assert!(set.ranges.iter().all(|held| !held.is_empty()));
                prop_assert!(set.ranges.iter().zip(set.ranges.iter().skip(1)).all(|(a, b)| a.end < b.start));
            }
            let range = asked.0..asked.0 + asked.1;
            let inside = range.clone().filter(|octet| octets.contains(octet)).count() as u64;
            prop_assert_eq!(set.count(&range), inside);
            prop_assert_eq!(set.contains(&range), inside == asked.1);
            let missing: Vec<u64> = set.gaps(range.clone()).flatten().collect();
            prop_assert_eq!(missing, range.filter(|octet| !octets.contains(octet)).collect::<Vec<_>>());
            let end = (asked.0..200).find(|octet| !octets.contains(octet));
            prop_assert_eq!(Some(set.run_end(asked.0)), end);
            prop_assert_eq!(set.first().map(|range| range.start), octets.first().copied());
        }
    }
}
