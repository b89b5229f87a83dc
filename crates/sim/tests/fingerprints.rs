//! Hashes of all results of short scenarios, stored in `fingerprints.tsv`. Each takes one option of each
//! dimension, selected by a hash, so that an option added at the end changes only the scenarios that take it.
//! After an intended change run `FINGERPRINTS=write cargo test -p nodeb-sim fingerprints`, and explain the
//! difference in the commit.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use nodeb_base::event::{Event, Mask};
use nodeb_base::table::{Table, Values};
use nodeb_base::units::Time;
use nodeb_radio::Meter;
use nodeb_sim::scenario::Record;
use nodeb_sim::world::{Listener, run_with_listener};
use nodeb_sim::{Control, Scenario, run};
use nodeb_tcp::segment::Segment;
use serde_json::Value;

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fingerprints.tsv");

/// After the name: the scenario's own keys, its tables in a run without listeners, all tables of a run that
/// records every series, and the events of that run.
const COLUMNS: [&str; 4] = ["keys", "results", "series", "events"];

/// Lines of a scenario file; `UE` stands for the keys of a group's phones.
type Dimension = &'static [&'static str];

const TRANSPORT: Dimension = &[
    "wired.delay = '20 ms'",
    "wired.delay = '5 ms'\ntcp = 'linux'",
    "wired = { delay = '30 ms', loss = 0.01, queue.drop_tail.limit = 30 }\ntcp.linux.control = 'bbr3'",
    "wired.delay = '10 ms'\ncore.delay = '10 ms'\nproxy = 'split'",
    "wired = { delay = '10 ms', ack_loss = 0.02 }\nsnoop = {}",
    "wired.delay = '40 ms'\ntcp.classic = { era = '2003-02-25', packet_size = '576 B' }",
];

const USERS: Dimension = &[
    "users = [{ UE traffic.ftp.size = '400 kB' }]",
    "users = [{ UE count = 3, stagger = '70 ms', traffic.ftp.size = '150 kB' }]",
    "users = [{ UE count = 9, traffic.ftp.size = '1 MB' }]",
    "users = [{ UE name = 'a', count = 2, traffic.web = {} }, { UE2 name = 'b', count = 4, start = '100 ms', \
     traffic.on_off = { burst.constant.value = '6 kB', pause.exponential.mean = '200 ms' } }]",
    "users = [{ UE name = 'a', count = 5, traffic.cbr = { size = '500 B', interval = '40 ms' } }, \
     { UE2 name = 'b', traffic.ftp.size = '1 MB' }]",
    "users = [{ UE name = 'a', count = 2, upload.ftp.size = '150 kB' }, { UE2 name = 'b', count = 2, \
     traffic.ftp.size = '1 MB', upload.cbr = { size = '300 B', interval = '50 ms' } }]",
];

const CHANNEL: Dimension = &[
    "channel.constant.snr_db = 6.0",
    "channel.constant.snr_db = -1.0",
    "channel.fading = { mean_snr_db = 5.0, profile = 'vehicular_a', speed = '30 km/h' }",
    "channel.fading = { mean_snr_db = 12.0, profile = 'pedestrian_b' }",
    "channel.cell = {}",
    "channel.cell = { distance = '150 m', profile = 'extended_pedestrian_a', speed = '10 km/h' }",
    "channel.cell = { position_m = [230, 30], movement = 'straight', heading_deg = 0.0, speed = '300 km/h' }",
    "channel.cell = { distance = '250 m', movement = 'circle', speed = '50 km/h' }",
    "channel.trace = { at_end = 'loop', snrs_db = [4.5, 7.0, 1.5, 9.0, 3.0, 6.5, 8.0] }",
];

