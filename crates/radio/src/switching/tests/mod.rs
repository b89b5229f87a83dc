//! A packet of 480 bytes takes 120 ms on the FACH (32 kbit/s) and 10 ms on a dedicated channel (384 kbit/s);
//! no signalling unless a test adds some.

mod policies;
mod properties;
mod queueing;

use nodeb_base::context::TestBench;
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Time};
use serde_json::{Value, json};

use super::State;
use super::bearer::SwitchedBearer;
use super::params::FachDch;
use nodeb_air::Hop;

/// Time in ms, user and new state.
type Change = (f64, usize, State);

struct Driver {
    bearer: SwitchedBearer,
    around: TestBench,
    now: Time,
    states: Vec<State>,
    /// By user.
    reported: Vec<State>,
    changes: Vec<Change>,
    /// Time in ms and user.
    delivered: Vec<(f64, usize)>,
}

fn ms(at: Time) -> f64 {
    at.0 as f64 / 1e6
}

impl Driver {
    fn new(params: Value, users: usize) -> Self {
        let mut all = json!({ "fach_rate": "32 kbps", "signalling_rate": "0 bps" });
        let Value::Object(given) = params else { panic!("a table of parameters") };
        all.as_object_mut().expect("a table").extend(given);
        let params: FachDch = serde_json::from_value(all).expect("valid parameters");
        Self {
            bearer: params.bearer(users, &Streams::new(1, 0)),
            around: TestBench::with_mask(Mask::CHANNELS, Time(u64::MAX)),
            now: Time::ZERO,
            states: vec![State::Fach; users],
            reported: vec![State::Fach; users],
            changes: Vec::new(),
            delivered: Vec::new(),
        }
    }

    fn record(&mut self) {
        for (at, event) in self.around.take_events() {
            let Event::State { user, state, .. } = event else { panic!("{event:?}") };
            let entered = State::ALL[usize::from(state)];
            assert_eq!(at, self.now);
            assert_ne!(std::mem::replace(&mut self.reported[user as usize], entered), entered);
        }
        for (user, last) in self.states.iter_mut().enumerate() {
            let state = self.bearer.state(user);
            if std::mem::replace(last, state) != state {
                self.changes.push((ms(self.now), user, state));
            }
        }
        assert_eq!(self.reported, self.states);
    }

    fn run(&mut self, until: Time) {
        while let Some(instant) = self.bearer.next_wake().filter(|instant| instant.time() <= until) {
            self.now = instant.time();
            self.bearer.wake(&mut self.around.at(instant.time()), instant);
            let arrived = self.around.take_arrivals();
            self.delivered.extend(arrived.into_iter().map(|(user, _)| (ms(self.now), user)));
            self.record();
        }
        self.now = until;
    }

    fn arrive(&mut self, at: Time, user: usize, size: u32) {
        self.run(at);
        let packet = Packet { flow_hash: user as u32, ..Packet::new(0, size) };
        assert!(self.bearer.accept(&mut self.around.at(at), user, packet));
        self.record();
    }

    /// Of 480 bytes.
    fn packets(&mut self, at_ms: u64, user: usize, count: usize) -> &mut Self {
        for _ in 0..count {
            self.arrive(Time::ZERO + Duration::from_millis(at_ms), user, 480);
        }
        self
    }

    /// 100 s deliver all packets unless signalling fills the FACH.
    fn finish(&mut self) -> &mut Self {
        self.run(self.now + Duration::from_secs(100));
        self
    }

    /// In ms.
    fn deliveries(&self, user: usize) -> Vec<f64> {
        self.delivered.iter().filter(|(_, whose)| *whose == user).map(|(at, _)| *at).collect()
    }
}

/// In ms, both included.
fn every_10_ms(from: u32, to: u32) -> Vec<f64> {
    (from..=to).step_by(10).map(f64::from).collect()
}

#[test]
fn users_on_the_fach_take_turns_packet_by_packet() {
    let mut cell = Driver::new(json!({ "policy": "always_fach" }), 3);
    cell.packets(0, 0, 3).packets(0, 2, 2).packets(200, 1, 1).finish();
    assert_eq!(cell.delivered, [(120.0, 0), (240.0, 2), (360.0, 0), (480.0, 1), (600.0, 2), (720.0, 0)]);
    assert_eq!(cell.changes, []);
}

#[test]
fn signalling_precedes_packets_but_does_not_interrupt_them() {
    // A signalling packet of 1 kB every 500 ms takes 250 ms on the FACH.
    let params = json!({ "signalling_rate": "16 kbps", "policy": "always_fach" });
    let mut cell = Driver::new(params, 1);
    cell.packets(100, 0, 1).packets(450, 0, 1).packets(600, 0, 1).packets(1500, 0, 1).finish();
    // Signalling is sent from 0 to 250 ms, from 570 ms (it arrived at 500 ms) to 820 ms, and from
    // 1000 and 1500 ms for 250 ms each.
    assert_eq!(cell.deliveries(0), [370.0, 570.0, 940.0, 1870.0]);
}

#[test]
fn signalling_that_fills_the_fach_leaves_only_dedicated_channels() {
    let params = json!({ "signalling_rate": "32 kbps", "policy": { "threshold": { "high": 2 } } });
    let mut cell = Driver::new(params, 1);
    cell.packets(1, 0, 2).finish();
    assert_eq!(cell.delivered, []);
    cell.packets(200_000, 0, 1).finish();
    assert_eq!(cell.deliveries(0), [200_260.0, 200_270.0, 200_280.0]);
}

#[test]
fn times_in_states_add_up_to_the_run() {
    let mut cell = Driver::new(json!({ "policy": { "threshold": { "high": 0 } } }), 2);
    cell.packets(100, 0, 1);
    cell.run(Time::ZERO + Duration::from_millis(1_000));
    let rows = cell.bearer.channels(cell.now);
    let times = |user: usize| {
        [State::Fach, State::SettingUp, State::Dch, State::Releasing]
            .map(|state| rows[user].usage.time(state).0 / 1_000_000)
    };
    // For user 0 a channel is set up from 100 to 350 ms. The user's packet is sent until 360 ms,
    // and the channel is released until 610 ms.
    assert_eq!((times(0), times(1)), ([490, 250, 10, 250], [1000, 0, 0, 0]));
    assert_eq!((rows[0].usage.set_ups, rows[0].usage.releases, rows[1].usage.set_ups), (1, 1, 0));
    // The expected energy is 490 ms x 350 mW + 250 ms x 550 mW + 260 ms x 700 mW = 0.491 J.
    assert!((rows[0].energy_j - 0.491).abs() < 1e-12);
}
