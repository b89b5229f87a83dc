//! Flights made by hand, of which it is known what they waited for.

use nodeb_emu::exchange::End;
use nodeb_emu::flight::Recorder;
use nodeb_emu::head::{ACK, FIN, SYN};
use nodeb_emu::{Exchange, Phone};
use nodeb_sim::scenario;

use super::*;
use crate::cause::Cause::{self, *};

const MTU: usize = 1_500;
const CELL: &str = "[wired]\nrate = '10 Mbps'\ndelay = '10 ms'\n[uplink]\nrate = '1 Mbps'\n\
                    delay = '5 ms'\n[[users]]\nname = 'phone'\ntraffic = 'external'\n";
const LINK: &str = "[radio.link]\nrate = '1 Mbps'\ndelay = '5 ms'\n";

fn us(us: u64) -> Time {
    Time(us * 1_000)
}

/// The hosts of a flight, whose packets are written down.
struct Flight {
    scenario: Scenario,
    exchange: Exchange,
    folder: tempfile::TempDir,
    /// What has arrived where: its time and its bytes.
    came: Vec<(Time, End, usize)>,
}

impl Flight {
    fn over(radio: &str) -> Self {
        let scenario =
            scenario::from_toml(&format!("duration = '60 s'\n{radio}{CELL}"), "flight", &[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let phone = Phone { user: 0, addresses: vec![[10, 64, 0, 2].into()] };
        let mut exchange = Exchange::new(&scenario, 7, &[phone], MTU, 64 << 20).unwrap();
        exchange.record(Recorder::create(&folder.path().join("log"), b"{}", 96).unwrap());
        Self { scenario, exchange, folder, came: Vec::new() }
    }

    /// Somebody sends a packet; ports tell connections apart.
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

    /// Until something arrives; when that is.
    fn wait(&mut self) -> Time {
        let known = self.came.len();
        while self.came.len() == known {
            let next = self.exchange.next().expect("something is on its way");
            self.pass(next);
        }
        self.came[known].0
    }

    /// Ends it and explains a connection.
    fn explained(self, connection: usize) -> Result<Path, Error> {
        let Self { scenario, exchange, folder, .. } = self;
        exchange.finish(&scenario).unwrap();
        unwatched(&folder.path().join("log"), &scenario, connection)
    }
}

/// Explains a connection of a log while nobody watches.
fn unwatched(log: &std::path::Path, scenario: &Scenario, connection: usize) -> Result<Path, Error> {
    explain(Log { path: log, control: &Control::default() }, scenario, 7, &[0], connection)
}

fn phone() -> End {
    End::Phone(0)
}

/// Time of each cause, us; spans follow each other from the beginning to the end.
fn causes(path: &Path) -> Vec<(Cause, u64)> {
    let mut at = path.begun;
    for span in &path.spans {
        assert!(span.begin == at && span.end > at, "{span:?} after {at:?}");
        at = span.end;
    }
    assert_eq!(at, path.ended);
    let of =
        |cause: Cause| path.spans.iter().filter(|it| it.cause == cause).map(|it| it.lasts().0).sum::<u64>();
    let all = Cause::ALL.iter().map(|cause| (*cause, of(*cause) / 1_000));
    all.filter(|(_, time)| *time > 0).collect()
}

/// How long an idle cell takes with a packet.
fn down(bytes: u64) -> u64 {
    bytes * 8 / 10 + 10_000 + bytes * 8 + 5_000
}

fn up(bytes: u64) -> u64 {
    bytes * 8 + 5_000 + bytes * 8 / 10 + 10_000
}

/// A connection is opened and something is asked for, which comes to the server at the time that is returned.
fn ask(flight: &mut Flight, begun: Time, port: u16) -> Time {
    flight.send(begun, phone(), port, (100, 0, SYN), 0);
    let at = flight.wait();
    flight.send(at, End::Server, port, (500, 101, SYN | ACK), 0);
    let at = flight.wait();
    flight.send(at, phone(), port, (101, 501, ACK), 300);
    flight.wait()
}

#[test]
fn a_download_by_hand_has_the_causes_of_its_closed_form() {
    let mut flight = Flight::over(LINK);
    let at = ask(&mut flight, us(1_000), 40_000);
    let at = Time(at.0 + 7_000_000);
    flight.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    let at = Time(flight.wait().0 + 40_000_000);
    flight.send(at, phone(), 40_000, (401, 1_961, ACK), 0);
    let at = flight.wait();
    flight.send(at, End::Server, 40_000, (1_961, 401, ACK), 1_460);
    flight.send(at, End::Server, 40_000, (3_421, 401, ACK), 1_460);
    flight.wait();
    flight.wait();
    let path = flight.explained(0).unwrap();
    assert_eq!((path.begun, path.bytes, path.complete), (us(1_000), 4_380, true));
    let expected = vec![
        (Handshake, up(40) + down(40)),
        (Request, up(340)),
        (Server, 7_000),
        (Propagation, 15_000),
        // The last segment on the radio link, the one before it there, and that one on the wire.
        (Transmission, 12_000 + 12_000 + 1_200),
        (DelayedAck, 40_000),
        (SlowStart, down(1_500) + up(40)),
    ];
    assert_eq!(causes(&path), expected);
}

/// A link with room for two packets, and two of another connection that fill it when they come.
fn with_full_queue() -> (Flight, Time) {
    let mut flight = Flight::over(&format!("{LINK}queue.drop_tail.limit = 2\n"));
    let at = ask(&mut flight, Time::ZERO, 40_000);
    for seq in [1, 1_461] {
        flight.send(at, End::Server, 41_000, (seq, 1, ACK), 1_460);
    }
    (flight, at)
}

#[test]
fn a_loss_of_which_a_timer_tells_is_a_timeout() {
    let (mut flight, at) = with_full_queue();
    flight.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    flight.pass(Time(at.0 + 200_000_000));
    let again = Time(at.0 + 300_000_000);
    flight.send(again, End::Server, 40_000, (501, 401, ACK), 1_460);
    flight.wait();
    let expected = vec![
        (Handshake, up(40) + down(40)),
        (Request, up(340)),
        (Propagation, 15_000),
        (Transmission, 13_200),
        (Timeout, 300_000),
    ];
    assert_eq!(causes(&flight.explained(0).unwrap()), expected);
}

#[test]
fn a_loss_of_which_an_ack_tells_is_a_recovery() {
    let (mut flight, at) = with_full_queue();
    flight.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    flight.send(Time(at.0 + 20_000_000), End::Server, 40_000, (1_961, 401, ACK), 1_460);
    // The other connection's two packets come before.
    let at = [(); 3].map(|()| flight.wait())[2];
    flight.send(at, phone(), 40_000, (401, 501, ACK), 0);
    let at = flight.wait();
    flight.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
    flight.wait();
    let path = flight.explained(0).unwrap();
    let expected = vec![
        (Handshake, up(40) + down(40)),
        (Request, up(340)),
        (Propagation, 15_000),
        (Transmission, 13_200),
        // Until the last of the others has been sent.
        (QueueBehindOthers, 4_000),
        (Recovery, down(1_500) + up(40)),
        (Pacing, 20_000),
    ];
    assert_eq!(causes(&path), expected);
    assert!(path.complete && path.bytes == 2_920);
}

#[test]
fn what_a_phone_sends_is_explained_too() {
    let mut flight = Flight::over(LINK);
    flight.send(Time::ZERO, phone(), 40_000, (100, 0, SYN), 0);
    let at = flight.wait();
    flight.send(at, End::Server, 40_000, (500, 101, SYN | ACK), 0);
    let at = Time(flight.wait().0 + 3_000_000);
    flight.send(at, phone(), 40_000, (101, 501, ACK), 1_460);
    flight.wait();
    let path = flight.explained(0).unwrap();
    let expected = vec![
        (Application, 3_000),
        (Handshake, up(40) + down(40)),
        (Propagation, 15_000),
        (Transmission, 13_200),
    ];
    assert_eq!(causes(&path), expected);
}

#[test]
fn other_connections_of_a_phone_are_others() {
    for radio in [LINK, "[radio.dch]\nbler = 0.0\n", "radio = 'hsdpa'\n"] {
        let mut flight = Flight::over(radio);
        let at = ask(&mut flight, Time::ZERO, 40_000);
        for number in 0..20 {
            flight.send(at, End::Server, 41_000, (501 + 1_460 * number, 401, ACK), 1_460);
        }
        flight.send(at, End::Server, 40_000, (501, 401, ACK), 1_460);
        while flight.exchange.waiting() > 0 {
            flight.wait();
        }
        let path = flight.explained(0).unwrap();
        let found = causes(&path);
        let of = |cause| found.iter().find(|(one, _)| *one == cause).map_or(0, |(_, time)| *time);
        let whole = path.ended.since(path.begun).0 / 1_000;
        assert!(of(QueueBehindOthers) > whole / 4, "{radio}: {found:?} of {whole}");
        assert!(of(Transmission) + of(QueueBehindOwn) < whole / 4, "{radio}: {found:?} of {whole}");
    }
}

#[test]
fn what_cannot_be_explained_is_said() {
    let mut flight = Flight::over("[radio.link]\nrate = '1 Mbps'\ndelay = '5 ms'\n");
    ask(&mut flight, Time::ZERO, 40_000);
    flight.send(us(900_000), phone(), 40_001, (7, 0, SYN), 0);
    flight.send(us(900_001), phone(), 40_000, (401, 501, FIN | ACK), 0);
    let Flight { scenario, exchange, folder, .. } = flight;
    exchange.finish(&scenario).unwrap();
    let log = folder.path().join("log");
    let told = |number| unwatched(&log, &scenario, number).unwrap_err().to_string();
    assert!(told(1).starts_with("of connection 1 no packet has arrived"), "{}", told(1));
    assert!(told(2).starts_with("the flight has 2 TCP connections"), "{}", told(2));
    let other = scenario::from_toml(
        &format!("duration = '60 s'\n{LINK}{}", CELL.replace("'5 ms'", "'6 ms'")),
        "other",
        &[],
    )
    .unwrap();
    let told = unwatched(&log, &other, 0);
    // Another cell brings other times: where they lead is not what happened.
    assert!(matches!(told, Err(Error::Differs(_))), "{told:?}");
}

#[test]
fn blocks_that_fail_are_in_the_path_of_a_real_connection() {
    let mut flight = Flight::over("[radio.dch]\nbler = 0.2\n");
    let mut at = ask(&mut flight, Time::ZERO, 40_000);
    for number in 0..40 {
        flight.send(at, End::Server, 40_000, (501 + 1_460 * number, 401, ACK), 1_460);
        at = flight.wait();
        flight.send(at, phone(), 40_000, (401, 1_961 + 1_460 * number, ACK), 0);
        at = flight.wait();
    }
    let path = flight.explained(0).unwrap();
    let found = causes(&path);
    let of = |cause| found.iter().find(|(one, _)| *one == cause).map_or(0, |(_, time)| *time);
    assert!(of(Rlc) > 100_000, "{found:?}");
    assert!(of(CongestionAvoidance) > 1_000_000 && of(Server) == 0, "{found:?}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    /// Whatever headers say, a path is whole: its spans follow each other from the beginning to the end.
    #[test]
    fn odd_headers_make_whole_paths(
        changes in proptest::collection::vec((0..40_usize, 20..40_usize, proptest::prelude::any::<u8>()), 0..60),
        pauses in proptest::collection::vec(0..60_u64, 40),
    ) {
        let mut flight = Flight::over(["[radio.dch]\nbler = 0.2\n", LINK][changes.len() % 2]);
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
            flight.send(us(now), from, 40_000, header, number * 31 % 1_400);
        }
        flight.pass(us(now + 20_000_000));
        let Flight { scenario, exchange, folder, .. } = flight;
        exchange.finish(&scenario).unwrap();
        for connection in 0..3 {
            match unwatched(&folder.path().join("log"), &scenario, connection) {
                Ok(path) => drop(causes(&path)),
                Err(Error::NoConnection { .. } | Error::NothingArrived(_)) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
}