/// With recordings that only `hsdpa` uses.
const HSDPA_CHANNEL: Dimension = &[
    CHANNEL[0],
    CHANNEL[1],
    CHANNEL[2],
    CHANNEL[3],
    CHANNEL[4],
    CHANNEL[5],
    CHANNEL[6],
    CHANNEL[7],
    "channel.trace = { at_end = 'loop', snrs_db = [4.5, 7.0, 1.5, 9.0, 3.0], cqi = [19, 21, 15, 24, 18], \
     second_db = [7.5, 10.0, 4.5, 12.0, 6.0], third_db = [9.0, 11.5, 6.0, 13.5, 7.5] }",
    "channel.trace = { at_end = 'loop', rates = ['1 Mbps', '300 kbps', '3 Mbps', '0 bps', '2 Mbps'] }",
];

const PHONE: Dimension =
    &["", "category = 10", "category = 1", "category = 8", "category = 12, delay_budget = '60 ms'"];

const SCHEDULER: Dimension = &[
    "scheduler = 'proportional_fair'",
    "scheduler.proportional_fair.window = '200 ms'",
    "scheduler = 'max_ci'",
    "scheduler = 'round_robin'",
    "scheduler = 'normalized'",
    "scheduler = 'tcp_aware'",
    "scheduler = 'earliest_deadline'",
];

const HARQ: Dimension = &[
    "",
    "processes = 2",
    "processes = 8\nack_error = 0.1\nnack_error = 0.1",
    "max_transmissions = 2\ncombining = 'incremental_redundancy'",
    "max_transmissions = 3\ncombining = 'none'",
    "decoding = 'one_number'\nnack_error = 0.3\nmax_transmissions = 4",
];

const HSDPA: &[Dimension] = &[
    SCHEDULER,
    HARQ,
    &[
        "",
        "retransmission_delay = '20 ms'\nreordering_window = 4",
        "t1 = '10 ms'\nretransmission_delay = '8 ms'",
    ],
    &["", "users_per_tti = 2", "users_per_tti = 4\ncodes = 10", "codes = 5"],
    &[
        "link_adaptation.cqi = {}",
        "link_adaptation.cqi.outer_loop = {}",
        "link_adaptation.cqi = { delay = '0 ms', outer_loop.step_db = 1.0 }",
        "link_adaptation.cqi = { cycle = '8 ms', rounding = 'nearest' }",
        "link_adaptation.cqi = { error_db = 1.0 }",
        "link_adaptation.cqi.table = [{ cqi = 1, bits = 200, codes = 1 }, { cqi = 2, bits = 900, codes = 3 }]",
        "link_adaptation = 'shannon'",
    ],
    &["", "rlc = 'am'", "rlc.um.discard_timer = '300 ms'", "rlc.am = { tx_window = 64, max_dat = 4 }"],
    &["", "segmentation = false", "pdu_size = '80 B'"],
    &["", "", "iub = {}", "iub = { delay = '1 ms', room = '2 kB', rate = '2 Mbps', period = '4 ms' }"],
    &[
        "",
        "handover.data = 'lost'",
        "handover = { data = 'forwarded', cells = 3, time_to_trigger = '40 ms' }",
    ],
    &[
        "",
        "cell.shadowing.sigma_db = 0.0",
        "cell = { radius = '500 m', path_loss = 'umi', orthogonality = 0.4 }",
    ],
    &["", "", "buffer = 20"],
];

