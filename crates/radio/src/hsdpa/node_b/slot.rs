//! Cached state of all users, which the scheduler reads in every TTI. It is kept in arrays apart
//! from the other state of the users.
//!
//! The block that a user could be sent changes with the user's CQI and queue, and with the ACKs and
//! NACKs for its HARQ processes. CQIs are computed for several TTIs at once, and changes of queues
//! and processes are known in advance until the next event of the user. Therefore the blocks of
//! several TTIs are cached.

use super::user::User;
use crate::cell::channel::ends::Ends;
use crate::cell::profile::BLOCK;
use crate::mac::user_set::UserSet;

/// Cached state of all users, by which users that cannot be served are skipped.
#[derive(Debug)]
pub struct Slots {
    /// State of each user at its last refresh.
    turns: Vec<Turn>,
    /// For each cell, the users to whom something may be sent in the current TTI.
    pub waiting: Vec<UserSet>,
    /// For each cell, the users with the two highest scores in the last search
    /// ([`NodeBs::find_best`](super::NodeBs::find_best)).
    pub leading: Vec<[usize; 2]>,
    /// Users to whom something may be sent in a later TTI, in any order.
    later: Vec<usize>,
    pub ceilings: Vec<Ceiling>,
    pub peaks: Vec<Peak>,
    pub kept: Vec<Slot>,
    ends: Ends,
}

/// State of a user on which the cached values depend.
#[derive(Clone, Copy, Debug)]
struct Turn {
    /// First TTI in which there may be something to send to the user, `u64::MAX` if there is nothing.
    ready: u64,
    /// Number of units with which a block can be filled, at most those of the user's largest block.
    usable: u64,
    cell: u8,
}

impl Turn {
    fn of(state: &User) -> Self {
        Self { ready: state.ready(), usable: state.usable(), cell: state.mobility.serving as u8 }
    }
}

/// Upper bound of the score that a user may reach with the scheduler of its cell.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    pub score: f64,
    /// First TTI in which the bound is no longer valid.
    pub until: u64,
}

impl Ceiling {
    /// Bound that is not valid in any TTI, and must therefore be computed before use.
    const UNKNOWN: Self = Self { score: f64::INFINITY, until: 0 };
}

/// Upper bounds of the number of units in a user's block and of the channel quality of the user.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    pub units: u32,
    pub quality: f32,
    /// First TTI in which the bounds are no longer valid.
    pub until: u64,
}

impl Peak {
    /// Infinite bounds, which remain valid until the user's cached state is refreshed.
    pub const NONE: Self = Self { units: u32::MAX, quality: f32::INFINITY, until: u64::MAX };
    const UNKNOWN: Self = Self { until: 0, ..Self::NONE };
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
    /// CQI that the Node B uses in each TTI.
    pub cqi: [u8; BLOCK],
}

impl Slots {
    /// Creates the cached state of users who have no data, in `cells` cells.
    pub fn new(users: &[User], cells: usize) -> Self {
        let nothing = Slot { first: 0, until: 0, units: [0; BLOCK], cqi: [0; BLOCK] };
        Self {
            turns: users.iter().map(|user| Turn { ready: u64::MAX, ..Turn::of(user) }).collect(),
            waiting: vec![UserSet::new(users.len()); cells],
            leading: vec![[0; 2]; cells],
            later: Vec::new(),
            ceilings: vec![Ceiling::UNKNOWN; users.len()],
            peaks: vec![Peak::UNKNOWN; users.len()],
            kept: vec![nothing; users.len()],
            ends: Ends::new(users.iter().map(|user| user.channel.ends())),
        }
    }

    /// Refreshes the cached state of a user, given its `state`. Must be called after its queue, its
    /// HARQ processes or its cell has changed.
    pub fn refresh(&mut self, user: usize, state: &User) {
        self.put_off(user, Turn::of(state));
        self.forget(user);
    }

