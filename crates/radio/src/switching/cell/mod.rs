mod rrc;

pub use rrc::Rrc;

use std::collections::VecDeque;

use nodeb_base::engine::{EventQueue, Instant, Order, Phase};
use nodeb_base::packet::Packet;
use nodeb_base::rng::{Indexed, Streams};
use nodeb_base::units::{Duration, Time};

use super::params::FachDch;
use super::state::{ChannelUse, State};

#[derive(Debug)]
struct Station {
    /// Not completely sent.
    queue: VecDeque<Packet>,
    bytes: u64,
    /// The first packet is in transmission.
    sending: bool,
    state: State,
    /// Of the present state.
    since: Time,
    usage: ChannelUse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    /// Transmission of a packet or of signalling.
    Fach,
    /// Transmission of a packet.
    Dch(usize),
    Switch(usize),
    /// Of the switching policy.
    Timer(usize),
}

#[derive(Debug)]
pub struct Cell {
    stations: Vec<Station>,
    channels: usize,
    switch_time: Duration,
    paging_time: Duration,
    /// In the order of set-ups: from the start of the set-up to the end of the release.
    holders: Vec<usize>,
    /// In order of their requests.
    waiting: Vec<usize>,
    /// Latest first; a sorted list is sufficient for so few.
    ends: Vec<(Instant, Pending)>,
    /// Of the policy, one per user.
    timers: EventQueue,
    /// Of `ends`.
    ties: Indexed,
    /// First of `timers`.
    next_timer: Option<(Instant, usize)>,
    /// For [`Self::take_entered`].
    entered: Vec<(usize, State)>,
}

impl Pending {
    fn at(self, at: Time) -> Instant {
        let phase = match self {
            Self::Fach | Self::Dch(_) => Phase::Arrival,
            Self::Switch(_) | Self::Timer(_) => Phase::Timer,
        };
        Instant::new(at, phase)
    }

    /// Of several at one instant.
    fn order(self) -> Order {
        let (rank, user) = match self {
            Self::Fach => (0, 0),
            Self::Dch(user) => (1, user),
            Self::Switch(user) => (2, user),
            Self::Timer(user) => (3, user),
        };
        Order { rank, user: user as u32 }
    }
}

