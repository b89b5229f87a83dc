//! Adjacent ones are merged in pairs to stay within the limit.

use nodeb_base::units::Time;

/// Initial length of an interval, ns.
pub const FIRST_WIDTH: u64 = 100_000_000;

/// With the data of the next interval.
pub trait Merge: Default {
    fn merge(&mut self, later: &Self);
}

/// From time zero.
#[derive(Debug)]
pub struct Bins<T> {
    width: u64,
    max: usize,
    kept: Vec<T>,
    /// Last of [`Self::at`].
    latest: (u64, usize),
}

impl<T: Merge> Bins<T> {
    /// Creates an empty list of at most `max` intervals and reserves memory for them.
    ///
    /// # Panics
    /// Panics if `max` is odd or 0.
    pub fn new(max: usize) -> Self {
        assert!(max >= 2 && max.is_multiple_of(2), "intervals are merged in pairs");
        Self { width: FIRST_WIDTH, max, kept: Vec::with_capacity(max), latest: (0, 0) }
    }

    /// Appends intervals up to this one if they do not exist yet, and merges intervals in pairs if there would be more
    /// than the maximum number.
    #[inline]
    pub fn at(&mut self, time: Time) -> &mut T {
        let (begin, place) = self.latest;
        if time.0.wrapping_sub(begin) >= self.width || place >= self.kept.len() {
            self.find(time.0);
        }
        &mut self.kept[self.latest.1]
    }

    #[cold]
    fn find(&mut self, time: u64) {
        while time / self.width >= self.max as u64 {
            self.double();
        }
        let place = (time / self.width) as usize;
        if place >= self.kept.len() {
            self.kept.resize_with(place + 1, T::default);
        }
        self.latest = (place as u64 * self.width, place);
    }

    fn double(&mut self) {
        let half = self.kept.len().div_ceil(2);
        for place in 0..half {
            self.kept.swap(place, 2 * place);
            let (first, rest) = self.kept.split_at_mut(place + 1);
            if let Some(later) = rest.get(place) {
                first[place].merge(later);
            }
        }
        self.kept.truncate(half);
        self.width *= 2;
        self.latest = (0, 0);
    }

    /// In ns: [`FIRST_WIDTH`] times a power of two.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// To at least `width` ns.
    pub fn widen(&mut self, width: u64) {
        while self.width < width {
            self.double();
        }
    }

    /// The interval must exist, so [`Self::at`] must have been called for it or for a later one.
    pub fn get(&self, place: usize) -> &T {
        &self.kept[place]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Default, Clone, PartialEq)]
    struct Seen(Vec<u64>);

    impl Merge for Seen {
        fn merge(&mut self, later: &Self) {
            self.0.extend(&later.0);
        }
    }

    proptest! {
        #[test]
        fn entries_are_in_the_interval_of_their_time(
            mut times in prop::collection::vec(0..40_000_000_000_u64, 1..200), max in 1..20_usize,
        ) {
            times.sort_unstable();
            let mut bins = Bins::<Seen>::new(2 * max);
            for time in &times {
                bins.at(Time(*time)).0.push(*time);
            }
            let reserved = bins.kept.capacity();
            prop_assert!(bins.kept.len() <= 2 * max && reserved <= 2 * max);
            let mut found: Vec<u64> = Vec::new();
            for (place, bin) in (0..).zip(&bins.kept) {
                prop_assert!(bin.0.iter().all(|time| time / bins.width == place), "{bin:?}");
                found.extend(&bin.0);
            }
            prop_assert_eq!(found, times);
        }

        #[test]
        fn unordered_times_are_in_their_intervals(times in prop::collection::vec(0..9_000_000_000_u64, 1..100)) {
            let mut bins = Bins::<Seen>::new(8);
            for time in &times {
                bins.at(Time(*time)).0.push(*time);
            }
            let all: usize = bins.kept.iter().map(|bin| bin.0.len()).sum();
            prop_assert_eq!(all, times.len());
            for (place, bin) in (0..).zip(&bins.kept) {
                prop_assert!(bin.0.iter().all(|time| time / bins.width == place));
            }
        }
    }

    #[test]
    fn intervals_are_merged_only_if_needed() {
        let mut bins = Bins::<Seen>::new(4);
        bins.at(Time(4 * FIRST_WIDTH - 1));
        assert_eq!(bins.width(), FIRST_WIDTH);
        bins.at(Time(4 * FIRST_WIDTH));
        assert_eq!((bins.width(), bins.kept.len()), (2 * FIRST_WIDTH, 3));
        bins.widen(8 * FIRST_WIDTH);
        assert_eq!((bins.width(), bins.kept.len()), (8 * FIRST_WIDTH, 1));
    }
}
