//! HARQ processes of one user: N blocks on the way at once, each sent, answered, and sent again.
//!
//! TS 25.321, 11.6.1 (MAC-hs) and 11.6.3 (MAC-ehs): stop and wait in each process, asynchronous. The
//! answer is known the retransmission delay after the beginning of the TTI. An ACK read as a NACK costs a transmission
//! that the UE recognizes as old; a NACK read as an ACK loses the block, because the next one flushes
//! the UE's soft buffer.

/// A process. Until `at` the answer is on its way.
#[derive(Debug)]
struct Process<B> {
    /// TTI from which the answer is known.
    at: u64,
    /// Number of the block that is or was on its way.
    tsn: u64,
    /// The block, if it has to be sent again.
    again: Option<B>,
    /// The answer to a first transmission, until it is taken note of.
    first_answer: Option<bool>,
}

impl<B> Process<B> {
    const IDLE: Self = Self { at: 0, tsn: 0, again: None, first_answer: None };
}

/// The processes of a user, which send blocks `B`.
#[derive(Debug)]
pub struct Processes<B> {
    all: Vec<Process<B>>,
    next_tsn: u64,
    window: u64,
    /// TTIs from which a block may go again, a new one may be begun, and an answer can be heard: what
    /// follows from `all`, kept because it is asked in every TTI.
    again_at: u64,
    fresh_at: u64,
    answer_at: u64,
}

impl<B> Processes<B> {
    /// Idle processes; a block is not begun `window` numbers ahead of the oldest on its way.
    pub fn new(processes: u32, window: u64) -> Self {
        let all = (0..processes).map(|_| Process::IDLE).collect();
        Self { all, next_tsn: 0, window, again_at: u64::MAX, fresh_at: 0, answer_at: u64::MAX }
    }

    /// The first TTI in which something may be sent: a block again, or a new one if there is any.
    pub fn ready(&self, has_fresh: bool) -> u64 {
        if has_fresh { self.again_at.min(self.fresh_at) } else { self.again_at }
    }

    /// Blocks begun.
    #[cfg(test)]
    pub fn begun(&self) -> u64 {
        self.next_tsn
    }

    fn note(&mut self) {
        (self.again_at, self.fresh_at, self.answer_at) = (u64::MAX, u64::MAX, u64::MAX);
        let mut open = 0;
        for process in &self.all {
            let goes_again = process.again.is_some();
            if goes_again {
                self.again_at = self.again_at.min(process.at);
            } else {
                self.fresh_at = self.fresh_at.min(process.at);
            }
            if process.first_answer.is_some() {
                self.answer_at = self.answer_at.min(process.at);
            }
            // A block on its way keeps those from being begun that are a window ahead of it.
            if process.at > 0 && self.next_tsn - process.tsn >= self.window {
                open = open.max(if goes_again { u64::MAX } else { process.at });
            }
        }
        self.fresh_at = self.fresh_at.max(open);
    }

    /// The process whose block has the lowest number of those that may be sent again in TTI number `tti`.
    fn next_again(&self, tti: u64) -> Option<usize> {
        if self.again_at > tti {
            return None;
        }
        let due = |(_, process): &(usize, &Process<B>)| process.at <= tti && process.again.is_some();
        let first = self.all.iter().enumerate().filter(due).min_by_key(|(_, process)| process.tsn);
        first.map(|(index, _)| index)
    }

    /// The block that is sent again in TTI number `tti`, if one may be.
    pub fn again(&self, tti: u64) -> Option<&B> {
        self.all[self.next_again(tti)?].again.as_ref()
    }

    /// Whether some block will be sent again.
    pub fn has_again(&self) -> bool {
        self.again_at < u64::MAX
    }

    /// Whether a new block may be begun in TTI number `tti`.
    pub fn has_free(&self, tti: u64) -> bool {
        self.fresh_at <= tti
    }

    /// The first TTI after number `tti` in which [`Self::again`] or [`Self::has_free`] may say something
    /// else, if nothing is sent until then.
    pub fn holds_until(&self, tti: u64) -> u64 {
        if self.again_at > tti {
            let opens = if self.fresh_at > tti { self.fresh_at } else { u64::MAX };
            return self.again_at.min(opens);
        }
        // A block goes again, but one with a lower number may fall due before it has.
        let later = self.all.iter().filter(|process| process.at > tti && process.again.is_some());
        later.map(|process| process.at).min().unwrap_or(u64::MAX)
    }

    /// The first TTI in which an answer can be heard that has not been taken note of.
    pub fn next_answer(&self) -> u64 {
        self.answer_at
    }

    /// Takes out the block that [`Self::again`] shows, with the number of its process.
    pub fn take_again(&mut self, tti: u64) -> Option<(usize, B)> {
        let index = self.next_again(tti)?;
        Some((index, self.all[index].again.take()?))
    }

