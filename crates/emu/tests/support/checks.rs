//! For any bytes in a log and from devices.

use std::net::IpAddr;

use nodeb_base::units::Time;
use nodeb_emu::connections::Traffic;
use nodeb_emu::exchange::End;
use nodeb_emu::recording::Reader;
use nodeb_emu::replay::replay;
use nodeb_emu::{Exchange, Phone};
use nodeb_sim::world::Direction;
use nodeb_sim::{Scenario, scenario};

pub const MTU: usize = 600;
const MEMORY: usize = 40 * MTU;
const CHUNK: usize = 256 * MTU;

/// Two real phones and no simulated users, so that a long simulated time needs few events.
pub fn cell(kind: u8) -> Scenario {
    let radio = ["[radio.link]\nrate = '64 kbps'\nloss = 0.1", "[radio.dch]\nbler = 0.2", "[radio.hsdpa]"];
    let text = format!(
        "duration = '60 s'\n{}\n[[users]]\nname = 'phones'\ncount = 2\ntraffic = 'external'\n",
        radio[usize::from(kind) % radio.len()]
    );
    scenario::from_toml(&text, "checks", &[]).expect("a valid scenario")
}

pub fn phones() -> Vec<Phone> {
    let phone = |user: u32| Phone { user, addresses: vec![IpAddr::from([10, 64, 0, 2 + user as u8])] };
    vec![phone(0), phone(1)]
}

/// No connection receives more than was sent.
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
    let mut reader = Reader::new(bytes).expect("its header was read before");
    let Ok(traffic) = Traffic::of(&mut reader) else { return };
    for connection in &traffic.connections {
        for direction in [Direction::Down, Direction::Up] {
            let own = || connection.packets.iter().filter(|packet| packet.direction == direction);
            let sent: u64 = own().map(|packet| u64::from(packet.tcp.payload)).sum();
            let delivered = connection.delivered(direction);
            assert!(delivered.bytes <= sent, "{delivered:?} of {sent}");
            assert!(delivered.last.is_none_or(|last| connection.packets[last].arrived.is_some()));
        }
    }
}

/// Memory stays bounded, and every packet and slot is returned once.
pub fn check_devices(bytes: &[u8]) {
    let Some((kind, mut rest)) = bytes.split_first() else { return };
    let mut exchange = Exchange::new(&cell(*kind), 1, &phones(), MTU, MEMORY).expect("a valid world");
    let (mut now, mut delivered) = (0_u64, std::collections::HashSet::new());
    while let [order, pause, length, more @ ..] = rest {
        now += u64::from(*pause) * 200_000;
        let length = (usize::from(*length) * 3).min(MTU);
        let (data, after) = more.split_at(more.len().min(length));
        rest = after;
        give(&mut exchange, Time(now), *order, data, length);
        take(&mut exchange, &mut delivered);
        assert!(exchange.memory() <= MEMORY.max(CHUNK), "{}", exchange.memory());
        assert!(exchange.waiting() <= MEMORY / MTU);
    }
    exchange.advance(Time(now + 3_600_000_000_000)).expect("the simulation succeeds");
    take(&mut exchange, &mut delivered);
    assert_eq!(exchange.waiting(), 0, "every slot is free");
    let ways = || exchange.phones().iter().flat_map(|it| [&it.down, &it.up]);
    let offered: u64 = ways().map(|direction| direction.offered.packets).sum();
    let (arrived, lost): (u64, u64) = (
        ways().map(|direction| direction.arrived.packets).sum(),
        ways().map(nodeb_emu::report::DirectionReport::all_lost).sum(),
    );
    assert_eq!((arrived, arrived + lost), (delivered.len() as u64, offered));
}

/// Bits of `order` select its sender, or that it is not offered. Another bit selects whether version, length and
/// destination of an IPv4 header are written into the packet, with a destination near the phones' addresses.
fn give(exchange: &mut Exchange, now: Time, order: u8, data: &[u8], length: usize) {
    exchange.advance(now).expect("the simulation succeeds");
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
    exchange.accept(now, from, slot, length).expect("the simulation succeeds");
}

fn take(exchange: &mut Exchange, delivered: &mut std::collections::HashSet<u64>) {
    while let Some(arrival) = exchange.take() {
        assert!(delivered.insert(arrival.number), "packet {} arrived twice", arrival.number);
        assert!(!exchange.packet(&arrival).is_empty());
        exchange.handed_over(&arrival, 0);
    }
}
