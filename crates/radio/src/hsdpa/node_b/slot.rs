//! What is remembered of every user from one TTI to the next.
//!
//! What a user would be sent changes with its CQI, its queue, and what its HARQ processes hear. CQIs are
//! worked out for several TTIs at once, and the rest is known beforehand as long as nothing happens to
//! the user. So the answer for several TTIs is kept, apart from all else that belongs to the user: most
//! TTIs look at nothing but this.

use super::user::User;
use crate::cell::profile::BLOCK;

/// What is remembered of all users, by field: most of the time only one of them is looked at.
#[derive(Debug)]
pub struct Slots {
    /// The first TTI in which each user may have something to send.
    ready: Vec<u64>,
    /// The cell that serves each.
    cells: Vec<u8>,
    ceilings: Vec<Ceiling>,
    kept: Vec<Slot>,
}

/// What one user would be sent at most.
#[derive(Clone, Copy, Debug)]
pub struct Ceiling {
    pub units: u32,
    /// The first TTI for which it does not hold.
    pub until: u64,
}

impl Ceiling {
    /// Nothing is known, nor will be until something happens.
    pub const NONE: Self = Self { units: u32::MAX, until: u64::MAX };
    /// It has to be asked for.
    const UNKNOWN: Self = Self { units: u32::MAX, until: 0 };
}

/// What one user would be sent in some TTIs of a block of them.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    /// The first TTI for which it does not hold.
    pub until: u64,
    /// Units, 0 for nothing, by TTI number plus `phase` modulo the block.
    pub units: [u32; BLOCK],
    /// The CQIs that the Node B has, likewise.
    pub cqi: [u8; BLOCK],
    pub phase: u8,
}

impl Slots {
    /// Of users who have nothing to send.
    pub fn new(users: &[User]) -> Self {
        let nothing = Slot { until: 0, units: [0; BLOCK], cqi: [0; BLOCK], phase: 0 };
        Self {
            ready: vec![u64::MAX; users.len()],
            cells: users.iter().map(|user| user.serving as u8).collect(),
            ceilings: vec![Ceiling::UNKNOWN; users.len()],
            kept: vec![nothing; users.len()],
        }
    }

    /// Something has happened to a user.
    pub fn renew(&mut self, user: usize, state: &User) {
        (self.ready[user], self.cells[user]) = (state.ready(), state.serving as u8);
        self.ceilings[user] = Ceiling::UNKNOWN;
        self.forget(user);
    }

    /// What was remembered of a user may hold no longer.
    pub fn forget(&mut self, user: usize) {
        self.kept[user].until = 0;
    }

    /// Shows the users who may have something to send in a cell in TTI number `tti`, in order.
    #[inline]
    pub fn waiting(&mut self, cell: usize, tti: u64, mut look: impl FnMut(usize, &mut Slot, &mut Ceiling)) {
        let users = self.ready.len();
        let (ready, cells) = (&self.ready[..users], &self.cells[..users]);
        let (kept, ceilings) = (&mut self.kept[..users], &mut self.ceilings[..users]);
        for user in 0..users {
            if ready[user] <= tti && usize::from(cells[user]) == cell {
                look(user, &mut kept[user], &mut ceilings[user]);
            }
        }
    }

    /// What is remembered of a user, if it is one of them.
    pub fn if_waiting(&mut self, cell: usize, tti: u64, user: usize) -> Option<&mut Slot> {
        let waits = self.ready[user] <= tti && usize::from(self.cells[user]) == cell;
        waits.then(|| &mut self.kept[user])
    }

    /// The first TTI in which somebody may have something to send, or one before number `tti` if there is
    /// one.
    pub fn first(&self, tti: u64) -> Option<u64> {
        let mut first = u64::MAX;
        for ready in &self.ready {
            first = first.min(*ready);
            if first <= tti {
                break;
            }
        }
        (first < u64::MAX).then_some(first)
    }
}

impl Slot {
    /// Units and CQI in TTI number `tti`, if they are remembered.
    #[inline]
    pub fn recall(&self, tti: u64) -> Option<(u32, f32)> {
        if tti >= self.until {
            return None;
        }
        let at = (tti as usize + usize::from(self.phase)) % BLOCK;
        Some((self.units[at], f32::from(self.cqi[at])))
    }
}
