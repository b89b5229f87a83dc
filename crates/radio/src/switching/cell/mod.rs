//! Control plane of a cell with dedicated channels. It tracks which users hold a channel, which users
//! wait for one, and when switches end.

mod rrc;

pub use rrc::Rrc;

use std::collections::VecDeque;

use nodeb_base::engine::{EventQueue, Key, Stamps};
use nodeb_base::packet::Packet;
use nodeb_base::units::{Duration, Time};

use super::params::FachDch;
use super::state::{ChannelUse, State};

/// State of a user at the Node B, with the queue of the user's packets.
#[derive(Debug)]
struct Station {
    /// Packets that are not completely sent; the first one may be in transmission.
    queue: VecDeque<Packet>,
    bytes: u64,
    /// Whether the first packet is in transmission.
    sending: bool,
    state: State,
    /// Time at which the user entered its present state.
    since: Time,
    usage: ChannelUse,
}

/// Future event that the cell has scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// The transmission of a packet or of signalling on the FACH ends.
    Fach,
    /// The transmission of a packet on the user's dedicated channel ends.
    Dch(usize),
    /// The user's switch ends: from the paging channel or a dedicated channel to the FACH, or from
    /// the FACH to a dedicated channel.
    Switch(usize),
    /// The timer that the switching policy has armed for a user expires.
    Timer(usize),
}

/// Users of a cell and its pool of dedicated channels.
#[derive(Debug)]
pub struct Cell {
    stations: Vec<Station>,
    channels: usize,
    switch_time: Duration,
    paging_time: Duration,
    /// Users that hold a channel, in the order in which the set-ups started. A user holds its channel
    /// from the start of the set-up to the end of the release.
    holders: Vec<usize>,
    /// Users that wait for a channel, in order of their requests.
    waiting: Vec<usize>,
    /// Scheduled ends of transmissions and switches, latest first. As there are few of them, a
    /// sorted list is sufficient.
    ends: Vec<(Key, Pending)>,
    /// Timers of the switching policy, one per user.
    timers: EventQueue,
    /// Key and user of the timer that expires first among those in `timers`; `None` if no timer is
    /// armed.
    next_timer: Option<(Key, usize)>,
    /// State changes since [`Self::take_entered`] was last called, each as the user and its new
    /// state.
    entered: Vec<(usize, State)>,
}

