//! Ends of recorded channels, after which nothing is sent to their users.

#[derive(Debug)]
pub struct Ends {
    /// `u64::MAX` without an end; 0 once [`Self::pass`] has passed it.
    of_users: Vec<u64>,
    next: u64,
}

impl Ends {
    pub fn new(ends: impl Iterator<Item = u64>) -> Self {
        let of_users: Vec<u64> = ends.collect();
        Self { next: of_users.iter().copied().min().unwrap_or(u64::MAX), of_users }
    }

    /// A transmission possible from TTI `ready` on would follow the end of the user's channel.
    #[inline]
    pub fn precede(&self, user: usize, ready: u64) -> bool {
        self.of_users[user] <= ready
    }

    #[inline]
    pub fn pass(&mut self, tti: u64, end: impl FnMut(usize)) {
        if self.next <= tti {
            self.pass_each(tti, end);
        }
    }

    #[cold]
    fn pass_each(&mut self, tti: u64, mut end: impl FnMut(usize)) {
        for (user, of_user) in self.of_users.iter_mut().enumerate() {
            if (1..=tti).contains(of_user) {
                *of_user = 0;
                end(user);
            }
        }
        self.next = self.of_users.iter().copied().filter(|end| *end > 0).min().unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_is_passed_once() {
        let mut ends = Ends::new([30, u64::MAX, 20, 30].into_iter());
        let mut passed = Vec::new();
        for tti in [0, 19, 20, 25, 31, 40] {
            ends.pass(tti, |user| passed.push((tti, user)));
        }
        assert_eq!(passed, [(20, 2), (31, 0), (31, 3)]);
        assert!(ends.precede(0, 5) && !ends.precede(1, 1_000));
        assert!(Ends::new([30].into_iter()).precede(0, 30) && !Ends::new([30].into_iter()).precede(0, 29));
    }
}
