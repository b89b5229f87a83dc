//! Intervals of time of which there are never more than so many: when they are full, each two become one.

use nodeb_base::units::Time;

/// How long an interval is at first, ns.
pub const FIRST_WIDTH: u64 = 100_000_000;

/// Something of an interval that is added up when two become one.
pub trait Merge: Default {
    /// Adds what came after.
    fn merge(&mut self, later: &Self);
}

/// Equal intervals from time zero on.
#[derive(Debug)]
pub struct Bins<T> {
    width: u64,
    most: usize,
    kept: Vec<T>,
    /// Where the latest one asked for begins, and its place.
    latest: (u64, usize),
}

impl<T: Merge> Bins<T> {
    /// None yet, and never more than `most`, an even number; memory for these is reserved.
    pub fn new(most: usize) -> Self {
        assert!(most >= 2 && most.is_multiple_of(2), "each two become one");
        Self { width: FIRST_WIDTH, most, kept: Vec::with_capacity(most), latest: (0, 0) }
    }

    /// The one that a time is in.
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
        while time / self.width >= self.most as u64 {
            self.double();
        }
        let place = (time / self.width) as usize;
        if place >= self.kept.len() {
            self.kept.resize_with(place + 1, T::default);
        }
        self.latest = (place as u64 * self.width, place);
    }

    /// Each two become one.
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

    /// How long each is, ns: [`FIRST_WIDTH`], doubled some times.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Makes them at least as long as others are.
    pub fn widen(&mut self, width: u64) {
        while self.width < width {
            self.double();
        }
    }

    /// One of them, up to the latest that was asked for.
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
        /// Whatever was put in is in the interval of its time, and there are never too many.
        #[test]
        fn what_was_put_in_is_where_it_belongs(
            mut times in prop::collection::vec(0..40_000_000_000_u64, 1..200), most in 1..20_usize,
        ) {
            times.sort_unstable();
            let mut bins = Bins::<Seen>::new(2 * most);
            for time in &times {
                bins.at(Time(*time)).0.push(*time);
            }
            let reserved = bins.kept.capacity();
            prop_assert!(bins.kept.len() <= 2 * most && reserved <= 2 * most);
            let mut found: Vec<u64> = Vec::new();
            for (place, bin) in (0..).zip(&bins.kept) {
                prop_assert!(bin.0.iter().all(|time| time / bins.width == place), "{bin:?}");
                found.extend(&bin.0);
            }
            prop_assert_eq!(found, times);
        }

        /// A time before the latest finds its own interval too.
        #[test]
        fn times_need_not_be_in_order(times in prop::collection::vec(0..9_000_000_000_u64, 1..100)) {
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
    fn they_are_no_longer_than_they_must_be() {
        let mut bins = Bins::<Seen>::new(4);
        bins.at(Time(4 * FIRST_WIDTH - 1));
        assert_eq!(bins.width(), FIRST_WIDTH);
        bins.at(Time(4 * FIRST_WIDTH));
        assert_eq!((bins.width(), bins.kept.len()), (2 * FIRST_WIDTH, 3));
        bins.widen(8 * FIRST_WIDTH);
        assert_eq!((bins.width(), bins.kept.len()), (8 * FIRST_WIDTH, 1));
    }
}
