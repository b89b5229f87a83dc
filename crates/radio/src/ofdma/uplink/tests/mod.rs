mod configured;
mod connections;
mod drx;
mod headroom;
mod shares;

use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::ue::Ue;
use nodeb_air::{Hop, UserRadio};
use nodeb_base::context::{BlockCounts, Common, Context, Counts, Output};
use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Event, Mask, Place, Sink, Site, UplinkPassage};
use nodeb_base::packet::{Packet, PacketId};
use nodeb_base::rng::Streams;
use nodeb_base::table::Values;
use nodeb_base::units::Time;
use serde_json::{Value, json};

use crate::Radio;
use crate::lte::Lte;

const MS: u64 = 1_000_000;

/// Time, user, number, and whether it was delivered.
type Out = (Time, usize, u64, bool);

struct Bench {
    uplink: Box<dyn Hop>,
    common: Common,
    counts: Counts,
    of_users: Vec<BlockCounts>,
    out: Vec<Out>,
    events: Vec<(Time, Event)>,
    /// Phones that listen early, of which the downlink is not informed yet.
    listening: Vec<usize>,
}

impl Bench {
    fn new(uplink: &Value, others: &Value, channels: &[Value]) -> Self {
        Self::of_category(5, uplink, others, channels)
    }

    fn of_category(category: u8, uplink: &Value, others: &Value, channels: &[Value]) -> Self {
        let mut radio = json!({ "uplink": { "scheduled": uplink } });
        radio.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
        let params: Lte = serde_json::from_value(radio).unwrap();
        let channel = |value: &Value| serde_json::from_value::<ChannelSpec>(value.clone()).unwrap();
        let user = |(id, value): (u64, &Value)| UserRadio {
            id,
            ue: Ue { channel: channel(value), category },
            ..UserRadio::default()
        };
        let users: Vec<UserRadio> = (0..).zip(channels).map(user).collect();
        Self {
            uplink: params.build(&users, &Streams::new(1, 0)).up.unwrap(),
            common: Common::new(Time(u64::MAX), Sink::new(Mask::SERVICE.or(Mask::LEFT).or(Mask::PDCP))),
            counts: Counts::default(),
            of_users: vec![BlockCounts::default(); users.len()],
            out: Vec::new(),
            events: Vec::new(),
            listening: Vec::new(),
        }
    }

    fn call<R>(&mut self, now: Time, act: impl FnOnce(&mut dyn Hop, &mut Context) -> R) -> R {
        let Self { uplink, common, counts, of_users, .. } = self;
        common.advance(Instant::new(now, Phase::Arrival));
        let place = Place::new(Site::Uplink, 0);
        let result = act(uplink.as_mut(), &mut Context { common, place, counts, of_users });
        self.events.extend_from_slice(self.common.sink.kept());
        self.common.sink.clear();
        for output in self.common.out.drain(..) {
            match output {
                Output::Arrived { user, packet } => self.out.push((now, user, packet.id.0, true)),
                Output::Lost { user, packet, .. } => self.out.push((now, user, packet.id.0, false)),
                Output::Listens { user } => self.listening.push(user),
                Output::CellChanged { .. } => {}
            }
        }
        result
    }

    fn accept(&mut self, at: Time, user: usize, packet: Packet) -> bool {
        self.run_until(at);
        self.call(at, |uplink, ctx| uplink.accept(ctx, user, packet))
    }

    fn run_until(&mut self, end: Time) {
        while let Some(instant) = self.uplink.next_wake().filter(|instant| instant.time() < end) {
            self.call(instant.time(), |uplink, ctx| uplink.wake(ctx, instant));
        }
    }

    fn column(&mut self, name: &str) -> Vec<f64> {
        self.column_of(0, name)
    }

    fn configured(&mut self, name: &str) -> Vec<f64> {
        self.column_of(1, name)
    }

    /// Without configured grants.
    fn headroom(&mut self, name: &str) -> Vec<f64> {
        self.column_of(1, name)
    }

