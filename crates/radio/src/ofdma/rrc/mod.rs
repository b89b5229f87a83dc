pub mod access;

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use nodeb_air::UserRadio;
use nodeb_base::event::Direction;
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Power};

use crate::switching::{ChannelUse, State};
use access::Access;

#[derive(Clone, Debug)]
pub struct RrcRules {
    pub access: Access,
    /// TTIs without data after which a connection is released.
    pub inactivity: u64,
    pub tti: Duration,
    /// Of the phone's radio, as the next two.
    pub idle: Power,
    pub connecting: Power,
    pub connected: Power,
}

#[derive(Clone, Copy, Debug)]
struct Promotion {
    /// When the packet that triggered it could be sent.
    began: u64,
    /// First TTI of random access.
    access: u64,
    /// First connected TTI.
    connected: u64,
}

// Clause: TS 36.331, 5.3.8: release of connections
// Simplified: the release takes no time
/// In TTIs.
#[derive(Clone, Debug)]
struct Connection {
    id: u64,
    /// Its connection may have ended; `None` if the phone has always been idle.
    last: Option<Promotion>,
    /// Data wait or are being transmitted, in the downlink and in the uplink.
    waiting: [bool; 2],
    /// Last TTI in which data arrived or waited.
    active: u64,
    /// First TTI that is not counted in `usage`.
    counted: u64,
    usage: ChannelUse,
    promotions: u64,
    /// TTIs from the packet that began a promotion to the connection, counted in full from the
    /// beginning.
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

    /// If no more data arrive; `u64::MAX` while data wait, 0 if the phone has always been idle.
    fn ends(&self, inactivity: u64) -> u64 {
        match self.last {
            None => 0,
            Some(_) if self.waiting != [false; 2] => u64::MAX,
            Some(last) => self.active.max(last.connected) + inactivity,
        }
    }

    /// Up to `tti`, exclusive.
    fn count(&mut self, tti: u64, rules: &RrcRules) {
        let ends = self.ends(rules.inactivity);
        let (access, connected) = self.last.map_or((0, 0), |last| (last.access, last.connected));
        for (state, until) in [
            (State::Paging, access),
            (State::Connecting, connected),
            (State::Connected, ends),
            (State::Idle, u64::MAX),
        ] {
            let until = until.min(tti);
            if until > self.counted {
                self.usage.add(state, Duration((until - self.counted) * rules.tti.0));
                self.counted = until;
            }
        }
    }
}

#[derive(Debug)]
struct Phones {
    rules: RrcRules,
    phones: Vec<Connection>,
}

/// Clones share the same connections.
#[derive(Clone, Debug)]
pub struct Connections(Rc<RefCell<Phones>>);

impl Connections {
    pub fn new(rules: RrcRules, users: &[UserRadio]) -> Self {
        Self(Rc::new(RefCell::new(Phones {
            rules,
            phones: users.iter().map(|user| Connection::new(user.id)).collect(),
        })))
    }

    fn state(&self) -> RefMut<'_, Phones> {
        self.0.borrow_mut()
    }

    /// First connected TTI, at most `tti` if connected. An idle phone is promoted: paged first for a
    /// packet to it, but begins random access at once for its own, even while it waits to be paged.
    pub fn arrive(&self, user: usize, direction: Direction, tti: u64) -> u64 {
        let mut state = self.state();
        let Phones { rules, phones } = &mut *state;
        let phone = &mut phones[user];
        let is_idle = tti >= phone.ends(rules.inactivity);
        let began = match phone.last {
            _ if is_idle => Some(tti),
            Some(last) if direction == Direction::Up && tti < last.access => Some(last.began),
            _ => None,
        };
        if let Some(began) = began {
            phone.count(tti, rules);
            let from = if direction == Direction::Up { tti } else { rules.access.paged(phone.id, tti) };
            let connected = rules.access.connected(from);
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

    pub fn waits(&self, user: usize, direction: Direction, tti: u64, waits: bool) {
        let phone = &mut self.state().phones[user];
        let waiting = &mut phone.waiting[direction as usize];
        if *waiting || waits {
            phone.active = phone.active.max(tti);
        }
        *waiting = waits;
    }

    /// Of the last connection, or the one being set up; 0 without one.
    pub fn since(&self, user: usize) -> u64 {
        self.state().phones[user].last.map_or(0, |last| last.connected)
    }

    /// If no more data arrive; `u64::MAX` while data wait, 0 if the user has had no connection.
    pub fn ends(&self, user: usize) -> u64 {
        let state = self.state();
        state.phones[user].ends(state.rules.inactivity)
    }

    pub fn is_connected(&self, user: usize, tti: u64) -> bool {
        let state = self.state();
        let phone = &state.phones[user];
        phone.last.is_some_and(|last| (last.connected..phone.ends(state.rules.inactivity)).contains(&tti))
    }

    /// To TTI `tti`, exclusive. A promotion counts from its beginning, with its full length, even if it
    /// is unfinished.
    pub fn table(&self, tti: u64) -> Table {
        let mut state = self.state();
        let Phones { rules, phones } = &mut *state;
        let row = |(user, phone): (usize, &mut Connection)| {
            phone.count(tti, rules);
            ConnectionRow {
                user,
                usage: phone.usage,
                promotions: phone.promotions,
                promoted: Duration(phone.promoted * rules.tti.0),
                energy_j: phone.usage.energy_of(&[
                    (State::Idle, rules.idle),
                    (State::Paging, rules.idle),
                    (State::Connecting, rules.connecting),
                    (State::Connected, rules.connected),
                ]),
            }
        };
        CONNECTIONS.table(&phones.iter_mut().enumerate().map(row).collect::<Vec<_>>())
    }
}

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
    use crate::lte::rrc::Rrc;

    fn connections() -> Connections {
        let rrc = Rrc { inactivity: Duration::from_secs(1), ..Rrc::default() };
        Connections::new(rrc.rules(), &[UserRadio::default()])
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
        // The page is in TTI 9, the preamble in 11, and the connection 83 TTIs later.
        assert_eq!(phone.arrive(0, Direction::Down, 3), 94);
        phone.waits(0, Direction::Down, 3, true);
        assert!(!phone.is_connected(0, 93) && phone.is_connected(0, 94) && phone.is_connected(0, 90_000));
        phone.waits(0, Direction::Down, 200, false);
        assert!(phone.is_connected(0, 1_199) && !phone.is_connected(0, 1_200));
        // The packet in TTI 1000 keeps the connection alive. That in TTI 3000 finds an idle phone.
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
