//! The cell's control plane: who holds a dedicated channel, who waits for one, which switch ends
//! when.

mod rrc;

pub use rrc::Rrc;

use std::collections::VecDeque;

use nodeb_base::engine::{Agenda, Key, Stamps};
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Time};

use super::params::FachDch;
use super::state::{ChannelUse, State};

/// A user as the Node B sees it.
#[derive(Debug)]
struct Station {
    /// Packets not yet sent to the end; the first may be on the air.
    queue: VecDeque<Packet>,
    bytes: u64,
    /// Whether the first packet is on the air.
    sending: bool,
    state: State,
    /// Since when.
    since: Time,
    usage: ChannelUse,
}

/// Whose alarm it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alarm {
    /// The FACH may go on.
    Fach,
    /// A packet has been sent to the end on a user's dedicated channel.
    Dch(usize),
    /// A user's switch ends.
    Switch(usize),
    /// The timer that the policy has set for a user.
    Timer(usize),
}

/// The users of a cell and the pool of dedicated channels.
#[derive(Debug)]
pub struct Cell {
    stations: Vec<Station>,
    channels: usize,
    switch_time: Duration,
    paging_time: Duration,
    /// Who holds a channel, from the beginning of the set-up to the end of the release, in order of
    /// the set-ups.
    holders: Vec<usize>,
    /// Who waits for a channel, in order of asking.
    waiting: Vec<usize>,
    /// The alarms of what is on the air and of switches under way, the first last: there are few of them.
    ends: Vec<(Key, Alarm)>,
    /// The timers of all users, and the one that rings first.
    timers: Agenda,
    next_timer: Option<(Key, usize)>,
    /// Who has entered which state, until it is told.
    entered: Vec<(usize, State)>,
}

impl Cell {
    /// A cell whose users are all on the FACH.
    pub fn new(params: &FachDch, users: usize) -> Self {
        let station = || Station {
            queue: VecDeque::new(),
            bytes: 0,
            sending: false,
            state: State::Fach,
            since: Time::ZERO,
            usage: ChannelUse::default(),
        };
        Self {
            stations: std::iter::repeat_with(station).take(users).collect(),
            channels: params.dch_channels.get() as usize,
            switch_time: params.switch_time,
            paging_time: params.paging_time,
            holders: Vec::new(),
            waiting: Vec::new(),
            ends: Vec::new(),
            timers: Agenda::new(users),
            next_timer: None,
            entered: Vec::new(),
        }
    }

    /// A user's state.
    pub fn state(&self, user: usize) -> State {
        self.stations[user].state
    }

    /// A user's packets, the one on the air included.
    pub fn packets(&self, user: usize) -> usize {
        self.stations[user].queue.len()
    }

    /// Their bytes.
    pub fn bytes(&self, user: usize) -> u64 {
        self.stations[user].bytes
    }

    /// What has been counted for each user by `now`.
    pub fn usage(&self, now: Time) -> Vec<ChannelUse> {
        let of_station = |station: &Station| {
            let mut usage = station.usage;
            usage.add(station.state, now.since(station.since));
            usage
        };
        self.stations.iter().map(of_station).collect()
    }

    // --- the queues ---

    /// Adds a packet to a user's queue.
    pub fn push(&mut self, user: usize, packet: Packet) {
        self.stations[user].bytes += u64::from(packet.size);
        self.stations[user].queue.push_back(packet);
    }

    /// A user's first packet.
    pub fn first_packet(&self, user: usize) -> Option<&Packet> {
        self.stations[user].queue.front()
    }

    /// Whether a user has a packet that could begin to be sent.
    pub fn is_ready(&self, user: usize) -> bool {
        let station = &self.stations[user];
        !station.sending && !station.queue.is_empty()
    }

    /// Puts a ready user's first packet on the air and says its bytes.
    pub fn begin_packet(&mut self, user: usize) -> u64 {
        self.stations[user].sending = true;
        self.stations[user].queue.front().map_or(0, |packet| u64::from(packet.size))
    }

