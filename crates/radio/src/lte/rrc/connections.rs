//! RRC states of all phones of a cell, which the MACs of downlink and uplink share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nodeb_base::event::Direction;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::Duration;

use super::super::reports::TTI;
use super::access::Access;
use super::{Rrc, RrcPower};
use crate::UserRadio;
use crate::switching::{ChannelUse, State};

/// Promotion of a phone, in subframes.
#[derive(Clone, Copy, Debug)]
struct Promotion {
    /// Subframe in which the packet that triggered the promotion was ready to be sent.
    began: u64,
    /// First subframe of random access, after paging if the phone is paged.
    access: u64,
    /// First subframe in which the phone is connected.
    connected: u64,
}

// Clause: TS 36.331, 5.3.8: release of connections
// Simplified: the release takes no time
/// Connection of one phone. All times are subframes.
#[derive(Clone, Debug)]
struct Connection {
    id: u64,
    /// Last promotion, whose connection may have ended since; `None` if the phone has always been idle.
    last: Option<Promotion>,
    /// Whether data wait or are being transmitted, in the downlink and in the uplink.
    waiting: [bool; 2],
    /// Last subframe in which data arrived or waited.
    active: u64,
    /// First subframe that is not counted in `usage`.
    counted: u64,
    usage: ChannelUse,
    promotions: u64,
    /// Sum of the times from the packet that began a promotion to the connection, in subframes. A promotion
    /// counts with its full length from its beginning.
    promoted: u64,
}

impl Connection {
    fn new(id: u64) -> Self {
        Self {
            id,
            last: None,
            waiting: [false; 2],
            active: 0,
            counted: 0,
            usage: ChannelUse::default(),
            promotions: 0,
            promoted: 0,
        }
    }

    /// Returns the subframe in which the connection ends if no more data arrive. Returns `u64::MAX` while data wait,
    /// and 0 if the phone has always been idle.
    fn ends(&self, inactivity: u64) -> u64 {
        match self.last {
            None => 0,
            Some(_) if self.waiting != [false; 2] => u64::MAX,
            Some(last) => self.active.max(last.connected) + inactivity,
        }
    }

    /// Adds the time from subframe `counted` to `tti`, exclusive, to the times of the phone's states.
    fn count(&mut self, tti: u64, inactivity: u64) {
        let ends = self.ends(inactivity);
        let (access, connected) = self.last.map_or((0, 0), |last| (last.access, last.connected));
        for (state, until) in [
            (State::Paging, access),
            (State::Connecting, connected),
            (State::Connected, ends),
            (State::Idle, u64::MAX),
        ] {
            let until = until.min(tti);
            if until > self.counted {
                self.usage.add(state, Duration((until - self.counted) * TTI.0));
                self.counted = until;
            }
        }
    }
}

#[derive(Debug)]
struct Shared {
    access: Access,
    inactivity: u64,
    power: RrcPower,
    phones: Vec<Connection>,
}

/// Connections of all phones of a cell. Clones of this value share the same connections.
#[derive(Clone, Debug)]
pub struct Connections(Arc<Mutex<Shared>>);

