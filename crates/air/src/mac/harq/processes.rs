//! TS 25.321, 11.6.1 (MAC-hs) and 11.6.3 (MAC-ehs): stop-and-wait in each process, asynchronous. The answer
//! is known when the retransmission delay has passed since the start of the TTI. An ACK received as a NACK
//! costs a transmission that the UE recognizes as a duplicate; a NACK received as an ACK loses the block, as
//! the next block flushes the UE's soft buffer.

use crate::mac::outer_loop::FirstAnswer;

#[derive(Clone, Copy, Debug)]
struct Process {
    /// Answer to the last transmission; 0 before the first.
    at: u64,
    /// Of the last block sent.
    tsn: u64,
    /// The block must be retransmitted from TTI `at`, else the process is free then.
    is_pending: bool,
    /// Not yet passed on by [`Processes::take_answers`].
    first_answer: Option<FirstAnswer>,
}

impl Process {
    const IDLE: Self = Self { at: 0, tsn: 0, is_pending: false, first_answer: None };
}

// Clause: TS 36.321, 5.3.2: HARQ processes
#[derive(Debug)]
pub struct Processes<B> {
    all: Vec<Process>,
    /// Not in `all`, as blocks are large and all processes are often examined.
    blocks: Vec<Option<B>>,
    next_tsn: u64,
    window: u64,
    /// `u64::MAX` if there is none. This field and the next two follow from `all`, cached as they are needed
    /// in every TTI.
    retransmission_at: u64,
    /// `u64::MAX` if there is none.
    new_at: u64,
    /// For [`Self::take_answers`]; `u64::MAX` if there is none.
    answer_at: u64,
}

impl<B> Processes<B> {
    /// A new block is not sent while its number is `window` or more above that of the oldest block in flight.
    pub fn new(processes: u32, window: u64) -> Self {
        Self {
            all: vec![Process::IDLE; processes as usize],
            blocks: (0..processes).map(|_| None).collect(),
            next_tsn: 0,
            window,
            retransmission_at: u64::MAX,
            new_at: 0,
            answer_at: u64::MAX,
        }
    }

    /// First TTI with a retransmission or, if `has_new`, a new block; else `u64::MAX`.
    pub fn ready(&self, has_new: bool) -> u64 {
        if has_new { self.retransmission_at.min(self.new_at) } else { self.retransmission_at }
    }

    /// Without retransmissions.
    pub fn begun(&self) -> u64 {
        self.next_tsn
    }

    fn update_times(&mut self) {
        // The window does not limit the first `window` blocks, and limits no block if it is
        // infinite.
        let times = if self.next_tsn < self.window { self.times::<false>() } else { self.times::<true>() };
        [self.retransmission_at, self.new_at, self.answer_at] = times;
    }

    /// `LIMITS` is true if the window may prevent new blocks.
    #[inline]
    fn times<const LIMITS: bool>(&self) -> [u64; 3] {
        let (mut retransmission_at, mut new_at, mut answer_at) = (u64::MAX, u64::MAX, u64::MAX);
        let mut open = 0;
        for process in &self.all {
            if process.is_pending {
                retransmission_at = retransmission_at.min(process.at);
            } else {
                new_at = new_at.min(process.at);
            }
            if process.first_answer.is_some() {
                answer_at = answer_at.min(process.at);
            }
            // A block in flight prevents new blocks whose number is `window` or more above its own.
            if LIMITS && process.at > 0 && self.next_tsn - process.tsn >= self.window {
                open = open.max(if process.is_pending { u64::MAX } else { process.at });
            }
        }
        [retransmission_at, new_at.max(open), answer_at]
    }

    /// The process with the lowest block number.
    fn next_retransmission(&self, tti: u64) -> Option<usize> {
        if self.retransmission_at > tti {
            return None;
        }
        let due = |(_, process): &(usize, &Process)| process.at <= tti && process.is_pending;
        let first = self.all.iter().enumerate().filter(due).min_by_key(|(_, process)| process.tsn);
        first.map(|(index, _)| index)
    }

    pub fn retransmission(&self, tti: u64) -> Option<&B> {
        self.blocks[self.next_retransmission(tti)?].as_ref()
    }

    /// `u64::MAX` if no block waits.
    pub fn first_retransmission(&self) -> u64 {
        self.retransmission_at
    }

    pub fn has_free(&self, tti: u64) -> bool {
        self.new_at <= tti
    }

    /// First TTI in which [`Self::retransmission`] or [`Self::has_free`] may change if nothing is sent; only
    /// the former counts while it is due, as retransmissions precede new blocks.
    pub fn unchanged_until(&self, tti: u64) -> u64 {
        if self.retransmission_at > tti {
            let opens = if self.new_at > tti { self.new_at } else { u64::MAX };
            return self.retransmission_at.min(opens);
        }
        // A retransmission is due, but before it is sent, a block with a lower number may become
        // due and take its place.
        let later = self.all.iter().filter(|process| process.at > tti && process.is_pending);
        later.map(|process| process.at).min().unwrap_or(u64::MAX)
    }

    /// First TTI with a retransmission or an answer for [`Self::take_answers`]; `u64::MAX` if there is none.
    pub fn attention_at(&self) -> u64 {
        self.retransmission_at.min(self.answer_at)
    }

    /// If nothing is sent until then; `u64::MAX` if there is none.
    pub fn free_at(&self) -> u64 {
        self.new_at
    }

    pub fn next_answer(&self) -> u64 {
        self.answer_at
    }

    pub fn take_retransmission(&mut self, tti: u64) -> Option<(usize, B)> {
        let index = self.next_retransmission(tti)?;
        self.all[index].is_pending = false;
        Some((index, self.blocks[index].take()?))
    }

