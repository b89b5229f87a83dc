use std::cell::Cell;

use nodeb_base::units::Time;

/// `Time(u64::MAX)` for none. The earliest is stored, so that most look-ups need no search.
#[derive(Debug)]
pub struct Earliest {
    at: Vec<Time>,
    /// May be too early if `is_old`.
    first: Cell<Time>,
    is_old: Cell<bool>,
}

impl Earliest {
    pub fn new(users: usize) -> Self {
        let never = Time(u64::MAX);
        Self { at: vec![never; users], first: Cell::new(never), is_old: Cell::new(false) }
    }

    #[inline]
    pub fn of(&self, user: usize) -> Time {
        self.at[user]
    }

    /// `Time(u64::MAX)` removes it.
    #[inline]
    pub fn set(&mut self, user: usize, at: Time) {
        let old = std::mem::replace(&mut self.at[user], at);
        if at <= self.first.get() {
            self.first.set(at);
            self.is_old.set(false);
        } else if old == self.first.get() {
            self.is_old.set(true);
        }
    }

    #[inline]
    pub fn first(&self) -> Time {
        if self.is_old.get() {
            self.first.set(self.at.iter().copied().min().unwrap_or(Time(u64::MAX)));
            self.is_old.set(false);
        }
        self.first.get()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_minimum(changes in prop::collection::vec((0..6usize, 0..9u64, any::<bool>()), 1..60)) {
            let (mut times, mut expected) = (Earliest::new(6), [Time(u64::MAX); 6]);
            for (user, at, looks) in changes {
                let at = if at == 0 { Time(u64::MAX) } else { Time(at) };
                times.set(user, at);
                expected[user] = at;
                prop_assert_eq!(times.of(user), at);
                if looks {
                    prop_assert_eq!(times.first(), expected.into_iter().min().unwrap());
                }
            }
        }
    }
}