    fn column_of(&mut self, table: usize, name: &str) -> Vec<f64> {
        let tables = self.uplink.tables(Time(0));
        match tables[table].column(name).unwrap() {
            Values::U64(values) => values.iter().map(|value| *value as f64).collect(),
            Values::F64(values) => values.clone(),
            _ => panic!("{name} has no numbers"),
        }
    }

    fn delivered(&self, user: usize) -> Vec<u64> {
        self.out.iter().filter(|out| out.1 == user && out.3).map(|out| out.2).collect()
    }
}

fn at_snr(snr_db: f64) -> Value {
    json!({ "constant": { "snr_db": snr_db } })
}

fn fading(mean_snr_db: f64) -> Value {
    json!({ "fading": { "mean_snr_db": mean_snr_db, "speed": "60 km/h", "profile": "extended_vehicular_a" } })
}

// Tests the feature: scheduling requests (closed form)
/// The request, three for the base station, the grant, three for the phone, and the block.
#[test]
fn latency_of_a_small_packet_is_the_wait_for_a_request_and_nine_ttis() {
    for period in [1, 2, 5, 10, 20, 40, 80] {
        let uplink = json!({ "request_period": format!("{period} ms") });
        let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[at_snr(20.0)]);
        for number in 0..20 {
            // Times within a TTI do not matter, as the wait ends at its boundary.
            let at = number * 211 * MS + 300_000;
            bench.accept(Time(at), 0, Packet::new(number, 52));
            bench.run_until(Time(at + 200 * MS));
            let request = (at / MS + 1).next_multiple_of(period);
            assert_eq!(bench.out.pop(), Some((Time((request + 9) * MS), 0, number, true)), "{period} ms");
        }
        assert!(bench.uplink.next_wake().is_none(), "an idle uplink sleeps");
        assert_eq!(bench.column("requests"), [20.0 * f64::from(8u32.div_ceil(period as u32).max(1))]);
    }
}

#[test]
fn events_give_the_times_of_request_and_block() {
    let mut bench = Bench::new(&json!({}), &json!({ "rlc": "um" }), &[at_snr(20.0)]);
    bench.accept(Time(3 * MS + 1), 0, Packet::new(0, 52));
    bench.run_until(Time(50 * MS));
    let granted = bench.events.iter().find_map(|(at, event)| match event {
        Event::Granted { phone, passage: UplinkPassage { requested, from, .. }, .. } => {
            Some((*at, *phone, *requested, *from))
        }
        _ => None,
    });
    let [requested, from, sent] = [10, 18, 19].map(|ms| Time(ms * MS));
    assert_eq!(granted, Some((sent, 0, requested, from)));
    let numbered = bench.events.iter().find(|(_, event)| matches!(event, Event::Numbered { .. }));
    let (place, packet) = (Place::new(Site::Uplink, 0), PacketId(0));
    assert_eq!(numbered, Some(&(from, Event::Numbered { place, user: 0, bearer: 0, packet, number: 0 })));
}

// Tests the feature: grants ahead of data (worked example)
#[test]
fn grants_ahead_shorten_the_wait() {
    let uplink = json!({ "grants": { "ahead": { "interval": "5 ms" } } });
    let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[at_snr(20.0)]);
    // Grants begin with the first packet.
    for (number, at) in [(0, Time(1)), (1, Time(100 * MS + 300_000))] {
        bench.accept(at, 0, Packet::new(number, 52));
        bench.run_until(Time(at.0 + 50 * MS));
    }
    // Grants of TTIs 95, 100, ... are for blocks in 99, 104, ...
    assert_eq!(bench.out[1], (Time(105 * MS), 0, 1, true));
}

// Tests the feature: grants (standard's table)
/// A long queue fills at least 165 of 200 TTIs.
#[test]
fn a_long_queue_is_sent_at_the_rate_of_the_table() {
    let others = json!({ "rlc": "um" });
    let uplink = json!({ "control_blocks": 0, "queue": { "drop_tail": { "limit": 10_000 } } });
    let mut bench = Bench::new(&uplink, &others, &[at_snr(60.0)]);
    for number in 0..2_000 {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(200 * MS));
    // 100 resource blocks with I_TBS 26 have 75,376 bits (TS 36.213, table 7.1.7.2.1-1).
    let octets = bench.column("granted_bytes")[0] - 96.0;
    let full = octets / (75_376.0 / 8.0);
    assert!(full > 165.0, "{full} full blocks");
    assert_eq!(bench.column("requests"), [1.0]);
    bench.run_until(Time(1_000 * MS));
    assert_eq!(bench.delivered(0), (0..2_000).collect::<Vec<_>>());
    let padding = bench.column("padding_bytes")[0] / bench.column("granted_bytes")[0];
    assert!(padding < 0.1, "{padding}");
}

