//! TS 36.321, 5.7.

use nodeb_base::context::TestBench;

use super::*;

struct Cell {
    down: Box<dyn Hop>,
    world: TestBench,
    up: Bench,
    /// Time, user and number.
    delivered: Vec<(u64, usize, u64)>,
}

impl Cell {
    fn new(drx: &Value, uplink: &Value, phones: usize) -> Self {
        let others = json!({ "drx": drx, "rlc": "um", "bandwidth": "5 MHz" });
        let channels = vec![at_snr(20.0); phones];
        let mut up = Bench::new(uplink, &others, &channels);
        let mut radio = others;
        radio["uplink"] = json!({ "scheduled": uplink });
        let params: Lte = serde_json::from_value(radio).unwrap();
        let channel: ChannelSpec = serde_json::from_value(at_snr(20.0)).unwrap();
        let user = |id| UserRadio {
            id,
            ue: Ue { channel: channel.clone(), ..Ue::default() },
            ..UserRadio::default()
        };
        let users: Vec<UserRadio> = (0..phones as u64).map(user).collect();
        let mut bearers = params.build(&users, &Streams::new(1, 0));
        up.uplink = bearers.up.unwrap();
        let down = bearers.down.remove(0);
        let world = TestBench::with_mask(Mask::CHANNELS, Time(u64::MAX));
        Self { down, world, up, delivered: Vec::new() }
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let [down, up] = [&self.down, &self.up.uplink]
                .map(|bearer| bearer.next_wake().filter(|instant| instant.time() < end));
            match (down, up) {
                (None, None) => return,
                (Some(instant), other) if other.is_none_or(|other| instant <= other) => {
                    self.down.wake(&mut self.world.at(instant.time()), instant);
                }
                (_, Some(instant)) => {
                    self.up.call(instant.time(), |uplink, ctx| uplink.wake(ctx, instant));
                    self.inform(instant.time());
                }
                (Some(_), None) => unreachable!("the first case"),
            }
            let now = down.into_iter().chain(up).map(nodeb_base::engine::Instant::time).min().unwrap();
            let arrived = self.world.take_arrivals().into_iter();
            self.delivered.extend(arrived.map(|(user, packet)| (now.0 / MS, user, packet.id.0)));
        }
    }

    fn inform(&mut self, now: Time) {
        for user in std::mem::take(&mut self.up.listening) {
            self.down.on_listening(&mut self.world.at(now), user);
        }
    }

    fn send(&mut self, at: Time, user: usize, packet: Packet) {
        self.run_until(at);
        self.down.on_uplink(&mut self.world.at(at), user);
        assert!(self.up.call(at, |uplink, ctx| uplink.accept(ctx, user, packet)));
        self.inform(at);
    }

    fn receive(&mut self, at: Time, user: usize, packet: Packet) {
        self.run_until(at);
        assert!(self.down.accept(&mut self.world.at(at), user, packet));
    }

    fn awake_by(&mut self, ms: u64) -> u64 {
        self.run_until(Time(ms * MS));
        let tables = self.down.tables(Time(ms * MS));
        let drx = tables.iter().find(|table| table.name == "drx").unwrap();
        let Some(Values::F64(awake)) = drx.column("awake_s") else { panic!("no times") };
        (awake[0] * 1e3).round() as u64
    }
}

fn count(range: std::ops::Range<u64>, listens: impl Fn(u64) -> bool) -> u64 {
    range.filter(|tti| listens(*tti)).count() as u64
}

// Tests the feature: discontinuous reception (worked example)
/// A packet every 20 ms needs no PDCCH: the phone listens in on-durations, and 4 TTIs after each block,
/// when a retransmission could be granted.
#[test]
fn a_phone_with_a_configured_grant_sleeps_between_its_blocks() {
    let drx = json!({ "on_duration": "4 ms", "inactivity": "10 ms", "long_cycle": "40 ms" });
    let mut cell = Cell::new(&drx, &json!({ "grants": { "configured": { "interval": "20 ms" } } }), 1);
    let mut awake = Vec::new();
    for number in 0..200 {
        cell.send(Time(number * 20 * MS + MS / 2), 0, Packet::new(number, 60));
        awake.push(cell.awake_by(number * 20 + 1));
    }
    cell.run_until(Time(4_000 * MS));
    assert_eq!(cell.up.delivered(0), (0..200).collect::<Vec<_>>());
    assert_eq!(cell.up.column("requests"), [1.0]);
    // The request is sent in TTI 10, and the first block in TTI 18.
    let listens = |tti: u64| tti % 40 < 4 || tti % 20 == (18 + 4) % 20;
    assert_eq!(awake[190] - awake[20], count(401..3_801, listens));
}

// Tests the feature: discontinuous reception (worked example)
/// Due every 5 ms, they fall in TTIs 0 and 5 of the on-duration of 8; the inactivity timer of 2 TTIs
/// ends before it, and the phone listens 4 TTIs after each of its blocks: in TTIs 8 and 13.
#[test]
fn grants_ahead_reach_a_phone_that_listens() {
    let drx = json!({ "on_duration": "8 ms", "inactivity": "2 ms", "long_cycle": "40 ms" });
    let mut cell = Cell::new(&drx, &json!({ "grants": { "ahead": { "interval": "5 ms" } } }), 1);
    cell.send(Time(MS / 2), 0, Packet::new(0, 60));
    let from = (cell.awake_by(400), cell.up.column("grants")[0] as u64);
    let until = (cell.awake_by(2_400), cell.up.column("grants")[0] as u64);
    assert_eq!(until.0 - from.0, count(400..2_400, |tti| tti % 40 < 9 || tti % 40 == 13));
    assert_eq!(until.1 - from.1, 2 * 2_000 / 40);
}

/// Each grant restarts the timer before the next one.
#[test]
fn grants_ahead_keep_a_phone_awake() {
    let drx = json!({ "on_duration": "8 ms", "inactivity": "10 ms", "long_cycle": "40 ms" });
    let mut cell = Cell::new(&drx, &json!({ "grants": { "ahead": { "interval": "5 ms" } } }), 1);
    cell.send(Time(MS / 2), 0, Packet::new(0, 60));
    assert_eq!(cell.awake_by(1_000) - cell.awake_by(100), 900);
}

// Tests the feature: discontinuous reception (worked example)
/// Request in 100, grant in 104, block in 108; a packet to it since 90 is sent in 100, not in the on-duration
/// from 320.
#[test]
fn a_request_wakes_the_phone() {
    let drx = json!({ "on_duration": "10 ms", "inactivity": "10 ms", "long_cycle": "320 ms" });
    let mut cell = Cell::new(&drx, &json!({ "request_period": "20 ms" }), 1);
    assert_eq!(cell.awake_by(80), 10);
    cell.receive(Time(89 * MS + MS / 2), 0, Packet::new(7, 60));
    cell.send(Time(91 * MS + MS / 2), 0, Packet::new(0, 60));
    cell.run_until(Time(300 * MS));
    assert_eq!(cell.delivered.iter().map(|(_, _, id)| *id).collect::<Vec<_>>(), [7]);
    let at = cell.delivered[0].0;
    assert!((100..=102).contains(&at), "TTI {at}");
    assert_eq!(cell.up.out.iter().map(|out| out.0.0 / MS).collect::<Vec<_>>(), [109]);
    // The block of TTI 108 can be repeated in TTI 112, in which the phone listens anyway: until 10 TTIs
    // after the grant.
    assert_eq!(cell.awake_by(320), 10 + (104 + 1 + 10 - 100));
}