const LTE: &[Dimension] = &[
    SCHEDULER,
    HARQ,
    &["", "bandwidth = '1.4 MHz'", "bandwidth = '5 MHz'\ncontrol_symbols = 2", "bandwidth = '10 MHz'"],
    &["", "antenna_ports = 2\nlayers = 2", "antenna_ports = 4\nlayers = 4", "qam256 = true"],
    &["", "cqi.outer_loop = {}", "cqi = { delay = '0 ms', cycle = '3 ms' }", "cqi = { delay = '25 ms' }"],
    &["", "users_per_tti = 2", "implementation_loss_db = 2.0\ncarrier_ghz = 0.8"],
    &["", "", "drx = {}", "drx = { on_duration = '4 ms', short_cycle = '20 ms', long_cycle = '40 ms' }"],
    &["", "rlc = 'um'", "status_delay = '30 ms'\nsn_length = '18 bit'"],
    &["", "queue.drop_tail.limit = 10", "queue = 'codel'", "discard_timer = '50 ms'"],
    &["", "cell.shadowing.sigma_db = 0.0", "cell = { radius = '1 km', path_loss = 'uma' }"],
    &[
        "",
        "uplink.scheduled = {}",
        "uplink.scheduled = { scheduler = 'max_ci', request_period = '1 ms', outer_loop = {} }",
        "uplink.scheduled = { grants.ahead = {}, users_per_tti = 1, max_transmissions = 2 }",
        "uplink.scheduled = { request_error = 0.2, scheduler = 'round_robin', target_dbm = -95.0 }",
    ],
];

const ERRORS: Dimension = &[
    "",
    "bler = 0.2",
    "errors.process.gilbert_elliott = { p = 0.05, r = 0.3 }",
    "errors.process.bsc.error_rate = 0.1",
];

const RLC: Dimension =
    &["", "rlc = 'am'", "rlc = 'slotted'", "delivery = 'out_of_sequence'\nmax_transmissions = 5"];

const DCH: &[Dimension] =
    &[ERRORS, RLC, &["", "channels = 3\npdus_per_tti = 4"], &["", "retransmission_delay = '35 ms'"]];

const HS_DSCH: &[Dimension] = &[
    SCHEDULER,
    ERRORS,
    RLC,
    &["", "combining = 'chase'", "combining = 'incremental_redundancy'"],
    &["", "channels = 12", "pdus_per_tti = 5"],
];

const WCDMA: &[Dimension] = &[
    &["", "selection = 'per_user'", "selection.fixed.frames = 3"],
    &["", "profile = 'vehicular_b'", "correctable_bits = 2"],
    &["", "other_cells = 'map'", "sharing = 'apart'", "max_failed_slots = 10"],
];

const FACH_DCH: &[Dimension] = &[
    &[
        "",
        "policy = 'threshold'",
        "policy = 'preemptive'",
        "policy = 'traffic_volume'",
        "policy = 'longest_queue'",
    ],
    &["", "dch_channels = 3", "switch_time = '80 ms'\nfach_rate = '100 kbps'"],
];

const LINK: &[Dimension] = &[
    &["rate = '1 Mbps'", "rate = '3 Mbps'\ndelay = '20 ms'"],
    &["", "loss = 0.02", "queue = 'red'", "queue = 'fq_codel'", "jitter.uniform.most = '10 ms'"],
];

const TRACE: &[Dimension] = &[
    &["down.times_ms = [3, 4, 9, 11, 11, 14, 22]", "down.times_ms = [1, 2, 3, 90]"],
    &["", "up.times_ms = [5, 9, 30]", "delay = '15 ms'", "queue = 'codel'"],
];

/// With the dimensions of their keys, the channels and the number of scenarios.
const RADIOS: [(&str, &[Dimension], Dimension, u64); 8] = [
    ("hsdpa", HSDPA, HSDPA_CHANNEL, 150),
    ("lte", LTE, CHANNEL, 110),
    ("hs_dsch", HS_DSCH, &[], 40),
    ("dch", DCH, &[], 20),
    ("wcdma", WCDMA, &[], 15),
    ("fach_dch", FACH_DCH, &[], 15),
    ("link", LINK, &[], 10),
    ("trace", TRACE, &[], 10),
];

/// FNV-1a, 64 bits.
struct Hash(u64);

impl Hash {
    const START: Self = Self(0xcbf2_9ce4_8422_2325);

    fn of(text: &str) -> u64 {
        let mut hash = Self::START;
        let _ = hash.write_str(text);
        hash.0
    }