/// Category 4: 51,024 bits, I_TBS 21 on 100 resource blocks (TS 36.213, 8.6.1, table 7.1.7.2.1-1; TS 36.306,
/// table 4.1-2).
#[test]
fn categories_without_64qam_send_their_largest_block_by_16qam() {
    let uplink = json!({ "control_blocks": 0, "queue": { "drop_tail": { "limit": 10_000 } } });
    let mut bench = Bench::of_category(4, &uplink, &json!({ "rlc": "um" }), &[at_snr(60.0)]);
    for number in 0..1_000 {
        bench.accept(Time(0), 0, Packet::new(number, 1_500));
    }
    bench.run_until(Time(200 * MS));
    let full = (bench.column("granted_bytes")[0] - 96.0) / (51_024.0 / 8.0);
    assert!(full > 165.0 && full < 195.0, "{full} full blocks");
}

// Tests the feature: scheduling requests (property)
// Tests the feature: grants (property)
/// In acknowledged mode.
#[test]
fn octets_leave_in_the_end_whatever_is_lost() {
    let uplink = json!({ "request_error": 0.5, "max_transmissions": 1, "users_per_tti": 1,
                         "queue": { "drop_tail": { "limit": 10_000 } } });
    let others = json!({ "bandwidth": "3 MHz", "rlc": { "am": { "max_retransmissions": null } } });
    let mut bench = Bench::new(&uplink, &others, &[fading(6.0), fading(3.0), fading(9.0)]);
    for number in 0..1_500 {
        bench.accept(Time(number * 7 * MS), number as usize % 3, Packet::new(number, 400));
    }
    bench.run_until(Time(100_000 * MS));
    assert!(bench.column("given_up").iter().sum::<f64>() > 100.0);
    for user in 0..3 {
        let expected: Vec<u64> = (0..1_500).filter(|number| *number as usize % 3 == user).collect();
        assert_eq!(bench.delivered(user), expected);
        assert_eq!(bench.uplink.backlog(user).packets, 0);
    }
    assert!(bench.uplink.next_wake().is_none());
}

// Tests the feature: HARQ timing of the uplink (standard's table)
#[test]
fn retransmissions_follow_eight_ttis_later() {
    let others = json!({ "bandwidth": "3 MHz", "rlc": "um" });
    let uplink = json!({ "queue": { "drop_tail": { "limit": 10_000 } } });
    let mut bench = Bench::new(&uplink, &others, &[fading(8.0)]);
    for number in 0..1_000 {
        bench.accept(Time(0), 0, Packet::new(number, 400));
    }
    bench.run_until(Time(20_000 * MS));
    let took = bench.events.iter().filter_map(|(sent, event)| match event {
        Event::Granted { passage, .. } => Some((sent.0 - passage.from.0) / MS),
        _ => None,
    });
    let took: Vec<u64> = took.collect();
    assert!(took.iter().all(|ms| ms % 8 == 1), "{took:?}");
    assert!(took.iter().filter(|ms| **ms > 1).count() > 50, "{took:?}");
}