    /// The number of a free process and of the block that it is to send, unless the window is in the way.
    pub fn begin(&mut self, tti: u64) -> Option<(usize, u64)> {
        if !self.has_free(tti) {
            return None;
        }
        let index = self.all.iter().position(|process| process.at <= tti && process.again.is_none())?;
        self.next_tsn += 1;
        Some((index, self.next_tsn - 1))
    }

    /// A process has sent a block; `again` is it, if the answer at TTI number `at` will make the Node B
    /// send it again. `acknowledged` is the answer to a first transmission.
    pub fn sent(&mut self, index: usize, tsn: u64, at: u64, again: Option<B>, acknowledged: Option<bool>) {
        self.all[index] = Process { at, tsn, again, first_answer: acknowledged };
        self.note();
    }

    /// The user has left the cell, and MAC-hs is not reset: what would go again does so from TTI number
    /// `tti` on, after what `forward` does to it.
    pub fn begin_again(&mut self, tti: u64, forward: impl Fn(&mut B)) {
        for process in &mut self.all {
            process.first_answer = None;
            if let Some(block) = &mut process.again {
                forward(block);
                process.at = process.at.max(tti);
            }
        }
        self.note();
    }

    /// The user has left the cell, and MAC-hs is reset: numbers begin anew. The blocks that would have gone
    /// again.
    pub fn flush(&mut self) -> impl Iterator<Item = B> + use<B> {
        let old = std::mem::replace(self, Self::new(self.all.len() as u32, self.window));
        old.all.into_iter().filter_map(|process| process.again)
    }

    /// Hands over the answers to first transmissions that are known by TTI number `tti`.
    #[inline]
    pub fn take_answers(&mut self, tti: u64, on_answer: impl FnMut(bool)) {
        if self.answer_at <= tti {
            self.hand_over(tti, on_answer);
        }
    }

    fn hand_over(&mut self, tti: u64, mut on_answer: impl FnMut(bool)) {
        for process in self.all.iter_mut().filter(|process| process.at <= tti) {
            if let Some(acknowledged) = process.first_answer.take() {
                on_answer(acknowledged);
            }
        }
        self.note();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a new block in `tti`, to be answered 6 TTIs later.
    fn send(processes: &mut Processes<u64>, tti: u64, fails: bool) -> u64 {
        let (index, tsn) = processes.begin(tti).unwrap();
        processes.sent(index, tsn, tti + 6, fails.then_some(tsn), Some(!fails));
        tsn
    }

    #[test]
    fn n_processes_send_n_blocks_and_then_wait() {
        let mut processes = Processes::new(6, 32);
        for tti in 0..6 {
            assert!(processes.has_free(tti) && processes.ready(true) <= tti);
            send(&mut processes, tti, false);
        }
        // The first process is free again in TTI 6, so one user can have every TTI.
        assert!(!processes.has_free(5) && processes.has_free(6));
        assert_eq!(processes.ready(true), 6);
        assert_eq!(processes.ready(false), u64::MAX);
        let mut few = Processes::new(4, 32);
        for tti in 0..4 {
            send(&mut few, tti, false);
        }
        assert_eq!(few.ready(true), 6);
    }

    #[test]
    fn a_failed_block_comes_again_from_its_process() {
        let mut processes = Processes::new(2, 32);
        send(&mut processes, 0, true);
        send(&mut processes, 1, true);
        assert_eq!(processes.ready(false), 6);
        assert!(processes.again(5).is_none());
        let (index, again) = processes.take_again(7).unwrap();
        assert_eq!((index, again), (0, 0));
        processes.sent(index, 0, 13, None, None);
        assert_eq!(processes.take_again(7), Some((1, 1)));
    }

    /// Block 0 fails again and again; a window of 4 stops at block 3 until it is through.
    #[test]
    fn the_window_waits_for_the_oldest_block() {
        let mut processes = Processes::new(8, 4);
        send(&mut processes, 0, true);
        for tti in 1..4 {
            send(&mut processes, tti, false);
        }
        assert!(!processes.has_free(4));
        assert_eq!(processes.ready(true), 6, "when block 0 goes again");
        let (index, again) = processes.take_again(6).unwrap();
        processes.sent(index, 0, 12, Some(again), None);
        assert!(!processes.has_free(11), "block 0 is still on its way");
        assert_eq!(processes.ready(true), 12);
        let (index, _) = processes.take_again(12).unwrap();
        processes.sent(index, 0, 18, None, None);
        assert!(!processes.has_free(17) && processes.has_free(18));
        assert_eq!(processes.ready(true), 18);
    }

    #[test]
    fn answers_are_heard_once_and_not_before_they_come() {
        let mut processes = Processes::new(3, 32);
        send(&mut processes, 0, true);
        send(&mut processes, 1, false);
        let mut answers = Vec::new();
        for tti in [5, 6, 7, 8] {
            processes.take_answers(tti, |acknowledged| answers.push((tti, acknowledged)));
        }
        assert_eq!(answers, [(6, false), (7, true)]);
    }
}