    fn add(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x100_0000_01b3);
    }

    /// All NaNs are equal, as the sign of a NaN depends on the compiler.
    fn add_float(&mut self, number: f64) {
        self.add(if number.is_nan() { u64::MAX } else { number.to_bits() });
        self.0 ^= self.0 >> 32;
    }

    fn add_table(&mut self, table: &Table) {
        let _ = self.write_str(table.name);
        for column in &table.columns {
            let _ = self.write_str(column.name);
            match &column.values {
                Values::F64(all) => all.iter().for_each(|value| self.add_float(*value)),
                Values::F32(all) => all.iter().for_each(|value| self.add_float(f64::from(*value))),
                Values::U64(all) => all.iter().for_each(|value| self.add(*value)),
                Values::U32(all) => all.iter().for_each(|value| self.add(u64::from(*value))),
                Values::Bool(all) => all.iter().for_each(|value| self.add(u64::from(*value))),
                Values::Text(all) => {
                    let _ = write!(self, "{all:?}");
                }
            }
        }
    }
}

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        text.bytes().for_each(|byte| self.add(u64::from(byte)));
        Ok(())
    }
}

/// The one whose hash is largest.
fn option(scenario: &str, name: &str, dimension: Dimension) -> &'static str {
    // Equal options count as often as they occur. The product spreads the last bytes over all bits of the hash.
    let weight = |place: &usize| {
        Hash::of(&format!("{}|{place}|{name}|{scenario}", dimension[*place]))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    (0..dimension.len()).max_by_key(weight).map_or("", |place| dimension[place])
}

/// May be invalid if options exclude each other.
fn text(name: &str, radio: &str, dimensions: &[Dimension], channel: Dimension) -> String {
    let mut text = format!("duration = '2500 ms'\n{}\n", option(name, "transport", TRANSPORT));
    for (place, dimension) in (0..).zip(dimensions) {
        for line in option(name, &format!("{place}"), dimension).lines() {
            let _ = writeln!(text, "radio.{radio}.{line}");
        }
    }
    let phone = |group: &str| {
        let keys =
            [option(name, &format!("channel{group}"), channel), option(name, &format!("ue{group}"), PHONE)];
        let keys = keys.map(|keys| if keys.is_empty() { String::new() } else { format!("{keys}, ") });
        if channel.is_empty() {
            String::new()
        } else {
            let keys = keys.concat();
            // A key of the bearer.
            let (ue, budget) = keys.split_once("delay_budget").unwrap_or((&keys, ""));
            let bearer =
                if budget.is_empty() { String::new() } else { format!("bearer.delay_budget{budget}") };
            format!("ue = {{ {} }},{bearer}", ue.trim_end_matches(", "))
        }
    };
    let users = option(name, "users", USERS).replace("UE2", &phone("2")).replace("UE", &phone(""));
    text + &users
}

/// Those of other radios, which a scenario of LTE leaves out.
fn write_defaults(keys: &mut Value) {
    for (table, key, value) in [
        ("/wired", "rate", "10 Mbps"),
        ("/core", "rate", "10 Mbps"),
        ("", "tcp", "classic"),
        ("/radio/lte", "uplink", "plain"),
    ] {
        if let Some(table) = keys.pointer_mut(table).and_then(Value::as_object_mut) {
            table.entry(key).or_insert(value.into());
        }
    }
}

/// The valid ones, with names and texts.
fn scenarios() -> Vec<(String, String, Scenario)> {
    let of_radio = |(radio, dimensions, channel, count): (&'static str, _, _, u64)| {
        let numbered = move |number: u64| {
            let name = format!("{radio} {number}");
            let text = text(&name, radio, dimensions, channel);
            let mut keys = toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            if radio == "lte" {
                write_defaults(&mut keys);
            }
            crate::effective::effective(keys).ok().map(|scenario| (name, text, scenario))
        };
        (0..count).filter_map(numbered)
    };
    RADIOS.into_iter().flat_map(of_radio).collect()
}

