use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Purpose};
use nodeb_base::packet::{EcnField, PacketId};
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use nodeb_radio::RadioSpec;
use nodeb_sim::world::{Direction, ExternalPacket, Fate, Listener, Live, run_with_listener};
use nodeb_sim::{Control, Scenario, scenario};
use nodeb_tcp::segment::Segment;

#[derive(Default)]
struct Trace {
    sent: Vec<(Time, Direction, PacketId, u32)>,
    arrived: HashMap<PacketId, Time>,
}

impl Listener for Trace {
    fn mask(&self) -> Mask {
        Mask::PACKETS
    }

    fn on_event(&mut self, at: Time, event: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        match *event {
            Event::Sent { packet, purpose, size, .. } => {
                let direction = if purpose == Purpose::Data { Direction::Down } else { Direction::Up };
                self.sent.push((at, direction, packet, size));
            }
            Event::Received { packet, .. } => {
                self.arrived.insert(packet, at);
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

fn read(radio: &str, rest: &str, traffic: &str) -> Scenario {
    // The delays of the links are not multiples of a TTI, so that no event coincides with the start
    // of a TTI.
    let recorded = "{ trace = { down = { times_ms = [3, 20, 21, 21] }, up = { times_ms = [1, 9] } } }";
    let radio = if radio == "trace" { recorded.to_owned() } else { format!("'{radio}'") };
    let text = format!(
        "duration = '60 s'\nradio = {radio}\n{rest}\n[wired]\ndelay = '30.0137 ms'\nloss = 0.01\n[uplink]\n\
         delay = '20.00311 ms'\n[[users]]\ntraffic = {traffic}\n"
    );
    scenario::from_toml(&text, "live.toml", &[]).unwrap()
}

fn external_packet(tag: u64, bytes: u32) -> ExternalPacket {
    ExternalPacket { tag, bytes, flow_hash: 0, ecn: EcnField::NotEct }
}

/// At the times at which the connection sent them, on every radio.
#[test]
fn offered_packets_have_the_fates_of_simulated_ones() {
    for radio in RadioSpec::NAMES {
        let mut trace = Trace::default();
        let simulated = read(radio, "tcp = 'classic'", "{ ftp = { size = '300 kB' } }");
        run_with_listener(&simulated, 5, 2, &Control::default(), &mut trace).unwrap();
        assert!(trace.sent.len() > 300, "{radio}");

        let mut live = Live::new(&read(radio, "tcp = 'classic'", "'external'"), 5, 2).unwrap();
        let mut fates = Vec::new();
        for (tag, &(at, direction, _, size)) in (0..).zip(&trace.sent) {
            live.offer(at, direction, 0, external_packet(tag, size), &mut fates).unwrap();
        }
        let last = trace.arrived.values().max().copied().unwrap();
        live.advance(last, &mut fates);
        let mut arrived = 0;
        for fate in &fates {
            if let Fate::Arrived { at, direction, user: 0, packet } = fate {
                let (_, sent_direction, id, size) = trace.sent[packet.tag as usize];
                assert_eq!(Some(at), trace.arrived.get(&id).as_ref().copied(), "{radio}: {id:?}");
                assert_eq!((*direction, packet.bytes), (sent_direction, size), "{radio}");
                arrived += 1;
            }
        }
        assert_eq!(arrived, trace.arrived.len(), "{radio}");
    }
}

#[test]
fn every_packet_is_returned_once() {
    let hard = [
        ("dch", "[radio.dch]\nbler = 0.3\nmax_transmissions = 2\nbuffer = 20"),
        ("hs_dsch", "[radio.hs_dsch]\nbler = 0.3\nmax_transmissions = 1\nbuffer = 20"),
        ("hsdpa", "[radio.hsdpa]\nmax_transmissions = 1\nbuffer = 20"),
        ("wcdma", "[radio.wcdma]\nmax_failed_slots = 1\nbuffer = 20"),
        ("fach_dch", "[radio.fach_dch]\nbuffer = 20"),
        ("link", "[radio.link]\nloss = 0.1\nqueue = 'codel'"),
        (
            "trace",
            "[radio.trace]\ndown.times_ms = [9, 9, 40]\nup.times_ms = [7]\nloss = 0.1\nqueue = 'codel'",
        ),
    ];
    for (radio, table) in hard {
        let text = format!(
            "duration = '60 s'\n{table}\n[wired]\nloss = 0.02\n[wired.queue.red]\n[uplink.queue.fq_codel]\n\
             [[users]]\nname = 'real'\ntraffic = 'external'\n[[users]]\nname = 'simulated'\n\
             traffic = {{ ftp = {{ size = '200 kB' }} }}\n"
        );
        let mut live = Live::new(&scenario::from_toml(&text, radio, &[]).unwrap(), 1, 0).unwrap();
        let mut stream = Streams::new(7, 0).stream("test", 0, "arrivals");
        let mut random = |below: u64| (nodeb_base::rng::uniform(&mut stream) * below as f64) as u64;
        let (mut fates, mut back, mut at) = (Vec::new(), HashSet::new(), Time::ZERO);
        let offered = 5_000;
        for tag in 0..offered {
            at = Time(at.0 + random(12_000_000));
            let direction = if tag % 3 == 0 { Direction::Up } else { Direction::Down };
            live.offer(at, direction, 0, external_packet(tag, 40 + random(1_460) as u32), &mut fates)
                .unwrap();
            for fate in fates.drain(..) {
                let (Fate::Arrived { packet, .. } | Fate::Lost { packet, .. }) = fate;
                assert!(back.insert(packet.tag), "{radio}: packet {} is returned twice", packet.tag);
            }
        }
        let waiting = offered as usize - back.len();
        assert!(live.waiting() >= waiting, "{radio}");
        live.advance(Time(at.0 + 3_600_000_000_000), &mut fates);
        for fate in fates.drain(..) {
            let (Fate::Arrived { packet, .. } | Fate::Lost { packet, .. }) = fate;
            assert!(back.insert(packet.tag), "{radio}: packet {} is returned twice", packet.tag);
        }
        assert_eq!((back.len() as u64, live.waiting()), (offered, 0), "{radio}");
    }
}

/// Accepted at the current time, after all events that were due.
#[test]
fn time_never_goes_backward() {
    let mut live = Live::new(&read("dch", "", "'external'"), 1, 0).unwrap();
    let mut fates = Vec::new();
    live.advance(Time(5_000_000_000), &mut fates);
    live.offer(Time(1_000_000_000), Direction::Up, 0, external_packet(1, 40), &mut fates).unwrap();
    assert_eq!(live.now(), Time(5_000_000_000));
    live.advance(Time(9_000_000_000), &mut fates);
    let [Fate::Arrived { at, .. }] = fates[..] else { panic!("{fates:?}") };
    assert!(at.0 > 5_000_000_000);
}

#[test]
fn only_external_users_accept_packets_from_outside() {
    let simulated = read("dch", "", "{ ftp = { size = '300 kB' } }");
    let mut live = Live::new(&simulated, 1, 0).unwrap();
    for user in [0, 1] {
        let refused = live
            .offer(Time::ZERO, Direction::Down, user, external_packet(0, 40), &mut Vec::new())
            .unwrap_err();
        assert!(refused.to_string().contains("traffic = \"external\""), "{refused}");
    }
    let external = read("dch", "", "'external'");
    let refused = nodeb_sim::run(&external, 1, 0, &Control::default()).unwrap_err();
    assert!(refused.to_string().contains("users.0.traffic: packets of these users"), "{refused}");
    let real = scenario::from_toml("[[users]]\nname = 'one'\nreal = true\n", "a.toml", &[]).unwrap();
    let mut live = Live::new(&real, 1, 0).unwrap();
    live.offer(Time::ZERO, Direction::Down, 0, external_packet(0, 40), &mut Vec::new()).unwrap();
    let refused = nodeb_sim::run(&real, 1, 0, &Control::default()).unwrap_err();
    assert!(refused.to_string().contains("users.0.real: packets of these users"), "{refused}");
}

#[test]
fn simulated_users_need_traffic() {
    let refused = scenario::from_toml("[[users]]\nname = 'one'\n", "a.toml", &[]).unwrap_err();
    assert!(refused.to_string().starts_with("a.toml:1: users.0.traffic: the key is missing"), "{refused}");
}

#[test]
fn snapshots_change_no_result() {
    let cells = [
        ("dch", "[radio.dch]\nbler = 0.2", ""),
        ("hs_dsch", "[radio.hs_dsch]\nbler = 0.2", ""),
        ("hsdpa", "[radio.hsdpa]", ""),
        ("measured", "record.bandwidth = true\n[radio.hsdpa]", ""),
        (
            "moving",
            "[radio.hsdpa]\nhandover = { hysteresis_db = 0.5, time_to_trigger = '0 s' }",
            "ue.channel.cell = { position_m = [300, 0], heading_deg = 0, movement = 'straight', speed = '120 km/h' }",
        ),
        ("wcdma", "[radio.wcdma]", ""),
        ("fach_dch", "[radio.fach_dch]", ""),
        ("link", "[radio.link]", ""),
    ];
    for (name, radio, ue) in cells {
        let text = format!(
            "duration = '60 s'\n{radio}\n[wired]\nloss = 0.02\n[[users]]\nname = 'real'\ntraffic = 'external'\n{ue}\n\
             [[users]]\nname = 'simulated'\ntraffic = {{ ftp = {{ size = '200 kB' }} }}\n{ue}\n"
        );
        let scenario = scenario::from_toml(&text, name, &[]).unwrap();
        let drive = |takes_snapshots: bool| {
            let mut live = Live::new(&scenario, 3, 0).unwrap();
            let mut stream = Streams::new(7, 0).stream("test", 0, "arrivals");
            let mut random = |below: u64| (nodeb_base::rng::uniform(&mut stream) * below as f64) as u64;
            let (mut fates, mut at, mut cqis) = (Vec::new(), Time::ZERO, 0);
            for tag in 0..3_000 {
                // Packets come in bursts of 500. In the long pauses between bursts idle phones only compare
                // cells, or sleep.
                let pause = if tag % 500 == 499 { 700_000_000_000 } else { 20_000_000 };
                at = Time(at.0 + random(pause));
                let before = Time(at.0 - random(15_000_000).min(at.0));
                if takes_snapshots {
                    live.advance(before, &mut fates);
                    cqis += usize::from(live.snapshot(0).unwrap().cqi.is_some());
                }
                let direction = if tag % 3 == 0 { Direction::Up } else { Direction::Down };
                live.offer(at, direction, 0, external_packet(tag, 40 + random(1_460) as u32), &mut fates)
                    .unwrap();
            }
            live.advance(Time(at.0 + 60_000_000_000), &mut fates);
            let carried = live.carried();
            (fates, format!("{carried:?} {:?}", live.finish(&scenario).tables(0, &scenario)), cqis)
        };
        let (without, with) = (drive(false), drive(true));
        assert!(without.0 == with.0, "{name}: the fates of packets differ");
        assert!(without.1 == with.1, "{name}: the tables differ");
        let has_cqi = ["hsdpa", "measured", "moving"].contains(&name);
        assert_eq!(with.2, if has_cqi { 3_000 } else { 0 }, "{name}");
    }
}

/// Links of 8 kbit/s send one byte per millisecond; packets from outside do not count as carried.
#[test]
fn snapshot_reports_the_backlogs() {
    let text = "duration = '60 s'\n[wired]\nrate = '1 Gbps'\ndelay = '0 s'\n[uplink]\nrate = '8 kbps'\n\
                delay = '0 s'\n[radio.link]\nrate = '8 kbps'\n[[users]]\ntraffic = 'external'\n";
    let scenario = scenario::from_toml(text, "link", &[]).unwrap();
    let mut live = Live::new(&scenario, 1, 0).unwrap();
    let mut fates = Vec::new();
    for tag in 0..10 {
        live.offer(Time::ZERO, Direction::Down, 0, external_packet(tag, 1_000), &mut fates).unwrap();
        live.offer(Time::ZERO, Direction::Up, 0, external_packet(100 + tag, 100), &mut fates).unwrap();
    }
    // At 3.5 s three packets have arrived, the fourth is being sent, and six wait; on the uplink all ten have
    // arrived.
    live.advance(Time(3_500_000_000), &mut fates);
    let snapshot = live.snapshot(0).unwrap();
    assert_eq!((snapshot.down.packets, snapshot.down.bytes), (6, 6_000));
    assert_eq!((snapshot.up.packets, snapshot.up.bytes, snapshot.cqi), (0, 0, None));
    assert_eq!(live.carried(), nodeb_sim::world::Carried::default());
    assert!(live.snapshot(1).is_err());
}