    /// Takes the packet that has been sent to the end.
    pub fn end_packet(&mut self, user: usize) -> Option<Packet> {
        let station = &mut self.stations[user];
        station.sending = false;
        let packet = station.queue.pop_front()?;
        station.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// The first user from `first` on, in a circle, who is ready on the FACH.
    pub fn next_on_fach(&self, first: usize) -> Option<usize> {
        let users = self.stations.len();
        let is_ready = |user: &usize| self.stations[*user].state == State::Fach && self.is_ready(*user);
        (first..users).chain(0..first.min(users)).find(is_ready)
    }

    // --- alarms ---

    /// The alarm that rings next.
    pub fn next_alarm(&self) -> Option<(Key, Alarm)> {
        let timer = self.next_timer.map(|(key, user)| (key, Alarm::Timer(user)));
        match (self.ends.last(), timer) {
            (Some(end), Some(timer)) if timer.0 < end.0 => Some(timer),
            (Some(end), _) => Some(*end),
            (None, timer) => timer,
        }
    }

    /// Takes the alarm that rings under `key`, if one does.
    pub fn take_alarm(&mut self, key: Key) -> Option<Alarm> {
        let (_, alarm) = self.next_alarm().filter(|(due, _)| *due == key)?;
        if let Alarm::Timer(user) = alarm {
            self.set_timer(user, None);
        } else {
            self.ends.pop();
        }
        Some(alarm)
    }

    /// Sets an alarm that is not set, and is no timer.
    pub fn set_alarm(&mut self, alarm: Alarm, at: Time, stamps: &mut Stamps) {
        debug_assert!(self.ends.iter().all(|(_, set)| *set != alarm), "{alarm:?} is set");
        let key = stamps.key(at);
        let place = self.ends.partition_point(|(due, _)| *due > key);
        self.ends.insert(place, (key, alarm));
    }

    /// Sets a user's timer, or stops it.
    fn set_timer(&mut self, user: usize, key: Option<Key>) {
        self.timers.set(user, key);
        self.next_timer = self.timers.next();
    }

    // --- switches ---

    fn enter(&mut self, now: Time, user: usize, state: State) {
        let station = &mut self.stations[user];
        station.usage.add(station.state, now.since(station.since));
        station.state = state;
        station.since = now;
        self.entered.push((user, state));
    }

    /// Whether somebody has entered a state that has not been taken.
    pub fn has_entered(&self) -> bool {
        !self.entered.is_empty()
    }

    /// Takes who has entered which state, in order.
    pub fn take_entered(&mut self) -> std::vec::Drain<'_, (usize, State)> {
        self.entered.drain(..)
    }

    fn begin(&mut self, now: Time, user: usize, state: State, lasts: Duration, stamps: &mut Stamps) {
        self.enter(now, user, state);
        self.set_alarm(Alarm::Switch(user), now + lasts, stamps);
    }

    /// Calls a user from the paging channel.
    pub fn page(&mut self, now: Time, user: usize, stamps: &mut Stamps) {
        self.stations[user].usage.pagings += 1;
        self.begin(now, user, State::Paging, self.paging_time, stamps);
    }

    /// Whether a channel is free and somebody waits for it.
    pub fn can_set_up(&self) -> bool {
        self.holders.len() < self.channels && !self.waiting.is_empty()
    }

    /// Begins to set up a channel for the user at a position among those who wait; says who it is.
    pub fn set_up(&mut self, now: Time, position: usize, stamps: &mut Stamps) -> usize {
        let user = self.waiting.remove(position);
        self.holders.push(user);
        self.stations[user].usage.set_ups += 1;
        self.begin(now, user, State::SettingUp, self.switch_time, stamps);
        user
    }

    /// Ends a user's switch.
    pub fn end_switch(&mut self, now: Time, user: usize) {
        let state = if self.state(user) == State::SettingUp { State::Dch } else { State::Fach };
        if self.state(user) == State::Releasing {
            self.holders.retain(|holder| *holder != user);
        }
        self.enter(now, user, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Alarms ring by (time, insertion), whatever is set; a timer as it was set last, or never.
        #[test]
        fn alarms_ring_in_order(
            sets in prop::collection::vec((0usize..3, 0usize..4, prop::option::of(0u64..20)), 0..40),
        ) {
            let (mut cell, mut stamps) = (Cell::new(&FachDch::default(), 4), Stamps::default());
            let mut expected: Vec<(Key, Alarm)> = Vec::new();
            for (kind, user, at) in sets {
                let alarm = [Alarm::Dch(user), Alarm::Switch(user), Alarm::Timer(user)][kind];
                let at = at.map(Time);
                if kind == 2 {
                    expected.retain(|(_, set)| *set != alarm);
                    let key = at.map(|at| stamps.key(at));
                    cell.set_timer(user, key);
                    expected.extend(key.map(|key| (key, alarm)));
                } else if let Some(at) = at && expected.iter().all(|(_, set)| *set != alarm) {
                    cell.set_alarm(alarm, at, &mut stamps);
                    let key = cell.ends.iter().find(|(_, set)| *set == alarm).expect("it has just been set").0;
                    expected.push((key, alarm));
                }
            }
            expected.sort_unstable_by_key(|(key, _)| *key);
            let ring = |cell: &mut Cell| {
                let (key, alarm) = cell.next_alarm()?;
                assert_eq!(cell.take_alarm(key), Some(alarm));
                Some((key, alarm))
            };
            prop_assert_eq!(std::iter::from_fn(|| ring(&mut cell)).collect::<Vec<_>>(), expected);
        }
    }
}