impl Cell {
    /// Creates a cell whose users are all on the FACH.
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
            timers: EventQueue::new(users),
            next_timer: None,
            entered: Vec::new(),
        }
    }

    /// Returns the RRC state of a user.
    pub fn state(&self, user: usize) -> State {
        self.stations[user].state
    }

    /// Returns the number of a user's packets, including the one in transmission.
    pub fn packets(&self, user: usize) -> usize {
        self.stations[user].queue.len()
    }

    /// Returns the number of bytes of a user's packets, including the one in transmission.
    pub fn bytes(&self, user: usize) -> u64 {
        self.stations[user].bytes
    }

    /// Returns the channel use of each user until `now`.
    pub fn usage(&self, now: Time) -> Vec<ChannelUse> {
        let of_station = |station: &Station| {
            let mut usage = station.usage;
            usage.add(station.state, now.since(station.since));
            usage
        };
        self.stations.iter().map(of_station).collect()
    }

    // --- Methods for the queues of users ---

    /// Adds a packet to a user's queue.
    pub fn push(&mut self, user: usize, packet: Packet) {
        self.stations[user].bytes += u64::from(packet.size);
        self.stations[user].queue.push_back(packet);
    }

    /// Returns a user's first packet, which may be in transmission, or `None` if the queue is
    /// empty.
    pub fn first_packet(&self, user: usize) -> Option<&Packet> {
        self.stations[user].queue.front()
    }

    /// Returns true if a user has a packet and none of its packets is in transmission.
    pub fn is_ready(&self, user: usize) -> bool {
        let station = &self.stations[user];
        !station.sending && !station.queue.is_empty()
    }

    /// Marks the first packet of a user, who must be ready, as in transmission. Returns its size in
    /// bytes.
    pub fn begin_packet(&mut self, user: usize) -> u64 {
        self.stations[user].sending = true;
        self.stations[user].queue.front().map_or(0, |packet| u64::from(packet.size))
    }

    /// Ends the transmission of a user's first packet: removes and returns this packet. Returns
    /// `None` if the user has no packet.
    pub fn end_packet(&mut self, user: usize) -> Option<Packet> {
        let station = &mut self.stations[user];
        station.sending = false;
        let packet = station.queue.pop_front()?;
        station.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Returns the first user, from index `first` on and then from index 0, who is on the FACH and
    /// has a packet to send, or `None` if there is none.
    pub fn next_on_fach(&self, first: usize) -> Option<usize> {
        let users = self.stations.len();
        let is_ready = |user: &usize| self.stations[*user].state == State::Fach && self.is_ready(*user);
        (first..users).chain(0..first.min(users)).find(is_ready)
    }

    // --- Methods for pending events ---

    /// Returns the event that is due first, with its key, or `None` if no event is pending.
    pub fn next_pending(&self) -> Option<(Key, Pending)> {
        let timer = self.next_timer.map(|(key, user)| (key, Pending::Timer(user)));
        match (self.ends.last(), timer) {
            (Some(end), Some(timer)) if timer.0 < end.0 => Some(timer),
            (Some(end), _) => Some(*end),
            (None, timer) => timer,
        }
    }

    /// Removes and returns the event due at `key`. Returns `None` if `key` is not that of the first
    /// pending event.
    pub fn take_pending(&mut self, key: Key) -> Option<Pending> {
        let (_, pending) = self.next_pending().filter(|(due, _)| *due == key)?;
        if let Pending::Timer(user) = pending {
            self.set_timer(user, None);
        } else {
            self.ends.pop();
        }
        Some(pending)
    }

    /// Schedules the end of a transmission or switch at the time `at`. The same event must not be
    /// scheduled already.
    pub fn set_pending(&mut self, pending: Pending, at: Time, stamps: &mut Stamps) {
        debug_assert!(self.ends.iter().all(|(_, set)| *set != pending), "{pending:?} is set");
        let key = stamps.key(at);
        let place = self.ends.partition_point(|(due, _)| *due > key);
        self.ends.insert(place, (key, pending));
    }

    /// Arms the policy's timer of a user so that it expires at `key`, or disarms it if `key` is
    /// `None`.
    fn set_timer(&mut self, user: usize, key: Option<Key>) {
        self.timers.set(user, key);
        self.next_timer = self.timers.next();
    }

    // --- Methods for switches between channels ---

    fn enter(&mut self, now: Time, user: usize, state: State) {
        let station = &mut self.stations[user];
        station.usage.add(station.state, now.since(station.since));
        station.state = state;
        station.since = now;
        self.entered.push((user, state));
    }

    /// Returns true if there are state changes that [`Self::take_entered`] has not returned.
    pub fn has_entered(&self) -> bool {
        !self.entered.is_empty()
    }

    /// Removes and returns all state changes since the last call, in order, each as the user and
    /// its new state.
    pub fn take_entered(&mut self) -> std::vec::Drain<'_, (usize, State)> {
        self.entered.drain(..)
    }

    fn begin(&mut self, now: Time, user: usize, state: State, lasts: Duration, stamps: &mut Stamps) {
        self.enter(now, user, state);
        self.set_pending(Pending::Switch(user), now + lasts, stamps);
    }

    /// Pages the phone of a user, which starts the user's switch from the paging channel to the
    /// FACH.
    pub fn page(&mut self, now: Time, user: usize, stamps: &mut Stamps) {
        self.stations[user].usage.pagings += 1;
        self.begin(now, user, State::Paging, self.paging_time, stamps);
    }

    /// Returns true if a channel is free and a user waits for one.
    pub fn can_set_up(&self) -> bool {
        self.holders.len() < self.channels && !self.waiting.is_empty()
    }

    /// Starts to set up a channel for the user at index `position` of the waiting list. Returns the
    /// index of this user.
    pub fn set_up(&mut self, now: Time, position: usize, stamps: &mut Stamps) -> usize {
        let user = self.waiting.remove(position);
        self.holders.push(user);
        self.stations[user].usage.set_ups += 1;
        self.begin(now, user, State::SettingUp, self.switch_time, stamps);
        user
    }

    /// Ends the switch of a user. The user is then on the dedicated channel that was set up, or else
    /// on the FACH. A dedicated channel that was released becomes free.
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
        /// Pending events happen in order of time, and events at the same time in the order in
        /// which they were scheduled. A timer expires at the time for which it was armed last, or
        /// not at all if it was disarmed.
        #[test]
        fn pending_events_happen_in_order(
            sets in prop::collection::vec((0usize..3, 0usize..4, prop::option::of(0u64..20)), 0..40),
        ) {
            let (mut cell, mut stamps) = (Cell::new(&FachDch::default(), 4), Stamps::default());
            let mut expected: Vec<(Key, Pending)> = Vec::new();
            for (kind, user, at) in sets {
                let pending = [Pending::Dch(user), Pending::Switch(user), Pending::Timer(user)][kind];
                let at = at.map(Time);
                if kind == 2 {
                    expected.retain(|(_, set)| *set != pending);
                    let key = at.map(|at| stamps.key(at));
                    cell.set_timer(user, key);
                    expected.extend(key.map(|key| (key, pending)));
                } else if let Some(at) = at && expected.iter().all(|(_, set)| *set != pending) {
                    cell.set_pending(pending, at, &mut stamps);
                    let key = cell.ends.iter().find(|(_, set)| *set == pending).expect("it has just been set").0;
                    expected.push((key, pending));
                }
            }
            expected.sort_unstable_by_key(|(key, _)| *key);
            let take = |cell: &mut Cell| {
                let (key, pending) = cell.next_pending()?;
                assert_eq!(cell.take_pending(key), Some(pending));
                Some((key, pending))
            };
            prop_assert_eq!(std::iter::from_fn(|| take(&mut cell)).collect::<Vec<_>>(), expected);
        }
    }
}
