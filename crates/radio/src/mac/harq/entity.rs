//! A user's blocks on their way through hybrid ARQ, and the reordering behind it: RLC gets the PDUs
//! of a block when all blocks before it have arrived or been given up (TS 25.321, 11.6.2).

use std::collections::VecDeque;

/// A block that has been sent.
#[derive(Debug)]
pub struct Block<P> {
    /// What it carries.
    pub pdus: Vec<P>,
    /// How often it has been sent.
    pub transmissions: u32,
}

/// Where a block is.
#[derive(Debug)]
enum State<P> {
    /// It failed; the number of the TTI from which it may go again.
    Waiting(Block<P>, u64),
    /// It is on the air.
    OnAir,
    /// It is over: its PDUs, and whether they are intact.
    Over(Vec<P>, bool),
}

/// The blocks of one user, in the order of their first transmissions.
#[derive(Debug)]
pub struct HarqEntity<P> {
    blocks: VecDeque<State<P>>,
    /// Number of the first.
    first: u64,
    /// Those that wait, in the order in which they may go.
    waiting: VecDeque<u64>,
}

impl<P> Default for HarqEntity<P> {
    fn default() -> Self {
        Self { blocks: VecDeque::new(), first: 0, waiting: VecDeque::new() }
    }
}

impl<P> HarqEntity<P> {
    fn at(&mut self, number: u64) -> &mut State<P> {
        &mut self.blocks[(number - self.first) as usize]
    }

    /// A new block goes on the air; its number.
    pub fn begin(&mut self) -> u64 {
        self.blocks.push_back(State::OnAir);
        self.first + self.blocks.len() as u64 - 1
    }

    /// TTI number from which a block may go again, if one waits.
    pub fn eligible(&self) -> Option<u64> {
        let number = self.waiting.front()?;
        match &self.blocks[(number - self.first) as usize] {
            State::Waiting(_, from) => Some(*from),
            State::OnAir | State::Over(..) => None,
        }
    }

    /// Takes a block that may go again in TTI number `tti`, and its number.
    pub fn take(&mut self, tti: u64) -> Option<(u64, Block<P>)> {
        self.eligible().filter(|from| *from <= tti)?;
        let number = self.waiting.pop_front()?;
        match std::mem::replace(self.at(number), State::OnAir) {
            State::Waiting(block, _) => Some((number, block)),
            State::OnAir | State::Over(..) => None,
        }
    }

    /// A block has failed and may go again from TTI number `from` on.
    pub fn keep(&mut self, number: u64, block: Block<P>, from: u64) {
        *self.at(number) = State::Waiting(block, from);
        self.waiting.push_back(number);
    }

    /// A block has arrived, or has been given up.
    pub fn end(&mut self, number: u64, block: Block<P>, intact: bool) {
        *self.at(number) = State::Over(block.pdus, intact);
    }

    /// The next block whose turn it is to be handed on.
    pub fn pop(&mut self) -> Option<(Vec<P>, bool)> {
        match self.blocks.pop_front()? {
            State::Over(pdus, intact) => {
                self.first += 1;
                Some((pdus, intact))
            }
            other => {
                self.blocks.push_front(other);
                None
            }
        }
    }
}
