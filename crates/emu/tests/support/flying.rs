//! What must hold whatever a flight log says, and whatever comes from devices.

use std::net::IpAddr;

use nodeb_base::units::Time;
use nodeb_emu::connections::Traffic;
use nodeb_emu::exchange::End;
use nodeb_emu::flight::Reader;
use nodeb_emu::replay::replay;
use nodeb_emu::{Exchange, Phone};
use nodeb_sim::world::Direction;
use nodeb_sim::{Scenario, scenario};

/// The largest packet of a device.
pub const MTU: usize = 600;
/// What payloads may take, and what they are made at a time.
const MEMORY: usize = 40 * MTU;
const CHUNK: usize = 256 * MTU;

/// Two real phones; nobody simulated, so that no time is too long.
pub fn cell(kind: u8) -> Scenario {
    let radio = ["[radio.link]\nrate = '64 kbps'\nloss = 0.1", "[radio.dch]\nbler = 0.2", "[radio.hsdpa]"];
    let text = format!(
        "duration = '60 s'\n{}\n[[users]]\nname = 'phones'\ncount = 2\ntraffic = 'external'\n",
        radio[usize::from(kind) % radio.len()]
    );
    scenario::from_toml(&text, "flying", &[]).expect("a scenario")
}

pub fn phones() -> Vec<Phone> {
    let phone = |user: u32| Phone { user, addresses: vec![IpAddr::from([10, 64, 0, 2 + user as u8])] };
    vec![phone(0), phone(1)]
}

/// A log of any bytes is flown or refused in words; what is found of its connections was sent.
pub fn check_log(bytes: &[u8]) {
    let Ok(mut reader) = Reader::new(bytes) else { return };
    let kind = reader.header().first().copied().unwrap_or_default();
    match replay(&mut reader, &cell(kind), 1, &[0, 1]) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok((found, _)) => {
            let ways = || found.phones.iter().flat_map(|it| [&it.down, &it.up]);
            let offered: u64 = ways().map(|direction| direction.offered.packets).sum();
            let over: u64 = ways().map(|direction| direction.arrived.packets + direction.all_lost()).sum();
            assert!(over <= offered && found.same <= over, "{found:?}");
        }
    }
    let mut reader = Reader::new(bytes).expect("it was one before");
    let Ok(traffic) = Traffic::of(&mut reader) else { return };
    for connection in &traffic.connections {
        for direction in [Direction::Down, Direction::Up] {
            let own = || connection.packets.iter().filter(|packet| packet.direction == direction);
            let sent: u64 = own().map(|packet| u64::from(packet.tcp.payload)).sum();
            let came = connection.came(direction);
            assert!(came.bytes <= sent, "{came:?} of {sent}");
            assert!(came.last.is_none_or(|last| connection.packets[last].arrived.is_some()));
        }
    }
}

/// Devices that give anything at any time: memory is bounded, every packet comes back once, every slot too.
pub fn check_devices(bytes: &[u8]) {
    let Some((kind, mut rest)) = bytes.split_first() else { return };
    let mut exchange = Exchange::new(&cell(*kind), 1, &phones(), MTU, MEMORY).expect("a world");
    let (mut now, mut came) = (0_u64, std::collections::HashSet::new());
    while let [order, pause, length, more @ ..] = rest {
        now += u64::from(*pause) * 200_000;
        let length = (usize::from(*length) * 3).min(MTU);
        let (data, after) = more.split_at(more.len().min(length));
        rest = after;
        give(&mut exchange, Time(now), *order, data, length);
        take(&mut exchange, &mut came);
        assert!(exchange.memory() <= MEMORY.max(CHUNK), "{}", exchange.memory());
        assert!(exchange.waiting() <= MEMORY / MTU);
    }
    exchange.advance(Time(now + 3_600_000_000_000)).expect("nobody fails");
    take(&mut exchange, &mut came);
    assert_eq!(exchange.waiting(), 0, "every slot has come back");
    let ways = || exchange.phones().iter().flat_map(|it| [&it.down, &it.up]);
    let offered: u64 = ways().map(|direction| direction.offered.packets).sum();
    let (arrived, lost): (u64, u64) = (
        ways().map(|direction| direction.arrived.packets).sum(),
        ways().map(nodeb_emu::report::DirectionReport::all_lost).sum(),
    );
    assert_eq!((arrived, arrived + lost), (came.len() as u64, offered));
}

/// What a device gives: random bytes, or some that look like a packet to somebody.
fn give(exchange: &mut Exchange, now: Time, order: u8, data: &[u8], length: usize) {
    exchange.advance(now).expect("nobody fails");
    let Some(slot) = exchange.slot() else { return };
    let bytes = exchange.bytes_mut(slot);
    bytes[..length].fill(0);
    bytes[..data.len()].copy_from_slice(data);
    if order & 1 == 0 && length >= 20 {
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        bytes[16..20].copy_from_slice(&[10, 64, 0, 1 + (order >> 4) % 4]);
    }
    let from = match order >> 1 & 3 {
        0 => return exchange.give_back(slot),
        1 => End::Phone(usize::from(order >> 3 & 1)),
        _ => End::Server,
    };
    exchange.accept(now, from, slot, length).expect("nobody fails");
}

fn take(exchange: &mut Exchange, came: &mut std::collections::HashSet<u64>) {
    while let Some(arrival) = exchange.take() {
        assert!(came.insert(arrival.number), "packet {} comes twice", arrival.number);
        assert!(!exchange.packet(&arrival).is_empty());
        exchange.handed_over(&arrival, 0);
    }
}
