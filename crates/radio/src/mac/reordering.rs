//! The reordering queue behind HARQ: blocks leave in the order of their numbers.
//!
//! TS 25.321, 11.6.2 (MAC-hs) and 11.6.4 (MAC-ehs): a block beyond a gap waits. The gap is given up when
//! timer T1, started at the first block that had to wait, runs out, or when a block arrives that moves
//! the receive window past it. Numbers run without end here; on the air they are modulo 64, which is the same as long as
//! the Node B keeps to its window. T1 counts whole TTIs.

use std::collections::VecDeque;

/// A reordering queue of blocks that hold a `T`.
#[derive(Debug)]
pub struct ReorderingQueue<T> {
    window: u64,
    t1_ttis: u64,
    /// The next number to leave in order.
    next_expected: u64,
    /// The highest number received, plus one.
    upper_edge: u64,
    /// What waits, from `next_expected` on.
    waiting: VecDeque<Option<T>>,
    held: usize,
    /// When T1 runs out, and the number it was started for.
    t1: Option<(u64, u64)>,
}

impl<T> ReorderingQueue<T> {
    /// An empty queue with a window of `window` numbers.
    pub fn new(window: u64, t1_ttis: u64) -> Self {
        Self { window, t1_ttis, next_expected: 0, upper_edge: 0, waiting: VecDeque::new(), held: 0, t1: None }
    }

    /// One that waits as long as it takes: where every block is known to have arrived or to be lost.
    pub fn without_timer() -> Self {
        Self::new(u64::MAX, u64::MAX)
    }

    /// TTI in which T1 runs out.
    pub fn timer(&self) -> Option<u64> {
        self.t1.map(|(at, _)| at)
    }

    /// Takes block number `tsn` at the beginning of TTI number `tti` and hands over what may leave.
    /// `false` means that the block is not wanted: it had been given up, or is here already.
    #[must_use]
    pub fn receive(&mut self, tti: u64, tsn: u64, block: T, mut leave: impl FnMut(T)) -> bool {
        if tsn < self.next_expected {
            return false;
        }
        let place = (tsn - self.next_expected) as usize;
        if self.waiting.len() <= place {
            self.waiting.resize_with(place + 1, || None);
        }
        if self.waiting[place].is_some() {
            return false;
        }
        self.waiting[place] = Some(block);
        self.held += 1;
        self.upper_edge = self.upper_edge.max(tsn + 1);
        self.skip_to(self.upper_edge.saturating_sub(self.window), &mut leave);
        self.leave_in_order(&mut leave);
        self.restart_timer(tti);
        true
    }

    /// T1 has run out in TTI number `tti`: gives up the gaps before the number it was started for.
    pub fn expire(&mut self, tti: u64, mut leave: impl FnMut(T)) {
        if let Some((at, tsn)) = self.t1
            && at <= tti
        {
            self.t1 = None;
            self.skip_to(tsn, &mut leave);
            self.leave_in_order(&mut leave);
            self.restart_timer(tti);
        }
    }

    /// The cell has changed without a reset, and nothing comes before TTI number `tti`: T1, if it runs,
    /// begins anew there.
    pub fn delay_timer(&mut self, tti: u64) {
        if let Some((at, _)) = &mut self.t1 {
            *at = tti + self.t1_ttis;
        }
    }

    /// MAC-hs is reset (TS 25.321, 11.6): hands over all that waits; numbers begin anew.
    pub fn reset(&mut self) -> Vec<T> {
        let waiting = std::mem::take(&mut self.waiting).into_iter().flatten().collect();
        *self = Self::new(self.window, self.t1_ttis);
        waiting
    }

    /// Hands over everything below `tsn` and expects nothing below it any more.
    fn skip_to(&mut self, tsn: u64, leave: &mut impl FnMut(T)) {
        while self.next_expected < tsn {
            self.next_expected += 1;
            if let Some(block) = self.waiting.pop_front().flatten() {
                self.held -= 1;
                leave(block);
            }
        }
    }

    fn leave_in_order(&mut self, leave: &mut impl FnMut(T)) {
        while let Some(Some(_)) = self.waiting.front() {
            self.skip_to(self.next_expected + 1, leave);
        }
    }

