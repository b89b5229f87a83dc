//! What the scheduler's loop reads of all users, by field, apart from all else that belongs to them.
//!
//! What a user would be sent changes with its CQI, its queue, and what its HARQ processes hear. CQIs are
//! worked out for several TTIs at once, and the rest is known beforehand as long as nothing happens to
//! the user. So the answer for several TTIs is kept.

use super::user::User;
use crate::cell::profile::BLOCK;
use crate::mac::user_set::UserSet;

/// What is remembered of all users.
#[derive(Debug)]
pub struct Slots {
    /// The first TTI in which each user may have something to send, and the cell that serves it.
    turns: Vec<(u64, u8)>,
    /// For each cell, the users whose turn may come now.
    pub waiting: Vec<UserSet>,
    /// For each cell, who had the best two claims to the last TTI.
    pub leading: Vec<[usize; 2]>,
    /// Users whose turn may come in a later TTI, in any order.
    later: Vec<usize>,
    pub ceilings: Vec<Ceiling>,
    pub kept: Vec<Slot>,
}

/// The highest score that a user may reach in the eyes of its cell's scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    pub score: f64,
    /// The first TTI for which it does not hold.
    pub until: u64,
}

impl Ceiling {
    /// No bound until something happens to the user.
    pub const NONE: Self = Self { score: f64::INFINITY, until: u64::MAX };
    /// It has to be worked out.
    const UNKNOWN: Self = Self { score: f64::INFINITY, until: 0 };
}

/// What one user would be sent in some TTIs in a row.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    /// The TTI with which the lists begin, and the first for which they do not hold.
    pub first: u64,
    pub until: u64,
    /// Units, 0 for nothing.
    pub units: [u32; BLOCK],
    /// The CQIs that the Node B has.
    pub cqi: [u8; BLOCK],
}

impl Slots {
    /// Slots of users who have nothing to send, in so many cells.
    pub fn new(users: &[User], cells: usize) -> Self {
        let nothing = Slot { first: 0, until: 0, units: [0; BLOCK], cqi: [0; BLOCK] };
        Self {
            turns: users.iter().map(|user| (u64::MAX, user.serving as u8)).collect(),
            waiting: vec![UserSet::new(users.len()); cells],
            leading: vec![[0; 2]; cells],
            later: Vec::new(),
            ceilings: vec![Ceiling::UNKNOWN; users.len()],
            kept: vec![nothing; users.len()],
        }
    }

    /// Something has happened to a user.
    pub fn renew(&mut self, user: usize, state: &User) {
        self.waiting[usize::from(self.turns[user].1)].remove(user);
        self.later.retain(|other| *other != user);
        self.turns[user] = (state.ready(), state.serving as u8);
        if self.turns[user].0 < u64::MAX {
            self.later.push(user);
        }
        self.forget(user);
    }

    /// What was remembered of a user may hold no longer.
    pub fn forget(&mut self, user: usize) {
        self.ceilings[user] = Ceiling::UNKNOWN;
        self.kept[user].until = 0;
    }

    /// Forgets all ceilings, because scores are no longer what they were.
    pub fn forget_ceilings(&mut self) {
        self.ceilings.fill(Ceiling::UNKNOWN);
    }

    /// Lets users wait whose turn may come from TTI number `tti` on.
    pub fn advance(&mut self, tti: u64) {
        let Self { turns, waiting, later, .. } = self;
        later.retain(|&user| {
            let (ready, cell) = turns[user];
            if ready <= tti {
                waiting[usize::from(cell)].insert(user);
            }
            ready > tti
        });
    }

    /// Returns the first TTI in which a user may have something to send, 0 if one already has.
    pub fn first(&self) -> Option<u64> {
        if self.waiting.iter().any(|users| !users.is_empty()) {
            return Some(0);
        }
        self.later.iter().map(|user| self.turns[*user].0).min()
    }
}

impl Slot {
    /// Units and CQI in TTI number `tti`, if they are remembered.
    #[inline]
    pub fn recall(&self, tti: u64) -> Option<(u32, f32)> {
        if tti >= self.until {
            return None;
        }
        let at = (tti - self.first) as usize % BLOCK;
        Some((self.units[at], f32::from(self.cqi[at])))
    }
}