    /// Refreshes the cached state of a user if its queue has changed so that the size of its next block
    /// may change. The user's HARQ processes and cell must be unchanged.
    pub fn refresh_queue(&mut self, user: usize, state: &User) {
        if self.turns[user].usable != state.usable() {
            self.refresh(user, state);
        }
    }

    /// Refreshes the cached state of a user to whom a block was sent in TTI `tti`. `is_new` is true
    /// if the block was a new one.
    pub fn refresh_sent(&mut self, user: usize, state: &User, tti: u64, is_new: bool) {
        let (last, turn) = (self.turns[user], Turn::of(state));
        let processes = &state.processes;
        if !is_new || turn.usable != last.usable || state.adapter.learns() || !processes.has_free(tti + 1) {
            self.refresh(user, state);
            return;
        }
        // The next block could be a new one, as large as before, until a retransmission is due. The
        // scheduler may rank the user lower now.
        let until = processes.first_retransmission();
        self.peaks[user].until = self.peaks[user].until.min(until);
        self.kept[user].until = self.kept[user].until.min(until);
        self.ceilings[user] = Ceiling::UNKNOWN;
        if turn.ready == tti + 1 {
            self.turns[user] = turn;
        } else {
            self.put_off(user, turn);
        }
    }

    /// Removes a user from the users marked as waiting, and stores its new state `turn`. If the state has
    /// a TTI `ready`, [`Self::advance`] marks the user as waiting from that TTI on.
    fn put_off(&mut self, user: usize, turn: Turn) {
        self.waiting[usize::from(self.turns[user].cell)].remove(user);
        self.later.retain(|other| *other != user);
        self.turns[user] = turn;
        if turn.ready < u64::MAX && !self.ends.precede(user, turn.ready) {
            self.later.push(user);
        }
    }

    /// Invalidates all bounds, units and CQIs that are cached for a user.
    fn forget(&mut self, user: usize) {
        self.ceilings[user] = Ceiling::UNKNOWN;
        self.peaks[user] = Peak::UNKNOWN;
        self.kept[user].until = 0;
    }

    /// Invalidates all values that are cached for a user, if the user's queue has changed so that the
    /// size of its next block may change.
    pub fn forget_if_changed(&mut self, user: usize, state: &User) {
        if self.turns[user].usable != state.usable() {
            self.forget(user);
        }
    }

    /// Invalidates the bounds of all users' scores. Must be called if the scheduler may have
    /// changed how it scores users.
    pub fn forget_ceilings(&mut self) {
        self.ceilings.fill(Ceiling::UNKNOWN);
    }

    /// Marks as waiting all users to whom something may be sent in TTI `tti` or an earlier TTI, except those whose
    /// channels have ended.
    pub fn advance(&mut self, tti: u64) {
        let Self { turns, waiting, later, ends, .. } = self;
        ends.pass(tti, |user| {
            for users in waiting.iter_mut() {
                users.remove(user);
            }
            later.retain(|other| *other != user);
        });
        later.retain(|&user| {
            let Turn { ready, cell, .. } = turns[user];
            if ready <= tti {
                waiting[usize::from(cell)].insert(user);
            }
            ready > tti
        });
    }

    /// Returns the first TTI in which something may be sent to any user. Returns 0 if a user is
    /// marked as waiting already, and `None` if there is no such TTI.
    pub fn first(&self) -> Option<u64> {
        if self.waiting.iter().any(|users| !users.is_empty()) {
            return Some(0);
        }
        self.later.iter().map(|user| self.turns[*user].ready).min()
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

    /// Returns the largest cached number of units and the largest cached CQI.
    #[inline]
    pub fn peak(&self) -> Peak {
        let (mut units, mut cqi) = (0, 0);
        for at in 0..BLOCK {
            (units, cqi) = (units.max(self.units[at]), cqi.max(self.cqi[at]));
        }
        Peak { units, quality: f32::from(cqi), until: self.until }
    }
}
