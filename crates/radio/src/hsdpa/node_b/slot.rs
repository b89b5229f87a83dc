//! Cached state of all users, which the scheduler reads in every TTI. It is kept in arrays apart
//! from the other state of the users.
//!
//! The block that a user could be sent changes with the user's CQI and queue, and with the ACKs and
//! NACKs for its HARQ processes. CQIs are computed for several TTIs at once, and changes of queues
//! and processes are known in advance until the next event of the user. Therefore the blocks of
//! several TTIs are cached.

use super::user::User;
use crate::cell::profile::BLOCK;
use crate::mac::user_set::UserSet;

/// Cached state of all users, by which users that cannot be served are skipped.
#[derive(Debug)]
pub struct Slots {
    /// For each user, the first TTI in which it may have something to send (`u64::MAX` if no TTI is
    /// known), and its cell.
    turns: Vec<(u64, u8)>,
    /// For each cell, the users that may have something to send in the current TTI.
    pub waiting: Vec<UserSet>,
    /// For each cell, the users with the best two claims to be served in the last TTI.
    pub leading: Vec<[usize; 2]>,
    /// Users that may have something to send in a later TTI, in any order.
    later: Vec<usize>,
    pub ceilings: Vec<Ceiling>,
    pub kept: Vec<Slot>,
}

/// Upper bound of the score that a user may reach with the scheduler of its cell.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    pub score: f64,
    /// First TTI in which the bound is no longer valid.
    pub until: u64,
}

impl Ceiling {
    /// Infinite bound, which remains valid until the user's cached state is refreshed.
    pub const NONE: Self = Self { score: f64::INFINITY, until: u64::MAX };
    /// Bound that is not valid in any TTI, and must therefore be computed before use.
    const UNKNOWN: Self = Self { score: f64::INFINITY, until: 0 };
}

/// Blocks and CQIs cached for one user in consecutive TTIs.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    /// TTI to which the first elements of `units` and `cqi` belong.
    pub first: u64,
    pub until: u64,
    /// Number of units that the user could be sent in each TTI, 0 if it could be sent nothing.
    pub units: [u32; BLOCK],
    /// CQI that the Node B knows in each TTI.
    pub cqi: [u8; BLOCK],
}

impl Slots {
    /// Creates the cached state of users who have no data, in `cells` cells.
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

    /// Refreshes the cached state of a user, given its `state`. Must be called after its queue, its
    /// HARQ processes or its cell has changed.
    pub fn refresh(&mut self, user: usize, state: &User) {
        self.waiting[usize::from(self.turns[user].1)].remove(user);
        self.later.retain(|other| *other != user);
        self.turns[user] = (state.ready(), state.serving as u8);
        if self.turns[user].0 < u64::MAX {
            self.later.push(user);
        }
        self.forget(user);
    }

    /// Invalidates the bound of the score, the units and the CQIs that are cached for a user.
    pub fn forget(&mut self, user: usize) {
        self.ceilings[user] = Ceiling::UNKNOWN;
        self.kept[user].until = 0;
    }

    /// Invalidates the bounds of all users' scores. Must be called if the scheduler may have
    /// changed how it scores users.
    pub fn forget_ceilings(&mut self) {
        self.ceilings.fill(Ceiling::UNKNOWN);
    }

    /// Marks as waiting all users that may have something to send in TTI `tti` or an earlier TTI.
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

    /// Returns the first TTI in which any user may have something to send. Returns 0 if a user is
    /// marked as waiting already, and `None` if no user may have something to send.
    pub fn first(&self) -> Option<u64> {
        if self.waiting.iter().any(|users| !users.is_empty()) {
            return Some(0);
        }
        self.later.iter().map(|user| self.turns[*user].0).min()
    }
}

impl Slot {
    /// Returns the number of units and the CQI cached for TTI `tti`, or `None` if nothing is cached
    /// for this TTI.
    #[inline]
    pub fn recall(&self, tti: u64) -> Option<(u32, f32)> {
        if tti >= self.until {
            return None;
        }
        let at = (tti - self.first) as usize % BLOCK;
        Some((self.units[at], f32::from(self.cqi[at])))
    }
}