impl Cell {
    /// All users are on the FACH.
    pub fn new(params: &FachDch, users: usize, streams: &Streams) -> Self {
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
            timers: EventQueue::new(
                (0..users).map(|user| Pending::Timer(user).order()).collect::<Vec<_>>(),
                streams,
            ),
            ties: Order::ties(streams),
            next_timer: None,
            entered: Vec::new(),
        }
    }

    pub fn state(&self, user: usize) -> State {
        self.stations[user].state
    }

    /// With the one in transmission.
    pub fn packets(&self, user: usize) -> usize {
        self.stations[user].queue.len()
    }

    /// With the one in transmission.
    pub fn bytes(&self, user: usize) -> u64 {
        self.stations[user].bytes
    }

    pub fn usage(&self, now: Time) -> Vec<ChannelUse> {
        let of_station = |station: &Station| {
            let mut usage = station.usage;
            usage.add(station.state, now.since(station.since));
            usage
        };
        self.stations.iter().map(of_station).collect()
    }

    // --- Methods for the queues of users ---

    pub fn push(&mut self, user: usize, packet: Packet) {
        self.stations[user].bytes += u64::from(packet.size);
        self.stations[user].queue.push_back(packet);
    }

    /// It may be in transmission.
    pub fn first_packet(&self, user: usize) -> Option<&Packet> {
        self.stations[user].queue.front()
    }

    /// A packet, and none in transmission.
    pub fn is_ready(&self, user: usize) -> bool {
        let station = &self.stations[user];
        !station.sending && !station.queue.is_empty()
    }

    /// Of a ready user; its size in bytes.
    pub fn begin_packet(&mut self, user: usize) -> u64 {
        self.stations[user].sending = true;
        self.stations[user].queue.front().map_or(0, |packet| u64::from(packet.size))
    }

    pub fn end_packet(&mut self, user: usize) -> Option<Packet> {
        let station = &mut self.stations[user];
        station.sending = false;
        let packet = station.queue.pop_front()?;
        station.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// From index `first` on and then from index 0.
    pub fn next_on_fach(&self, first: usize) -> Option<usize> {
        let users = self.stations.len();
        let is_ready = |user: &usize| self.stations[*user].state == State::Fach && self.is_ready(*user);
        (first..users).chain(0..first.min(users)).find(is_ready)
    }

    // --- Methods for pending events ---

    pub fn next_pending(&self) -> Option<(Instant, Pending)> {
        let timer = self.next_timer.map(|(instant, user)| (instant, Pending::Timer(user)));
        match (self.ends.last(), timer) {
            (Some(end), Some(timer)) if timer.0 < end.0 => Some(timer),
            (Some(end), _) => Some(*end),
            (None, timer) => timer,
        }
    }

    pub fn take_pending(&mut self) -> Option<Pending> {
        let (_, pending) = self.next_pending()?;
        if let Pending::Timer(user) = pending {
            self.set_timer(user, None);
        } else {
            self.ends.pop();
        }
        Some(pending)
    }

    /// It must not be scheduled already.
    pub fn set_pending(&mut self, pending: Pending, at: Time) {
        debug_assert!(self.ends.iter().all(|(_, set)| *set != pending), "{pending:?} is set");
        let instant = pending.at(at);
        let turn = |pending: Pending| pending.order().at(instant, &self.ties);
        let follows = |(due, other): &(Instant, Pending)| {
            due.cmp(&instant).then_with(|| turn(*other).cmp(&turn(pending))).is_gt()
        };
        let place = self.ends.partition_point(follows);
        self.ends.insert(place, (instant, pending));
    }

    /// Disarms it if `at` is `None`.
    fn set_timer(&mut self, user: usize, at: Option<Time>) {
        self.timers.set(user, at.map(|at| Pending::Timer(user).at(at)));
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

    pub fn has_entered(&self) -> bool {
        !self.entered.is_empty()
    }

    /// In order, since the last call.
    pub fn take_entered(&mut self) -> std::vec::Drain<'_, (usize, State)> {
        self.entered.drain(..)
    }

    fn begin(&mut self, now: Time, user: usize, state: State, lasts: Duration) {
        self.enter(now, user, state);
        self.set_pending(Pending::Switch(user), now + lasts);
    }

    /// Starts the switch from the paging channel to the FACH.
    pub fn page(&mut self, now: Time, user: usize) {
        self.stations[user].usage.pagings += 1;
        self.begin(now, user, State::Paging, self.paging_time);
    }

    /// A channel is free and a user waits.
    pub fn can_set_up(&self) -> bool {
        self.holders.len() < self.channels && !self.waiting.is_empty()
    }

    /// `position` is that in the waiting list; the user.
    pub fn set_up(&mut self, now: Time, position: usize) -> usize {
        let user = self.waiting.remove(position);
        self.holders.push(user);
        self.stations[user].usage.set_ups += 1;
        self.begin(now, user, State::SettingUp, self.switch_time);
        user
    }

    /// A released channel becomes free.
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
        /// A timer expires at the time for which it was armed last.
        #[test]
        fn pending_events_happen_in_order(
            sets in prop::collection::vec((0usize..3, 0usize..4, prop::option::of(0u64..20)), 0..40),
        ) {
            let mut cell = Cell::new(&FachDch::default(), 4, &Streams::new(1, 0));
            let mut expected: Vec<(Instant, Pending)> = Vec::new();
            for (kind, user, at) in sets {
                let pending = [Pending::Dch(user), Pending::Switch(user), Pending::Timer(user)][kind];
                let at = at.map(Time);
                if kind == 2 {
                    expected.retain(|(_, set)| *set != pending);
                    cell.set_timer(user, at);
                    expected.extend(at.map(|at| (pending.at(at), pending)));
                } else if let Some(at) = at && expected.iter().all(|(_, set)| *set != pending) {
                    cell.set_pending(pending, at);
                    expected.push((pending.at(at), pending));
                }
            }
            expected.sort_unstable_by_key(|(instant, pending)| (*instant, pending.order().at(*instant, &cell.ties)));
            let take = |cell: &mut Cell| {
                let next = cell.next_pending()?;
                assert_eq!(cell.take_pending(), Some(next.1));
                Some(next)
            };
            prop_assert_eq!(std::iter::from_fn(|| take(&mut cell)).collect::<Vec<_>>(), expected);
        }
    }
}