/// With `max_ci`, the better channel gets almost the whole band, and more than both with `round_robin`.
#[test]
fn phones_share_the_band() {
    let rates = |scheduler: &str| {
        let uplink = json!({ "scheduler": scheduler, "queue": { "drop_tail": { "limit": 20_000 } } });
        let mut bench =
            Bench::new(&uplink, &json!({ "rlc": "um", "bandwidth": "5 MHz" }), &[at_snr(20.0), at_snr(5.0)]);
        for number in 0..20_000 {
            bench.accept(Time(0), number as usize % 2, Packet::new(number, 1_500));
        }
        bench.run_until(Time(2_000 * MS));
        bench.column("bytes_delivered").iter().map(|bytes| bytes * 8e-6 / 2.0).collect::<Vec<_>>()
    };
    let [turns, fair, max] = ["round_robin", "proportional_fair", "max_ci"].map(rates);
    assert!(turns[0] > 2.0 * turns[1] && turns[1] > 1.0, "{turns:?}");
    assert!(fair[0] > 2.0 * fair[1] && fair[1] > 1.0, "{fair:?}");
    // A phone can use 20 of 23 resource blocks: three are left for the other phone.
    assert!(max[1] < 0.3 * turns[1] && max[0] > turns[0] + turns[1], "{max:?}, {turns:?}");
}

/// Less than a tenth of the bytes of a phone close to the base station.
#[test]
fn power_limits_phones_at_the_edge() {
    let at = |metres: u32| json!({ "cell": { "distance": format!("{metres} m"), "speed": "3 km/h" } });
    let others = json!({ "rlc": "um", "cell": { "radius": "2 km", "shadowing": { "sigma_db": 0.0 } } });
    let uplink = json!({ "queue": { "drop_tail": { "limit": 10_000 } } });
    let mut bench = Bench::new(&uplink, &others, &[at(100), at(1_900)]);
    for number in 0..6_000 {
        bench.accept(Time(0), number as usize % 2, Packet::new(number, 1_500));
    }
    bench.run_until(Time(500 * MS));
    let delivered = bench.column("bytes_delivered");
    assert!(delivered[0] > 10.0 * delivered[1] && delivered[1] > 0.0, "{delivered:?}");
}

// Tests the feature: grants ahead of data (property)
/// Grants ahead in every TTI.
#[test]
fn padding_takes_no_block_from_data() {
    for scheduler in SchedulerSpec::NAMES {
        let uplink = json!({ "scheduler": scheduler, "grants": { "ahead": { "interval": "1 ms" } } });
        let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &vec![at_snr(20.0); 12]);
        for number in 0..240 {
            bench.accept(Time(number * 10 * MS), number as usize % 12, Packet::new(number, 400));
        }
        bench.run_until(Time(3_000 * MS));
        for user in 0..12 {
            assert_eq!(bench.delivered(user).len(), 20, "{scheduler}, user {user}");
        }
    }
}

#[test]
fn bad_channels_get_blocks_with_room_for_data() {
    for (bandwidth, snr_db) in [("1.4 MHz", -5.0), ("3 MHz", -7.0), ("10 MHz", -7.0), ("20 MHz", -7.0)] {
        let others = json!({ "rlc": { "am": { "max_retransmissions": null } }, "bandwidth": bandwidth });
        let mut bench = Bench::new(&json!({ "max_transmissions": 1 }), &others, &[at_snr(snr_db)]);
        for number in 0..30 {
            bench.accept(Time(number * 100 * MS), 0, Packet::new(number, 52));
        }
        bench.run_until(Time(60_000 * MS));
        assert_eq!(bench.delivered(0).len(), 30, "{bandwidth}");
    }
}

