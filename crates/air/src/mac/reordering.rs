//! TS 25.321, 11.6.2 (MAC-hs) and 11.6.4 (MAC-ehs): a gap is given up when T1, which runs while blocks wait,
//! expires, or when a block moves the receive window beyond it. Numbers never wrap; on the air they are
//! modulo 64, which is equivalent as long as the Node B respects its window. PDCP uses this queue too, with
//! nanoseconds in place of TTIs.

use std::collections::VecDeque;

#[derive(Debug)]
pub struct ReorderingQueue<T> {
    window: u64,
    t1_ttis: u64,
    next_expected: u64,
    /// Highest number received plus 1, or 0.
    upper_edge: u64,
    /// From block `next_expected`; `None` is a missing block.
    waiting: VecDeque<Option<T>>,
    held: usize,
    /// Expiry, and the block number for which T1 was started.
    t1: Option<(u64, u64)>,
}

impl<T> ReorderingQueue<T> {
    pub fn new(window: u64, t1_ttis: u64) -> Self {
        Self { window, t1_ttis, next_expected: 0, upper_edge: 0, waiting: VecDeque::new(), held: 0, t1: None }
    }

    /// Without a window and with a T1 that never expires: the caller must report every lost block.
    pub fn without_timer() -> Self {
        Self::new(u64::MAX, u64::MAX)
    }

    pub fn timer(&self) -> Option<u64> {
        self.t1.map(|(at, _)| at)
    }

    /// False, without any effect, if the block was received or given up before.
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

    /// Gives up the gaps before the block for which T1 was started.
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

    /// `tti` is the first in which blocks can arrive after a change of cell without a reset of MAC-hs.
    pub fn delay_timer(&mut self, tti: u64) {
        if let Some((at, _)) = &mut self.t1 {
            *at = tti + self.t1_ttis;
        }
    }

    /// Resets MAC-hs (TS 25.321, 11.6); the blocks that waited.
    pub fn reset(&mut self) -> Vec<T> {
        let waiting = std::mem::take(&mut self.waiting).into_iter().flatten().collect();
        *self = Self::new(self.window, self.t1_ttis);
        waiting
    }

    /// Delivers waiting blocks before `tsn` and gives up the missing ones.
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

    /// T1 stops if its block has left, and starts for the highest number received if blocks wait.
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

    /// (TTI, number) of arrivals and of deliveries.
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
    fn filling_a_gap_delivers_all_waiting_blocks() {
        let mut queue = ReorderingQueue::new(32, 13);
        let left = play(&mut queue, &[(1, 0), (2, 2), (3, 3), (8, 1), (9, 4)]);
        assert_eq!(left, [(1, 0), (8, 1), (8, 2), (8, 3), (9, 4)]);
        assert_eq!(queue.timer(), None);
    }

    /// Blocks 1 and 4 are lost. T1 starts for block 2 in TTI 2, then again for the highest number received,
    /// 6.
    #[test]
    fn t1_gives_up_a_gap_and_restarts_for_the_next() {
        let mut queue = ReorderingQueue::new(32, 13);
        let left = play(&mut queue, &[(1, 0), (2, 2), (3, 3), (5, 5), (6, 6)]);
        assert_eq!(left, [(1, 0), (15, 2), (15, 3), (28, 5), (28, 6)]);
    }

    #[test]
    fn t1_delivers_up_to_the_block_it_was_started_for() {
        let mut queue = ReorderingQueue::new(32, 10);
        let left = play(&mut queue, &[(0, 3), (4, 1), (6, 5), (20, 4)]);
        assert_eq!(left, [(10, 1), (10, 3), (20, 4), (20, 5)]);
    }

    /// Block 6 moves the window of 4 to blocks 3 to 6: 0 and 1 are given up, 2 is delivered at once.
    #[test]
    fn a_block_beyond_the_window_moves_the_window() {
        let mut queue = ReorderingQueue::new(4, 100);
        let left = play(&mut queue, &[(0, 2), (1, 6), (2, 1), (3, 3), (4, 4), (5, 5)]);
        assert_eq!(left, [(1, 2), (3, 3), (4, 4), (5, 5), (5, 6)]);
    }

    /// T1 (TS 25.321, 11.6.2) of 13 TTIs from TTI 50, the first in which blocks can arrive; if T1 does not
    /// run, the change does not start it.
    #[test]
    fn t1_runs_its_whole_length_after_a_handover() {
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
    fn old_blocks_and_duplicates_are_ignored() {
        let mut queue = ReorderingQueue::new(32, 13);
        let left = play(&mut queue, &[(1, 0), (2, 0), (3, 2), (4, 2), (5, 1), (6, 2)]);
        assert_eq!(left, [(1, 0), (5, 1), (5, 2)]);
    }

    proptest! {
        #[test]
        fn blocks_are_delivered_once_and_in_order(
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

    /// In TTI 50; T1 is 25 TTIs.
    #[test]
    fn t1_restarts_with_the_next_cell() {
        let mut queue = ReorderingQueue::new(32, 25);
        assert!(queue.receive(10, 1, 1, |_| ()));
        assert_eq!(queue.timer(), Some(35));
        queue.delay_timer(50);
        assert_eq!(queue.timer(), Some(75));
    }
}
