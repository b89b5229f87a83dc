//! Groups of resource allocation type 0, TS 36.213, 7.1.6.1, of the size of table 7.1.6.1-1; the last one has
//! the remaining blocks. Values per group are stored in a [`Row`] of fixed length, so that loops over groups
//! are vectorized.

/// LTE has at most 25 groups up to 20 MHz (100 blocks), and 28 groups with the 110 blocks that TS 36.211
/// allows.
pub const MAX_GROUPS: usize = 28;

/// In order of frequency; elements beyond the last group have no meaning.
pub type Row = [f32; MAX_GROUPS];

#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    blocks: u16,
    per_group: u16,
    groups: usize,
    block_hz: f64,
    /// In resource blocks; 0 beyond the last group.
    sizes: Row,
}

impl Band {
    /// # Panics
    ///
    /// Panics if `blocks` or `per_group` is 0, or if there are more than [`MAX_GROUPS`] groups.
    pub fn new(blocks: u16, per_group: u16, block_hz: f64) -> Self {
        assert!(blocks > 0 && per_group > 0, "a band without blocks");
        let groups = usize::from(blocks.div_ceil(per_group));
        assert!(groups <= MAX_GROUPS, "{groups} groups are too many; expected at most {MAX_GROUPS}");
        let size = |group: usize| (blocks - (group as u16 * per_group).min(blocks)).min(per_group);
        let sizes = std::array::from_fn(|group| f32::from(size(group)));
        Self { blocks, per_group, groups, block_hz, sizes }
    }

    pub fn blocks(&self) -> u16 {
        self.blocks
    }

    /// The last group may have fewer.
    pub fn blocks_per_group(&self) -> u16 {
        self.per_group
    }

    /// 1 to [`MAX_GROUPS`].
    pub fn groups(&self) -> usize {
        self.groups
    }

    pub fn all(&self) -> Groups {
        Groups::first(self.groups())
    }

    /// In resource blocks; 0 beyond the last group.
    pub fn sizes(&self) -> &Row {
        &self.sizes
    }

    #[inline]
    pub fn blocks_in(&self, groups: Groups) -> u16 {
        let last = self.groups() - 1;
        let lacking = if groups.contains(last) { self.per_group - self.sizes[last] as u16 } else { 0 };
        groups.len() as u16 * self.per_group - lacking
    }

    /// With the number of the run's resource blocks in each group; other numbers have no meaning.
    #[inline]
    pub fn groups_of(&self, run: Run) -> (Groups, Row) {
        let (begin, end) = (run.begin, run.begin + run.blocks);
        let (first, last) = (begin / self.per_group, (end - 1) / self.per_group);
        let mut sizes = self.sizes;
        sizes[usize::from(last)] = f32::from(end - begin.max(last * self.per_group));
        sizes[usize::from(first)] = f32::from(end.min((first + 1) * self.per_group) - begin);
        let groups = Groups::first(usize::from(last) + 1).without(Groups::first(usize::from(first)));
        (groups, sizes)
    }

    /// Above the lower edge of the band.
    pub fn centre_hz(&self, group: usize) -> f64 {
        (group as f64 * f64::from(self.per_group) + f64::from(self.sizes[group]) / 2.0) * self.block_hz
    }
}

/// Need not begin or end with a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub begin: u16,
    /// At least 1.
    pub blocks: u16,
}

/// Bit 0 is the group with the lowest frequency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups(u32);

impl Groups {
    pub const NONE: Self = Self(0);

    /// Those with the lowest frequencies.
    pub fn first(count: usize) -> Self {
        Self(1u32.checked_shl(count as u32).map_or(u32::MAX, |bit| bit - 1))
    }

    pub fn only(group: usize) -> Self {
        Self(1 << group)
    }

    pub fn insert(&mut self, group: usize) {
        self.0 |= 1 << group;
    }

    pub fn remove(&mut self, group: usize) {
        self.0 &= !(1 << group);
    }

    pub fn contains(self, group: usize) -> bool {
        self.0 & (1 << group) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn bits(self) -> u32 {
        self.0
    }
}

impl IntoIterator for Groups {
    type Item = usize;
    type IntoIter = GroupsIter;

    fn into_iter(self) -> GroupsIter {
        GroupsIter(self.0)
    }
}

impl FromIterator<usize> for Groups {
    fn from_iter<I: IntoIterator<Item = usize>>(groups: I) -> Self {
        let mut set = Self::NONE;
        groups.into_iter().for_each(|group| set.insert(group));
        set
    }
}

/// In ascending order of frequency.
#[derive(Clone, Debug)]
pub struct GroupsIter(u32);

impl Iterator for GroupsIter {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let group = (self.0 != 0).then(|| self.0.trailing_zeros() as usize)?;
        self.0 &= self.0 - 1;
        Some(group)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_group_has_the_remaining_blocks() {
        let band = Band::new(25, 2, 180e3);
        assert_eq!(band.blocks_in(Groups::only(11)), 2);
        assert_eq!(band.blocks_in(Groups::only(12)), 1);
        assert!((band.centre_hz(11) - 23.0 * 180e3).abs() < 1e-6);
        assert!((band.centre_hz(12) - 24.5 * 180e3).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn runs_have_their_blocks_in_their_groups(most in 1..=110u16, per_group in 1..6u16, ends in any::<[u16; 2]>()) {
            let blocks = most.min(MAX_GROUPS as u16 * per_group);
            let band = Band::new(blocks, per_group, 180e3);
            let [begin, end] = ends.map(|end| end % blocks);
            let run = Run { begin: begin.min(end), blocks: begin.abs_diff(end) + 1 };
            let (groups, sizes) = band.groups_of(run);
            for (group, size) in sizes.iter().enumerate().take(band.groups()) {
                let is_inside = |block: &u16| *block >= run.begin && *block < run.begin + run.blocks;
                let of_group = (0..blocks).filter(|block| usize::from(block / per_group) == group);
                let expected = of_group.filter(is_inside).count();
                prop_assert_eq!(groups.contains(group), expected > 0);
                prop_assert!(expected == 0 || *size as usize == expected);
            }
        }

        #[test]
        fn groups_equal_an_ordered_set(ours in prop::collection::btree_set(0..MAX_GROUPS, 0..40), others in prop::collection::btree_set(0..MAX_GROUPS, 0..40)) {
            let [a, b] = [&ours, &others].map(|set| set.iter().copied().collect::<Groups>());
            let sorted = |set: Groups| set.into_iter().collect::<BTreeSet<_>>();
            prop_assert_eq!(sorted(a.union(b)), &ours | &others);
            prop_assert_eq!(sorted(a.intersection(b)), &ours & &others);
            prop_assert_eq!(sorted(a.without(b)), &ours - &others);
            prop_assert_eq!((a.len(), a.is_empty()), (ours.len(), ours.is_empty()));
            for group in 0..MAX_GROUPS {
                prop_assert_eq!(a.contains(group), ours.contains(&group));
                let mut less = a;
                less.remove(group);
                prop_assert_eq!(less, a.without(Groups::only(group)));
            }
        }
    }
}