impl Connections {
    /// Creates the RRC states of `users`, whose phones are all idle.
    pub fn new(rrc: &Rrc, users: &[UserRadio]) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            access: Access::new(rrc),
            inactivity: rrc.inactivity.0 / TTI.0,
            power: rrc.power.clone(),
            phones: users.iter().map(|user| Connection::new(user.id)).collect(),
        })))
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the arrival of a packet for or from a user, which can be sent from subframe `tti` on. An idle phone is
    /// promoted. It is paged first if the packet is for it. If it sends a packet, it begins random access at once, even
    /// while it waits to be paged. Returns the first subframe of the phone's connection, which is not after `tti` if
    /// the phone is connected already.
    pub fn arrive(&self, user: usize, direction: Direction, tti: u64) -> u64 {
        let mut shared = self.shared();
        let Shared { access, inactivity, phones, .. } = &mut *shared;
        let phone = &mut phones[user];
        let is_idle = tti >= phone.ends(*inactivity);
        let began = match phone.last {
            _ if is_idle => Some(tti),
            Some(last) if direction == Direction::Up && tti < last.access => Some(last.began),
            _ => None,
        };
        if let Some(began) = began {
            phone.count(tti, *inactivity);
            let from = if direction == Direction::Up { tti } else { access.paged(phone.id, tti) };
            let connected = access.connected(from);
            if is_idle {
                phone.promotions += 1;
                phone.usage.pagings += u64::from(direction == Direction::Down);
            } else {
                phone.promoted -= phone.last.map_or(0, |last| last.connected - last.began);
            }
            phone.promoted += connected - began;
            phone.last = Some(Promotion { began, access: from, connected });
        }
        phone.active = phone.active.max(tti);
        phone.last.map_or(tti, |last| last.connected)
    }

    /// Records whether data of a direction wait or are being transmitted in subframe `tti`.
    pub fn waits(&self, user: usize, direction: Direction, tti: u64, waits: bool) {
        let phone = &mut self.shared().phones[user];
        let waiting = &mut phone.waiting[direction as usize];
        if *waiting || waits {
            phone.active = phone.active.max(tti);
        }
        *waiting = waits;
    }

    /// Returns the first subframe of the user's last connection, 0 if it has had none. During a promotion,
    /// this is the first subframe of the connection that is being set up.
    pub fn since(&self, user: usize) -> u64 {
        self.shared().phones[user].last.map_or(0, |last| last.connected)
    }

    /// Returns the subframe in which the user's connection ends if no more data arrive, or has ended: `u64::MAX` while
    /// data wait, 0 if the user has had no connection.
    pub fn ends(&self, user: usize) -> u64 {
        let shared = self.shared();
        shared.phones[user].ends(shared.inactivity)
    }

    /// Returns true if a user is connected in subframe `tti`.
    pub fn is_connected(&self, user: usize, tti: u64) -> bool {
        let shared = self.shared();
        let phone = &shared.phones[user];
        phone.last.is_some_and(|last| (last.connected..phone.ends(shared.inactivity)).contains(&tti))
    }

    /// Returns the table `connections`: promotions, time in each RRC state, and energy of each user, from the
    /// start of the run to subframe `tti`, exclusive. A promotion counts from its beginning: if it is
    /// unfinished in subframe `tti`, it is in `promotions`, and with its full length in `promotion_mean_s`.
    pub fn table(&self, tti: u64) -> Table {
        let mut shared = self.shared();
        let Shared { inactivity, power, phones, .. } = &mut *shared;
        let row = |(user, phone): (usize, &mut Connection)| {
            phone.count(tti, *inactivity);
            ConnectionRow {
                user,
                usage: phone.usage,
                promotions: phone.promotions,
                promoted: Duration(phone.promoted * TTI.0),
                energy_j: phone.usage.energy_of(&[
                    (State::Idle, power.idle),
                    (State::Paging, power.idle),
                    (State::Connecting, power.connecting),
                    (State::Connected, power.connected),
                ]),
            }
        };
        CONNECTIONS.table(&phones.iter_mut().enumerate().map(row).collect::<Vec<_>>())
    }
}

/// Row of the table of connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionRow {
    user: usize,
    usage: ChannelUse,
    promotions: u64,
    promoted: Duration,
    energy_j: f64,
}

impl ConnectionRow {
    fn seconds(&self, state: State) -> f64 {
        self.usage.time(state).as_secs()
    }
}

