use nodeb_base::units::Time;

use super::Cell;
use crate::switching::State;

/// What a switching policy reads, and its commands.
#[derive(Debug)]
pub struct Rrc<'a> {
    now: Time,
    cell: &'a mut Cell,
}

impl<'a> Rrc<'a> {
    pub fn new(now: Time, cell: &'a mut Cell) -> Self {
        Self { now, cell }
    }

    pub fn now(&self) -> Time {
        self.now
    }

    pub fn state(&self, user: usize) -> State {
        self.cell.state(user)
    }

    /// With the one in transmission.
    pub fn packets(&self, user: usize) -> usize {
        self.cell.packets(user)
    }

    /// With the one in transmission.
    pub fn bytes(&self, user: usize) -> u64 {
        self.cell.bytes(user)
    }

    /// In the order of set-ups; channels being set up or released count as held.
    pub fn holders(&self) -> &[usize] {
        &self.cell.holders
    }

    /// In order of their requests.
    pub fn waiting(&self) -> &[usize] {
        &self.cell.waiting
    }

    pub fn is_full(&self) -> bool {
        self.cell.holders.len() == self.cell.channels
    }

    /// Waiting users minus channels free or being released, at least 0.
    pub fn unmet(&self) -> usize {
        let holders = &self.cell.holders;
        let staying = holders.iter().filter(|user| self.state(**user) != State::Releasing).count();
        (self.cell.waiting.len() + staying).saturating_sub(self.cell.channels)
    }

    /// At the end of the waiting list; nothing if not on the FACH or in the list already.
    pub fn ask(&mut self, user: usize) {
        if self.state(user) == State::Fach && !self.cell.waiting.contains(&user) {
            self.cell.waiting.push(user);
        }
    }

    pub fn withdraw(&mut self, user: usize) {
        self.cell.waiting.retain(|waiting| *waiting != user);
    }

    /// To the FACH; nothing if not on a dedicated channel.
    pub fn release(&mut self, user: usize) {
        if self.state(user) == State::Dch {
            self.cell.stations[user].usage.releases += 1;
            self.cell.begin(self.now, user, State::Releasing, self.cell.switch_time);
        }
    }

    /// From the FACH to the paging channel; nothing if not on the FACH or with packets.
    pub fn park(&mut self, user: usize) {
        if self.state(user) == State::Fach && self.packets(user) == 0 {
            self.withdraw(user);
            self.cell.enter(self.now, user, State::Pch);
        }
    }

    pub fn set_timer(&mut self, user: usize, at: Option<Time>) {
        self.cell.set_timer(user, at);
    }
}