// Tests the feature: buffer status reports (property)
/// What a block carries is in no report; grants end at most 8 TTIs after the data, the time of report,
/// grant and block.
#[test]
fn grants_carry_the_data_and_end_with_them() {
    for rlc in ["um", "am"] {
        for (bytes, snr_db) in [(60, 20.0), (400, 10.0), (1_500, 20.0), (1_500, 0.0)] {
            let count = 100_000 / bytes;
            let uplink = json!({ "queue": { "drop_tail": { "limit": 10_000 } } });
            let mut bench = Bench::new(&uplink, &json!({ "rlc": rlc }), &[at_snr(snr_db)]);
            for number in 0..count {
                bench.accept(Time(0), 0, Packet::new(number, bytes as u32));
            }
            let (mut ms, mut last, mut blocks) = (0, [0.0; 2], Vec::new());
            while bench.out.len() < count as usize {
                ms += 1;
                bench.run_until(Time(ms * MS + 1));
                let sums = ["granted_bytes", "padding_bytes"].map(|name| bench.column(name)[0]);
                if sums[0] > last[0] {
                    blocks.push([sums[0] - last[0], sums[1] - last[1]]);
                }
                last = sums;
            }
            let (whole, last) = blocks[1..].split_at(blocks.len() - 3);
            assert!(whole.len() >= 10, "{rlc}, {bytes}: {blocks:?}");
            assert!(
                whole.iter().all(|[size, padding]| 50.0 * padding <= *size),
                "{rlc}, {bytes}: {blocks:?}"
            );
            // A level of the reports counts up to a sixth more than waits, of the data of about 9 TTIs.
            let padding: f64 = last.iter().map(|[_, padding]| padding).sum();
            assert!(padding <= 9.0 / 6.0 * whole[0][0], "{rlc}, {bytes}: {blocks:?}");
            bench.run_until(Time((ms + 8) * MS));
            let grants = bench.column("grants");
            bench.run_until(Time((ms + 2_000) * MS));
            assert_eq!(bench.column("grants"), grants);
        }
    }
}

// Tests the feature: grants (closed form)
/// 10 phones that request every 20 ms take half a group of 23 on average.
#[test]
fn requests_for_small_packets_take_a_bounded_share() {
    for scheduler in SchedulerSpec::NAMES {
        let granted = |others: u64| {
            let uplink = json!({ "scheduler": scheduler, "queue": { "drop_tail": { "limit": 100_000 } } });
            let channels = vec![at_snr(20.0); 1 + others as usize];
            let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &channels);
            for number in 0..10_000 {
                bench.accept(Time(0), 0, Packet::new(number, 1_500));
            }
            for number in 0..others * 50 {
                bench.accept(
                    Time(number * 20 * MS / others),
                    1 + (number % others) as usize,
                    Packet::new(number, 52),
                );
            }
            bench.run_until(Time(1_000 * MS));
            bench.column("granted_bytes")[0]
        };
        let share = granted(10) / granted(0);
        assert!(share > 1.0 - 0.5 / 23.0, "{scheduler}: {share}");
    }
}

/// The SNR varies over 80 TTIs, so that blocks fail.
#[test]
fn no_block_follows_the_end_of_a_recording() {
    let snrs: Vec<f64> = (0..80).map(|tti| if tti % 7 == 0 { -3.0 } else { 12.0 }).collect();
    let recorded = json!({ "trace": { "snrs_db": snrs, "at_end": "stop" } });
    let counts = |bench: &mut Bench| {
        ["transmissions", "granted_bytes", "requests", "given_up"].map(|name| bench.column(name)[0] as u64)
    };
    for grants in
        [json!("on_request"), json!({ "ahead": {} }), json!({ "configured": { "interval": "10 ms" } })]
    {
        let uplink = json!({ "grants": grants, "queue": { "drop_tail": { "limit": 10_000 } } });
        let mut bench = Bench::new(&uplink, &json!({ "rlc": "um" }), &[recorded.clone(), at_snr(10.0)]);
        for number in 0..2_000 {
            bench.accept(Time(0), (number % 2) as usize, Packet::new(number, 1_500));
        }
        bench.run_until(Time(80 * MS + 1));
        assert!(bench.column("first_failures")[0] > 2.0, "{grants}");
        let at_end = counts(&mut bench);
        bench.run_until(Time(2_000 * MS));
        bench.accept(Time(2_000 * MS), 0, Packet::new(2_000, 100));
        bench.run_until(Time(4_000 * MS));
        let later = counts(&mut bench);
        assert_eq!(later, at_end, "{grants}");
        assert!(bench.column("snr_db")[0] > -3.0, "{grants}");
        assert_eq!(bench.delivered(1).len(), 1_000, "{grants}");
    }
    let mut alone = Bench::new(&json!({}), &json!({ "rlc": "um" }), &[recorded]);
    alone.accept(Time(0), 0, Packet::new(0, 100_000));
    alone.run_until(Time(1_000 * MS));
    assert!(alone.uplink.next_wake().is_none(), "nothing is due without a channel");
}
