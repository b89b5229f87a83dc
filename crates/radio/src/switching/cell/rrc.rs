//! Interface of a cell for switching policies: state of the cell, and commands that a policy can
//! give.

use nodeb_base::engine::Stamps;
use nodeb_base::units::Time;

use super::Cell;
use crate::switching::State;

/// Radio resource control of a cell, through which a switching policy reads the cell's state and
/// gives commands.
#[derive(Debug)]
pub struct Rrc<'a> {
    now: Time,
    cell: &'a mut Cell,
    stamps: &'a mut Stamps,
}

impl<'a> Rrc<'a> {
    /// Creates the interface through which a switching policy controls `cell` at the time `now`.
    /// `stamps` orders the events that the policy's commands schedule.
    pub fn new(now: Time, cell: &'a mut Cell, stamps: &'a mut Stamps) -> Self {
        Self { now, cell, stamps }
    }

    /// Returns the current simulation time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the RRC state of a user.
    pub fn state(&self, user: usize) -> State {
        self.cell.state(user)
    }

    /// Returns the number of a user's packets, including the one in transmission.
    pub fn packets(&self, user: usize) -> usize {
        self.cell.packets(user)
    }

    /// Returns the number of bytes of a user's packets, including the one in transmission.
    pub fn bytes(&self, user: usize) -> u64 {
        self.cell.bytes(user)
    }

    /// Returns the users that hold a channel, in the order in which the set-ups started. Channels
    /// that are being set up or released count as held.
    pub fn holders(&self) -> &[usize] {
        &self.cell.holders
    }

    /// Returns the users that wait for a channel, in order of their requests.
    pub fn waiting(&self) -> &[usize] {
        &self.cell.waiting
    }

    /// Returns true if all channels are held, so that none is free.
    pub fn is_full(&self) -> bool {
        self.cell.holders.len() == self.cell.channels
    }

    /// Returns the number of waiting users minus the number of channels that are free or being
    /// released, or 0 if the difference is negative.
    pub fn unmet(&self) -> usize {
        let holders = &self.cell.holders;
        let staying = holders.iter().filter(|user| self.state(**user) != State::Releasing).count();
        (self.cell.waiting.len() + staying).saturating_sub(self.cell.channels)
    }

    /// Adds a user to the end of the waiting list. Its channel is set up when one is free and the
    /// policy picks the user from the list. Does nothing if the user is not on the FACH or is in the
    /// list already.
    pub fn ask(&mut self, user: usize) {
        if self.state(user) == State::Fach && !self.cell.waiting.contains(&user) {
            self.cell.waiting.push(user);
        }
    }

    /// Removes a user from the waiting list, if the user is in the list.
    pub fn withdraw(&mut self, user: usize) {
        self.cell.waiting.retain(|waiting| *waiting != user);
    }

    /// Starts to move a user from its dedicated channel to the FACH. Does nothing if the user is
    /// not on a dedicated channel.
    pub fn release(&mut self, user: usize) {
        if self.state(user) == State::Dch {
            self.cell.stations[user].usage.releases += 1;
            self.cell.begin(self.now, user, State::Releasing, self.cell.switch_time, self.stamps);
        }
    }

    /// Moves a user from the FACH to the paging channel and removes it from the waiting list. Does
    /// nothing if the user is not on the FACH or has packets.
    pub fn park(&mut self, user: usize) {
        if self.state(user) == State::Fach && self.packets(user) == 0 {
            self.withdraw(user);
            self.cell.enter(self.now, user, State::Pch);
        }
    }

    /// Arms the policy's timer of a user to expire at `at`, or disarms it if `at` is `None`. A
    /// timer that is already armed for `at` keeps its position among simultaneous events.
    pub fn set_timer(&mut self, user: usize, at: Option<Time>) {
        if self.cell.timers.due(user).map(|(due, _)| due) != at {
            let key = at.map(|at| self.stamps.key(at));
            self.cell.set_timer(user, key);
        }
    }
}