/// Without a measurement of the bandwidth available, which adds to the tables.
const WITHOUT_BANDWIDTH: Mask = Mask::BLOCKS
    .or(Mask::PACKETS)
    .or(Mask::QUEUE)
    .or(Mask::TTIS)
    .or(Mask::CHANNELS)
    .or(Mask::SERVICE)
    .or(Mask::DECISIONS);

struct Events {
    mask: Mask,
    hash: Hash,
}

impl Listener for Events {
    fn mask(&self) -> Mask {
        self.mask
    }

    fn on_event(&mut self, at: Time, event: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        let _ = write!(self.hash, "{at:?}{event:?}");
        ControlFlow::Continue(())
    }
}

fn hash(tables: &[Table]) -> u64 {
    let mut hash = Hash::START;
    for table in tables {
        hash.add_table(table);
    }
    hash.0
}

/// In the order of [`COLUMNS`].
fn fingerprint(name: &str, text: &str, scenario: &Scenario) -> String {
    let control = Control::default();
    let quiet = run(scenario, scenario.seed, 0, &control).expect("a run");
    let parts = scenario.radio.parts();
    let [scheduler, bandwidth] =
        [parts.tti.is_some(), parts.meter == Some(Meter::Series) && Hash::of(name).is_multiple_of(3)];
    let [cwnd, segments, rtt, queue, transfers] = [true; 5];
    let record = Record { cwnd, segments, rtt, queue, transfers, scheduler, bandwidth };
    let loud = Scenario { record, ..scenario.clone() };
    let mask = if Hash::of(name).is_multiple_of(2) { Mask::ALL } else { WITHOUT_BANDWIDTH };
    let mut events = Events { mask, hash: Hash::START };
    let series = run_with_listener(&loud, scenario.seed, 0, &control, &mut events).expect("a run");
    let hashes =
        [Hash::of(text), hash(&quiet.tables(0, scenario)), hash(&series.tables(0, &loud)), events.hash.0];
    hashes.map(|hash| format!("{:08x}", hash >> 32 ^ hash & 0xffff_ffff)).join("\t")
}

fn fingerprints(scenarios: &[(String, String, Scenario)]) -> BTreeMap<&str, String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            threads.spawn(|| {
                while let Some((name, text, scenario)) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let one = fingerprint(name, text, scenario);
                    found.lock().unwrap().insert(name.as_str(), one);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

#[test]
fn results_are_those_stored() {
    let scenarios = scenarios();
    let found = fingerprints(&scenarios);
    if std::env::var("FINGERPRINTS").is_ok_and(|set| set == "write") {
        let mut lines = format!("scenario\t{}\n", COLUMNS.join("\t"));
        for (name, ..) in &scenarios {
            let _ = writeln!(lines, "{name}\t{}", found[name.as_str()]);
        }
        std::fs::write(STORED, lines).unwrap();
    }
    let text = std::fs::read_to_string(STORED).unwrap();
    let stored: BTreeMap<&str, &str> =
        text.lines().skip(1).filter_map(|line| line.split_once('\t')).collect();
    let mut report = String::new();
    for (name, text, _) in &scenarios {
        let Some(before) = stored.get(name.as_str()) else {
            let _ = writeln!(report, "{name}: not stored");
            continue;
        };
        let differs =
            |(column, (before, now)): (&&'static str, (&str, &str))| (before != now).then_some(*column);
        let columns = COLUMNS.iter().zip(before.split('\t').zip(found[name.as_str()].split('\t')));
        let columns: Vec<&str> = columns.filter_map(differs).collect();
        if !columns.is_empty() {
            let shown = if report.len() < 2_000 { text.as_str() } else { "" };
            let _ = writeln!(report, "{name}: other {}\n{shown}", columns.join(", "));
        }
    }
    for name in stored.keys().filter(|name| !found.contains_key(*name)) {
        let _ = writeln!(report, "{name}: stored, but no longer a scenario");
    }
    assert!(report.is_empty(), "fingerprints differ; the head of this file says how to renew them\n{report}");
}