    /// Process and number of a new block; `None` if no process is free or the window is full.
    pub fn begin(&mut self, tti: u64) -> Option<(usize, u64)> {
        if !self.has_free(tti) {
            return None;
        }
        let index = self.all.iter().position(|process| process.at <= tti && !process.is_pending)?;
        self.next_tsn += 1;
        Some((index, self.next_tsn - 1))
    }

    /// `pending` is the block if it must be retransmitted, `first_answer` the answer to a first transmission
    /// if link adaptation needs it.
    pub fn sent(
        &mut self,
        index: usize,
        tsn: u64,
        at: u64,
        pending: Option<B>,
        first_answer: Option<FirstAnswer>,
    ) {
        self.all[index] = Process { at, tsn, is_pending: pending.is_some(), first_answer };
        // The process holds no block here, as a block is taken out before it is retransmitted.
        if pending.is_some() {
            self.blocks[index] = pending;
        }
        self.update_times();
    }

    pub fn first_answer(&self, tti: u64, acknowledged: bool) -> FirstAnswer {
        let others = self.all.iter().filter(|process| process.at > tti).count();
        FirstAnswer { acknowledged, under_way: others as u8 + 1 }
    }

    /// Without a reset of MAC-hs: `forward` is called for each pending block, and answers not passed on are
    /// discarded.
    pub fn change_cell(&mut self, tti: u64, forward: impl Fn(&mut B)) {
        for (process, block) in self.all.iter_mut().zip(&mut self.blocks) {
            process.first_answer = None;
            if let Some(block) = block {
                forward(block);
                process.at = process.at.max(tti);
            }
        }
        self.update_times();
    }

    /// Resets MAC-hs, so that block numbers start at 0 again; the blocks that waited for retransmission.
    pub fn flush(&mut self) -> impl Iterator<Item = B> + use<B> {
        let old = std::mem::replace(self, Self::new(self.all.len() as u32, self.window));
        old.blocks.into_iter().flatten()
    }

    /// Each answer once.
    #[inline]
    pub fn take_answers(&mut self, tti: u64, on_answer: impl FnMut(FirstAnswer)) {
        if self.answer_at <= tti {
            self.deliver_answers(tti, on_answer);
        }
    }

    fn deliver_answers(&mut self, tti: u64, mut on_answer: impl FnMut(FirstAnswer)) {
        for process in self.all.iter_mut().filter(|process| process.at <= tti) {
            if let Some(answer) = process.first_answer.take() {
                on_answer(answer);
            }
        }
        self.update_times();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer is known 6 TTIs later.
    fn send(processes: &mut Processes<u64>, tti: u64, fails: bool) -> u64 {
        let (index, tsn) = processes.begin(tti).unwrap();
        let answer = processes.first_answer(tti, !fails);
        processes.sent(index, tsn, tti + 6, fails.then_some(tsn), Some(answer));
        tsn
    }

    // Tests the feature: HARQ processes (property)
    #[test]
    fn n_processes_have_at_most_n_blocks_in_flight() {
        let mut processes = Processes::new(6, 32);
        for tti in 0..6 {
            assert!(processes.has_free(tti) && processes.ready(true) <= tti);
            send(&mut processes, tti, false);
        }
        // The process that sent in TTI 0 is free again in TTI 6, so one user can use every TTI.
        assert!(!processes.has_free(5) && processes.has_free(6));
        assert_eq!(processes.ready(true), 6);
        assert_eq!(processes.ready(false), u64::MAX);
        let mut few = Processes::new(4, 32);
        for tti in 0..4 {
            send(&mut few, tti, false);
        }
        assert_eq!(few.ready(true), 6);
    }

    // Tests the feature: HARQ processes (worked example)
    #[test]
    fn a_failed_block_is_retransmitted_by_its_process() {
        let mut processes = Processes::new(2, 32);
        send(&mut processes, 0, true);
        send(&mut processes, 1, true);
        assert_eq!(processes.ready(false), 6);
        assert!(processes.retransmission(5).is_none());
        let (index, pending) = processes.take_retransmission(7).unwrap();
        assert_eq!((index, pending), (0, 0));
        processes.sent(index, 0, 13, None, None);
        assert_eq!(processes.take_retransmission(7), Some((1, 1)));
    }

    /// Block 0 fails twice; the window is 4.
    #[test]
    fn the_window_waits_for_the_oldest_block() {
        let mut processes = Processes::new(8, 4);
        send(&mut processes, 0, true);
        for tti in 1..4 {
            send(&mut processes, tti, false);
        }
        assert!(!processes.has_free(4));
        assert_eq!(processes.ready(true), 6, "when block 0 is retransmitted");
        let (index, pending) = processes.take_retransmission(6).unwrap();
        processes.sent(index, 0, 12, Some(pending), None);
        assert!(!processes.has_free(11), "block 0 is still in flight");
        assert_eq!(processes.ready(true), 12);
        let (index, _) = processes.take_retransmission(12).unwrap();
        processes.sent(index, 0, 18, None, None);
        assert!(!processes.has_free(17) && processes.has_free(18));
        assert_eq!(processes.ready(true), 18);
    }

    #[test]
    fn answers_are_taken_once_and_not_before_they_are_known() {
        let mut processes = Processes::new(3, 32);
        send(&mut processes, 0, true);
        send(&mut processes, 1, false);
        let mut answers = Vec::new();
        for tti in [5, 6, 7, 8] {
            processes.take_answers(tti, |answer| answers.push((tti, answer.acknowledged, answer.under_way)));
        }
        assert_eq!(answers, [(6, false, 1), (7, true, 2)]);
    }
}
