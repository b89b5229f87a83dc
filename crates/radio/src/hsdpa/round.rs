//! Who takes part in the choice of a TTI, and what each would be sent.

use super::adaptation::Limits;
use super::user::Turn;
use crate::mac::sched::{Candidate, Scheduler};

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

    /// Chooses who is sent something in TTI number `tti`, the scheduler's first choice first, and what:
    /// at most `most` users, who share `codes` and, equally, the power.
    ///
    /// What a user can be sent depends on how many share the power, and how many get codes on what each
    /// is sent. So the power is shared by as many as can be at first, and if fewer got codes, by as many
    /// as did, until nobody's share is left over.
    pub fn choose(
        &mut self,
        tti: u64,
        scheduler: &mut dyn Scheduler,
        codes: u32,
        most: u32,
        limited: impl Fn(usize, Turn, Limits) -> Option<Turn>,
    ) -> Vec<(usize, Turn)> {
        let mut sharers = most.min(self.candidates.len() as u32);
        let mut chosen = Vec::with_capacity(sharers as usize);
        let all = (sharers > 1).then(|| (self.candidates.clone(), self.turns.clone()));
        loop {
            let mut limits = Limits { codes, sharers, units: 0 };
            chosen.clear();
            if sharers > 1 {
                self.limit(|user, turn| limited(user, turn, limits));
            }
            while chosen.len() < sharers as usize && !self.is_empty() {
                let at = scheduler.pick(tti, &self.candidates);
                let (user, turn) = (self.candidates[at].user, self.turns[at]);
                chosen.push((user, turn));
                self.remove(at);
                limits.codes -= turn.codes;
                if chosen.len() < sharers as usize {
                    self.limit(|user, turn| limited(user, turn, limits));
                }
            }
            match &all {
                Some((candidates, turns)) if chosen.len() < sharers as usize => {
                    sharers = chosen.len().max(1) as u32;
                    (self.candidates, self.turns) = (candidates.clone(), turns.clone());
                }
                _ => return chosen,
            }
        }
    }

    /// Puts everybody's turn as `limited` has it; who has none is no candidate any more.
    fn limit(&mut self, limited: impl Fn(usize, Turn) -> Option<Turn>) {
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