    /// T1 stops when its block has left; it starts for the highest number that waits.
    fn restart_timer(&mut self, tti: u64) {
        if self.t1.is_some_and(|(_, tsn)| tsn < self.next_expected) {
            self.t1 = None;
        }
        if self.t1.is_none() && self.held > 0 {
            self.t1 = Some((tti.saturating_add(self.t1_ttis), self.upper_edge - 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Plays (TTI, number) and returns (TTI, number) of what leaves, T1 included.
    fn play(queue: &mut ReorderingQueue<u64>, arrivals: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut left = Vec::new();
        let expire = |queue: &mut ReorderingQueue<u64>, until: u64| {
            let mut out = Vec::new();
            while let Some(at) = queue.timer().filter(|at| *at < until) {
                queue.expire(at, |tsn| out.push((at, tsn)));
            }
            out
        };
        for &(tti, tsn) in arrivals {
            left.extend(expire(queue, tti));
            let _ = queue.receive(tti, tsn, tsn, |tsn| left.push((tti, tsn)));
        }
        left.extend(expire(queue, u64::MAX));
        left
    }

    #[test]
    fn a_gap_that_is_filled_lets_everything_go() {
        let mut queue = ReorderingQueue::new(32, 13);
        let left = play(&mut queue, &[(1, 0), (2, 2), (3, 3), (8, 1), (9, 4)]);
        assert_eq!(left, [(1, 0), (8, 1), (8, 2), (8, 3), (9, 4)]);
        assert_eq!(queue.timer(), None);
    }

    /// Numbers 1 and 4 are lost. T1 starts for 2 in TTI 2; when it runs out 2 and 3 leave and T1
    /// starts anew for the highest that waits, number 6, so that 5 and 6 leave 13 TTIs later.
    #[test]
    fn t1_gives_up_a_gap_and_starts_again_for_the_next() {
        let mut queue = ReorderingQueue::new(32, 13);
        let left = play(&mut queue, &[(1, 0), (2, 2), (3, 3), (5, 5), (6, 6)]);
        assert_eq!(left, [(1, 0), (15, 2), (15, 3), (28, 5), (28, 6)]);
    }

    /// What comes before T1's block leaves with it in order, and the gap behind it goes on waiting.
    #[test]
    fn t1_stands_for_the_block_it_was_started_for() {
        let mut queue = ReorderingQueue::new(32, 10);
        let left = play(&mut queue, &[(0, 3), (4, 1), (6, 5), (20, 4)]);
        assert_eq!(left, [(10, 1), (10, 3), (20, 4), (20, 5)]);
    }

    /// A window of 4: number 6 moves it to 3..=6, so 0 and 1 are given up and 2 leaves at once.
    #[test]
    fn a_block_beyond_the_window_moves_it() {
        let mut queue = ReorderingQueue::new(4, 100);
        let left = play(&mut queue, &[(0, 2), (1, 6), (2, 1), (3, 3), (4, 4), (5, 5)]);
        assert_eq!(left, [(1, 2), (3, 3), (4, 4), (5, 5), (5, 6)]);
    }

    /// T1 (TS 25.321, 11.6.2) lasts so many TTIs from where blocks can come again: 13 after TTI 50 here, for
    /// whatever it was started; where it does not run nothing starts.
    #[test]
    fn t1_lasts_as_long_as_ever_after_a_handover() {
        let mut queue = ReorderingQueue::new(32, 13);
        queue.delay_timer(5);
        assert_eq!(queue.timer(), None);
        assert!(queue.receive(2, 2, 2, |_| panic!("0 and 1 are missing")));
        assert_eq!(queue.timer(), Some(15));
        queue.delay_timer(50);
        assert_eq!(queue.timer(), Some(63));
        assert_eq!(play(&mut queue, &[]), [(63, 2)]);
    }

    #[test]
    fn old_and_repeated_blocks_are_nothing_new() {
        let mut queue = ReorderingQueue::new(32, 13);
        let left = play(&mut queue, &[(1, 0), (2, 0), (3, 2), (4, 2), (5, 1), (6, 2)]);
        assert_eq!(left, [(1, 0), (5, 1), (5, 2)]);
    }

    proptest! {
        /// Whatever arrives, in whatever order: what leaves is in order, once, and everything leaves.
        #[test]
        fn order_is_never_broken(
            arrivals in prop::collection::vec((0..4u64, 0..60u64), 1..80),
            window in 1..=32u64,
            t1 in 1..40u64,
        ) {
            let mut queue = ReorderingQueue::new(window, t1);
            let mut tti = 0;
            let arrivals: Vec<_> = arrivals
                .into_iter()
                .map(|(gap, tsn)| {
                    tti += gap;
                    (tti, tsn)
                })
                .collect();
            let left = play(&mut queue, &arrivals);
            prop_assert!(left.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert_eq!((queue.held, queue.timer()), (0, None));
            prop_assert!(left.iter().all(|(_, tsn)| arrivals.iter().any(|(_, number)| number == tsn)));
        }
    }

    /// After a change of cell T1 has its whole time again.
    #[test]
    fn t1_begins_anew_where_the_next_cell_does() {
        let mut queue = ReorderingQueue::new(32, 25);
        assert!(queue.receive(10, 1, 1, |_| ()));
        assert_eq!(queue.timer(), Some(35));
        queue.delay_timer(50);
        assert_eq!(queue.timer(), Some(75));
    }
}
