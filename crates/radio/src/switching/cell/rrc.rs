//! What a policy sees of a cell, and the orders it can give.

use nodeb_base::engine::Stamps;
use nodeb_base::units::Time;

use super::Cell;
use crate::switching::State;

/// Radio resource control, as a policy uses it.
#[derive(Debug)]
pub struct Rrc<'a> {
    now: Time,
    cell: &'a mut Cell,
    stamps: &'a mut Stamps,
}

impl<'a> Rrc<'a> {
    /// The control of `cell` at `now`.
    pub fn new(now: Time, cell: &'a mut Cell, stamps: &'a mut Stamps) -> Self {
        Self { now, cell, stamps }
    }

    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// A user's state.
    pub fn state(&self, user: usize) -> State {
        self.cell.state(user)
    }

    /// A user's packets, the one on the air included.
    pub fn packets(&self, user: usize) -> usize {
        self.cell.packets(user)
    }

    /// Their bytes.
    pub fn bytes(&self, user: usize) -> u64 {
        self.cell.bytes(user)
    }

    /// Who holds a channel, the one being set up or released included, in order of the set-ups.
    pub fn holders(&self) -> &[usize] {
        &self.cell.holders
    }

    /// Who waits for a channel, in order of asking.
    pub fn waiting(&self) -> &[usize] {
        &self.cell.waiting
    }

    /// Whether no channel is free.
    pub fn is_full(&self) -> bool {
        self.cell.holders.len() == self.cell.channels
    }

    /// Users who wait beyond those for whom a channel is free or being released.
    pub fn unmet(&self) -> usize {
        let holders = &self.cell.holders;
        let staying = holders.iter().filter(|user| self.state(**user) != State::Releasing).count();
        (self.cell.waiting.len() + staying).saturating_sub(self.cell.channels)
    }

    /// Lets a user on the FACH wait for a channel; it is set up as soon as one is free.
    pub fn ask(&mut self, user: usize) {
        if self.state(user) == State::Fach && !self.cell.waiting.contains(&user) {
            self.cell.waiting.push(user);
        }
    }

    /// Takes a user's request back.
    pub fn withdraw(&mut self, user: usize) {
        self.cell.waiting.retain(|waiting| *waiting != user);
    }

    /// Begins to move a user from a dedicated channel to the FACH.
    pub fn release(&mut self, user: usize) {
        if self.state(user) == State::Dch {
            self.cell.stations[user].usage.releases += 1;
            self.cell.begin(self.now, user, State::Releasing, self.cell.switch_time, self.stamps);
        }
    }

    /// Sends a user who has nothing to receive from the FACH to the paging channel.
    pub fn park(&mut self, user: usize) {
        if self.state(user) == State::Fach && self.packets(user) == 0 {
            self.withdraw(user);
            self.cell.enter(self.now, user, State::Pch);
        }
    }

    /// Sets a user's timer, or stops it.
    pub fn set_timer(&mut self, user: usize, at: Option<Time>) {
        if self.cell.timers.due(user).map(|(due, _)| due) != at {
            let key = at.map(|at| self.stamps.key(at));
            self.cell.set_timer(user, key);
        }
    }
}