table! {
    /// One row per user on `lte` with `rrc`: promotions, time in each RRC state, and energy of the phone's radio.
    pub static CONNECTIONS: "connections" of ConnectionRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Number of times that the phone began to set up a connection.
        "promotions" [""] U64 = |row| row.promotions;
        /// Number of times that a packet for the idle phone caused paging.
        "pagings" [""] U64 = |row| row.usage.pagings;
        /// Mean time from the packet that began a promotion to the connection; NaN if none began.
        "promotion_mean_s" ["s"] F64 = |row| row.promoted.as_secs() / row.promotions as f64;
        /// Time that the phone was idle without data for it.
        "idle_s" ["s"] F64 = |row| row.seconds(State::Idle);
        /// Time that the phone was idle while data waited for its paging occasion.
        "paging_s" ["s"] F64 = |row| row.seconds(State::Paging);
        /// Time that the phone spent in random access and the set-up of connections.
        "connecting_s" ["s"] F64 = |row| row.seconds(State::Connecting);
        /// Time that the phone was connected.
        "connected_s" ["s"] F64 = |row| row.seconds(State::Connected);
        /// Energy used by the phone's radio.
        "energy_j" ["J"] F64 = |row| row.energy_j;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn connections() -> Connections {
        let rrc = Rrc { inactivity: Duration::from_secs(1), ..Rrc::default() };
        Connections::new(&rrc, &[UserRadio::default()])
    }

    fn column(connections: &Connections, tti: u64, name: &str) -> f64 {
        match connections.table(tti).column(name).unwrap() {
            nodeb_base::table::Values::F64(values) => values[0],
            nodeb_base::table::Values::U64(values) => values[0] as f64,
            _ => panic!("{name} has no numbers"),
        }
    }

    // Tests the feature: release of connections (worked example)
    #[test]
    fn states_follow_arrivals_and_the_end_of_data() {
        let phone = connections();
        // The page is in subframe 9, the preamble in 11, and the connection 83 subframes later.
        assert_eq!(phone.arrive(0, Direction::Down, 3), 94);
        phone.waits(0, Direction::Down, 3, true);
        assert!(!phone.is_connected(0, 93) && phone.is_connected(0, 94) && phone.is_connected(0, 90_000));
        phone.waits(0, Direction::Down, 200, false);
        assert!(phone.is_connected(0, 1_199) && !phone.is_connected(0, 1_200));
        // The packet in subframe 1000 keeps the connection alive. That in subframe 3000 finds an idle phone.
        assert_eq!(phone.arrive(0, Direction::Up, 1_000), 94);
        assert_eq!(phone.arrive(0, Direction::Up, 3_000), 3_001 + 83);
        for (name, value) in [
            ("promotions", 2.0),
            ("pagings", 1.0),
            ("promotion_mean_s", 0.0875),
            ("idle_s", 0.003 + 1.0),
            ("paging_s", 0.007),
            ("connecting_s", 0.084 + 0.084),
            ("connected_s", 1.906),
        ] {
            let found = column(&phone, 3_084, name);
            assert!((found - value).abs() < 1e-9, "{name}: {found}");
        }
        let energy = 1.010 * 0.031 + 0.168 * 1.211 + 1.906 * 1.060;
        assert!((column(&phone, 3_084, "energy_j") - energy).abs() < 1e-9);
    }

    /// A phone that has data itself does not wait for its paging occasion.
    #[test]
    fn a_packet_of_the_phone_ends_paging() {
        let phone = connections();
        let paged = phone.arrive(0, Direction::Down, 20);
        assert_eq!(paged, 1_280 + 11 + 83);
        assert_eq!(phone.arrive(0, Direction::Up, 100), 101 + 83);
        assert_eq!(phone.arrive(0, Direction::Up, 102), 101 + 83, "random access goes on");
        assert!((column(&phone, 184, "promotions") - 1.0).abs() < 1e-9);
        assert!((column(&phone, 184, "promotion_mean_s") - 0.164).abs() < 1e-9);
        assert!((column(&phone, 184, "paging_s") - 0.080).abs() < 1e-9);
    }

    proptest! {
        /// The times in all states add up to the length of the run, whatever arrives. After each arrival, the
        /// phone is or becomes connected.
        #[test]
        fn states_fill_the_run(steps in prop::collection::vec((0u64..1_500, any::<bool>(), any::<bool>()), 0..40)) {
            let (phone, mut now) = (connections(), 0);
            for (gap, is_up, waits) in steps {
                now += gap;
                let direction = if is_up { Direction::Up } else { Direction::Down };
                let connected = phone.arrive(0, direction, now);
                phone.waits(0, direction, now, waits);
                prop_assert!(phone.is_connected(0, now.max(connected)));
            }
            let states = ["idle_s", "paging_s", "connecting_s", "connected_s"];
            let sum: f64 = states.iter().map(|name| column(&phone, now + 5_000, name)).sum();
            prop_assert!((sum - (now + 5_000) as f64 * 1e-3).abs() < 1e-6);
        }
    }
}
