//! Who takes part in the choice of a TTI, and what each would be sent.

use super::user::Turn;
use crate::mac::sched::Candidate;

/// The candidates of a TTI, in order of users, and their turns where those are known.
#[derive(Debug, Default)]
pub struct Round {
    pub candidates: Vec<Candidate>,
    pub turns: Vec<Turn>,
}

impl Round {
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.turns.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    pub fn push(&mut self, candidate: Candidate, turn: Turn) {
        self.candidates.push(candidate);
        self.turns.push(turn);
    }

    /// Puts a candidate in the place of its user, who may be there already.
    pub fn put(&mut self, candidate: Candidate, turn: Turn) {
        let user = candidate.user;
        match self.candidates.binary_search_by_key(&user, |other| other.user) {
            Ok(at) => (self.candidates[at], self.turns[at]) = (candidate, turn),
            Err(at) => {
                self.candidates.insert(at, candidate);
                self.turns.insert(at, turn);
            }
        }
    }

    pub fn remove(&mut self, at: usize) {
        self.candidates.remove(at);
        self.turns.remove(at);
    }

    /// Takes over what another has, but for one user.
    pub fn copy_others(&mut self, from: &Self, user: usize) {
        self.clear();
        let both = from.candidates.iter().zip(&from.turns);
        for (candidate, turn) in both.filter(|(candidate, _)| candidate.user != user) {
            self.push(*candidate, *turn);
        }
    }

    /// Puts everybody's turn as `limited` has it; who has none is no candidate any more.
    pub fn limit(&mut self, limited: impl Fn(usize, Turn) -> Option<Turn>) {
        let mut at = 0;
        while at < self.candidates.len() {
            if let Some(turn) = limited(self.candidates[at].user, self.turns[at]) {
                self.candidates[at].rate = turn.units;
                self.turns[at] = turn;
                at += 1;
            } else {
                self.remove(at);
            }
        }
    }
}
