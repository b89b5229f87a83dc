use nodeb_emu::exchange::End;
use nodeb_emu::head::{ACK, FIN, SYN};
use nodeb_emu::recording::Recorder;
use nodeb_emu::{Exchange, Phone};
use nodeb_sim::scenario;

use super::*;
use nodeb_base::cause::Cause::{self, *};

const MTU: usize = 1_500;
const CELL: &str = "[wired]\nrate = '10 Mbps'\ndelay = '10 ms'\n[uplink]\nrate = '1 Mbps'\n\
                    delay = '5 ms'\n[[users]]\nname = 'phone'\ntraffic = 'external'\n";
const LINK: &str = "[radio.link]\nrate = '1 Mbps'\ndelay = '5 ms'\n";

fn us(us: u64) -> Time {
    Time(us * 1_000)
}

struct Emulation {
    scenario: Scenario,
    exchange: Exchange,
    folder: tempfile::TempDir,
    /// Time, receiving end and size, in the order of time.
    came: Vec<(Time, End, usize)>,
}

impl Emulation {
    fn over(radio: &str) -> Self {
        let scenario =
            scenario::from_toml(&format!("duration = '60 s'\n{radio}{CELL}"), "emulation", &[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let phone = Phone { user: 0, addresses: vec![[10, 64, 0, 2].into()] };
        let mut exchange = Exchange::new(&scenario, 7, &[phone], MTU, 64 << 20).unwrap();
        exchange.record(Recorder::create(&folder.path().join("log"), b"{}", 96).unwrap());
        Self { scenario, exchange, folder, came: Vec::new() }
    }

    /// `port` is the phone's and identifies the connection.
    fn send(&mut self, at: Time, from: End, port: u16, (seq, ack, flags): (u32, u32, u8), payload: usize) {
        let up = from != End::Server;
        let length = 40 + payload;
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0];
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let (server, client) = ([10, 64, 0, 1], [10, 64, 0, 2]);
        packet.extend(if up { [client, server] } else { [server, client] }.concat());
        let ports = if up { [port, 80] } else { [80, port] };
        packet.extend(ports.map(u16::to_be_bytes).concat());
        packet.extend(seq.to_be_bytes());
        packet.extend(ack.to_be_bytes());
        packet.extend([0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
        packet.resize(length, 1);
        self.pass(at);
        let slot = self.exchange.slot().unwrap();
        self.exchange.bytes_mut(slot)[..length].copy_from_slice(&packet);
        self.exchange.accept(at, from, slot, length).unwrap();
        self.take();
    }

    fn take(&mut self) {
        while let Some(arrival) = self.exchange.take() {
            self.came.push((arrival.at, arrival.to, self.exchange.packet(&arrival).len()));
            self.exchange.handed_over(&arrival, 0);
        }
    }

    fn pass(&mut self, to: Time) {
        self.exchange.advance(to).unwrap();
        self.take();
    }

    /// Time of the next arrival.
    fn wait(&mut self) -> Time {
        let before = self.came.len();
        while self.came.len() == before {
            let next = self.exchange.next().expect("a packet is in flight");
            self.pass(next);
        }
        self.came[before].0
    }

    fn explained(self, connection: usize) -> Result<Path, Error> {
        let Self { scenario, exchange, folder, .. } = self;
        exchange.finish(&scenario).unwrap();
        explain_log(&folder.path().join("log"), &scenario, connection)
    }
}

fn explain_log(log: &std::path::Path, scenario: &Scenario, connection: usize) -> Result<Path, Error> {
    explain(Log { path: log, control: &Control::default() }, scenario, 7, &[0], connection)
}

fn phone() -> End {
    End::Phone(0)
}

/// In us, after checking that the spans have no gaps.
fn causes(path: &Path) -> Vec<(Cause, u64)> {
    let mut at = path.begun;
    for span in &path.spans {
        assert!(span.begin == at && span.end > at, "{span:?} after {at:?}");
        at = span.end;
    }
    assert_eq!(at, path.ended);
    let of = |cause: Cause| {
        path.spans.iter().filter(|it| it.cause == cause).map(|it| it.duration().0).sum::<u64>()
    };
    let all = Cause::ALL.iter().map(|cause| (*cause, of(*cause) / 1_000));
    all.filter(|(_, time)| *time > 0).collect()
}

/// In us, through the idle cell: wired link of 10 Mbps and 10 ms, radio link of 1 Mbps and 5 ms.
fn down(bytes: u64) -> u64 {
    bytes * 8 / 10 + 10_000 + bytes * 8 + 5_000
}

fn up(bytes: u64) -> u64 {
    bytes * 8 + 5_000 + bytes * 8 / 10 + 10_000
}

/// A request of 300 bytes; the time at which it reaches the server.
fn ask(emulation: &mut Emulation, begun: Time, port: u16) -> Time {
    emulation.send(begun, phone(), port, (100, 0, SYN), 0);
    let at = emulation.wait();
    emulation.send(at, End::Server, port, (500, 101, SYN | ACK), 0);
    let at = emulation.wait();
    emulation.send(at, phone(), port, (101, 501, ACK), 300);
    emulation.wait()
}

#[test]
fn download_has_the_causes_of_its_closed_form() {
    let mut emulation = Emulation::over(LINK);
    let at = ask(&mut emulation, us(1_000), 40_000);
    let at = Time(at.0 + 7_000_000);
    emulation.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    let at = Time(emulation.wait().0 + 40_000_000);
    emulation.send(at, phone(), 40_000, (401, 1_961, ACK), 0);
    let at = emulation.wait();
    emulation.send(at, End::Server, 40_000, (1_961, 401, ACK), 1_460);
    emulation.send(at, End::Server, 40_000, (3_421, 401, ACK), 1_460);
    emulation.wait();
    emulation.wait();
    let path = emulation.explained(0).unwrap();
    assert_eq!((path.begun, path.bytes, path.complete), (us(1_000), 4_380, true));
    let expected = vec![
        (Handshake, up(40) + down(40)),
        (Request, up(340)),
        (Server, 7_000),
        (Propagation, 15_000),
        // The radio link transmits the last two segments (12 ms each), and the wired link the first
        // of these two (1.2 ms).
        (Transmission, 12_000 + 12_000 + 1_200),
        (DelayedAck, 40_000),
        (SlowStart, down(1_500) + up(40)),
    ];
    assert_eq!(causes(&path), expected);
}

/// The queue of two packets is filled by another connection.
fn with_full_queue() -> (Emulation, Time) {
    let mut emulation = Emulation::over(&format!("{LINK}queue.drop_tail.limit = 2\n"));
    let at = ask(&mut emulation, Time::ZERO, 40_000);
    for seq in [1, 1_461] {
        emulation.send(at, End::Server, 41_000, (seq, 1, ACK), 1_460);
    }
    (emulation, at)
}

#[test]
fn loss_detected_by_a_timer_is_a_timeout() {
    let (mut emulation, at) = with_full_queue();
    emulation.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    emulation.pass(Time(at.0 + 200_000_000));
    let retransmitted = Time(at.0 + 300_000_000);
    emulation.send(retransmitted, End::Server, 40_000, (501, 401, ACK), 1_460);
    emulation.wait();
    let expected = vec![
        (Handshake, up(40) + down(40)),
        (Request, up(340)),
        (Propagation, 15_000),
        (Transmission, 13_200),
        (Timeout, 300_000),
    ];
    assert_eq!(causes(&emulation.explained(0).unwrap()), expected);
}

#[test]
fn loss_detected_by_an_ack_is_recovery() {
    let (mut emulation, at) = with_full_queue();
    emulation.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    emulation.send(Time(at.0 + 20_000_000), End::Server, 40_000, (1_961, 401, ACK), 1_460);
    // Of the next three arrivals, the first two are packets of the other connection and the third
    // is a packet of the explained one.
    let at = [(); 3].map(|()| emulation.wait())[2];
    emulation.send(at, phone(), 40_000, (401, 501, ACK), 0);
    let at = emulation.wait();
    emulation.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    emulation.wait();
    let path = emulation.explained(0).unwrap();
    let expected = vec![
        (Handshake, up(40) + down(40)),
        (Request, up(340)),
        (Propagation, 15_000),
        (Transmission, 13_200),
        // The retransmission waits until the last packet of the other connection has been sent.
        (QueueBehindOthers, 4_000),
        (Recovery, down(1_500) + up(40)),
        (Pacing, 20_000),
    ];
    assert_eq!(causes(&path), expected);
    assert!(path.complete && path.bytes == 2_920);
}

#[test]
fn upload_is_explained() {
    let mut emulation = Emulation::over(LINK);
    emulation.send(Time::ZERO, phone(), 40_000, (100, 0, SYN), 0);
    let at = emulation.wait();
    emulation.send(at, End::Server, 40_000, (500, 101, SYN | ACK), 0);
    let at = Time(emulation.wait().0 + 3_000_000);
    emulation.send(at, phone(), 40_000, (101, 501, ACK), 1_460);
    emulation.wait();
    let path = emulation.explained(0).unwrap();
    let expected = vec![
        (Application, 3_000),
        (Handshake, up(40) + down(40)),
        (Propagation, 15_000),
        (Transmission, 13_200),
    ];
    assert_eq!(causes(&path), expected);
}

#[test]
fn other_connections_of_the_phone_are_charged_as_others() {
    for radio in [LINK, "[radio.dch]\nbler = 0.0\n", "radio = 'hsdpa'\n"] {
        let mut emulation = Emulation::over(radio);
        let at = ask(&mut emulation, Time::ZERO, 40_000);
        for number in 0..20 {
            emulation.send(at, End::Server, 41_000, (501 + 1_460 * number, 401, ACK), 1_460);
        }
        emulation.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
        while emulation.exchange.waiting() > 0 {
            emulation.wait();
        }
        let path = emulation.explained(0).unwrap();
        let found = causes(&path);
        let of = |cause| found.iter().find(|(one, _)| *one == cause).map_or(0, |(_, time)| *time);
        let whole = path.ended.since(path.begun).0 / 1_000;
        assert!(of(QueueBehindOthers) > whole / 4, "{radio}: {found:?} of {whole}");
        assert!(of(Transmission) + of(QueueBehindOwn) < whole / 4, "{radio}: {found:?} of {whole}");
    }
}

#[test]
fn unexplainable_connections_are_rejected() {
    let mut emulation = Emulation::over("[radio.link]\nrate = '1 Mbps'\ndelay = '5 ms'\n");
    ask(&mut emulation, Time::ZERO, 40_000);
    emulation.send(us(900_000), phone(), 40_001, (7, 0, SYN), 0);
    emulation.send(us(900_001), phone(), 40_000, (401, 501, FIN | ACK), 0);
    let Emulation { scenario, exchange, folder, .. } = emulation;
    exchange.finish(&scenario).unwrap();
    let log = folder.path().join("log");
    let message = |number| explain_log(&log, &scenario, number).unwrap_err().to_string();
    assert!(message(1).starts_with("no packet of connection 1 has arrived"), "{}", message(1));
    assert!(message(2).starts_with("there is no connection 2; the recording has 2"), "{}", message(2));
    let other = scenario::from_toml(
        &format!("duration = '60 s'\n{LINK}{}", CELL.replace("'5 ms'", "'6 ms'")),
        "other",
        &[],
    )
    .unwrap();
    let differs = explain_log(&log, &other, 0);
    // In a cell with another delay the replay differs from the recording, so the explanation is
    // rejected.
    assert!(matches!(differs, Err(Error::Differs(_))), "{differs:?}");
}

#[test]
fn failed_blocks_are_in_the_path_of_a_real_connection() {
    let mut emulation = Emulation::over("[radio.dch]\nbler = 0.2\n");
    let mut at = ask(&mut emulation, Time::ZERO, 40_000);
    for number in 0..40 {
        emulation.send(at, End::Server, 40_000, (501 + 1_460 * number, 401, ACK), 1_460);
        at = emulation.wait();
        emulation.send(at, phone(), 40_000, (401, 1_961 + 1_460 * number, ACK), 0);
        at = emulation.wait();
    }
    let path = emulation.explained(0).unwrap();
    let found = causes(&path);
    let of = |cause| found.iter().find(|(one, _)| *one == cause).map_or(0, |(_, time)| *time);
    assert!(of(Rlc) > 100_000, "{found:?}");
    assert!(of(CongestionAvoidance) > 1_000_000 && of(Server) == 0, "{found:?}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn paths_are_gapless_with_random_headers(
        changes in proptest::collection::vec((0..40_usize, 20..40_usize, proptest::prelude::any::<u8>()), 0..60),
        pauses in proptest::collection::vec(0..60_u64, 40),
    ) {
        let mut emulation = Emulation::over(["[radio.dch]\nbler = 0.2\n", LINK][changes.len() % 2]);
        let mut now = 0;
        for (number, pause) in pauses.iter().enumerate() {
            now += pause * 1_000;
            let from = if number % 3 == 0 { phone() } else { End::Server };
            let mut header = (number as u32 * 700, number as u32 * 600, if number < 2 { SYN } else { ACK });
            for (_, place, value) in changes.iter().filter(|(at, ..)| *at == number) {
                match place % 3 {
                    0 => header.0 = header.0.wrapping_add(u32::from(*value) << (place - 20)),
                    1 => header.1 = header.1.wrapping_sub(u32::from(*value) << (place - 20)),
                    _ => header.2 = *value,
                }
            }
            emulation.send(us(now), from, 40_000, header, number * 31 % 1_400);
        }
        emulation.pass(us(now + 20_000_000));
        let Emulation { scenario, exchange, folder, .. } = emulation;
        exchange.finish(&scenario).unwrap();
        for connection in 0..3 {
            match explain_log(&folder.path().join("log"), &scenario, connection) {
                Ok(path) => drop(causes(&path)),
                Err(Error::NoConnection { .. } | Error::NothingArrived(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
}
