use std::fs::File;

use nodeb_emu::exchange::End;
use nodeb_emu::recording::Recorder;
use nodeb_emu::{Exchange, Phone};
use nodeb_sim::{Control, scenario};
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};

use super::*;

const CELL: &str = "duration = '60 s'\n[radio.hsdpa]\niub = { delay = '15 ms' }\n[[users]]\nname = 'real'\ntraffic = 'external'\n[[users]]\n\
                    name = 'simulated'\ntraffic = { ftp = { size = '20 kB' } }\n";

fn packet(down: bool, number: u16, payload: usize) -> Vec<u8> {
    let length = (28 + payload) as u16;
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0];
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet.extend(if down { [10, 64, 0, 1, 10, 64, 0, 2] } else { [10, 64, 0, 2, 10, 64, 0, 1] });
    packet.extend([number.to_be_bytes(), 9_u16.to_be_bytes(), (length - 20).to_be_bytes(), [0; 2]].concat());
    packet.resize(usize::from(length), number as u8);
    packet
}

/// With packets in both directions.
fn record(log: &Path, scenario: &Scenario, kept: u16) {
    let phone = Phone { user: 0, addresses: vec![[10, 64, 0, 2].into()] };
    let mut exchange = Exchange::new(scenario, 1, &[phone], 1_500, 1 << 20).unwrap();
    exchange.record(Recorder::create(log, b"{}", kept).unwrap());
    for number in 0..200_u16 {
        let (down, at) = (number % 3 > 0, Time(u64::from(number) * 5_000_000));
        let bytes = packet(down, number, usize::from(number) * 7);
        let slot = exchange.slot().unwrap();
        exchange.bytes_mut(slot)[..bytes.len()].copy_from_slice(&bytes);
        exchange.accept(at, if down { End::Server } else { End::Phone(0) }, slot, bytes.len()).unwrap();
        while let Some(arrival) = exchange.take() {
            exchange.handed_over(&arrival, 0);
        }
    }
    exchange.advance(Time(60_000_000_000)).unwrap();
    while let Some(arrival) = exchange.take() {
        exchange.handed_over(&arrival, 0);
    }
    exchange.finish(scenario).unwrap();
}

#[test]
fn real_packets_are_captured_with_their_bytes_among_simulated_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (log, file) = (folder.path().join("log"), folder.path().join("pcap"));
    let scenario = scenario::from_toml(CELL, "emulation", &[]).unwrap();
    record(&log, &scenario, 96);
    for radio in [false, true] {
        let (replay, _) =
            replay(Log { path: &log, control: &Control::default() }, &scenario, 1, &[0], &file, radio)
                .unwrap();
        assert_eq!((replay.differs, replay.same), (None, 200));
        let mut reader = PcapNgReader::new(File::open(&file).unwrap()).unwrap();
        let (mut seen, mut simulated, mut comments) = ([0; 4], 0, 0);
        while let Some(block) = reader.next_block() {
            let Block::EnhancedPacket(block) = block.unwrap().into_owned() else { continue };
            if block.data[9] != 17 {
                simulated += 1;
                continue;
            }
            let number = u16::from_be_bytes([block.data[20], block.data[21]]);
            let whole = packet(number % 3 > 0, number, usize::from(number) * 7);
            assert_eq!(block.original_len as usize, whole.len());
            assert_eq!(block.data[..], whole[..whole.len().min(96)], "{number}");
            seen[block.interface_id as usize] += 1;
            comments +=
                u64::from(block.options.iter().any(|it| matches!(it, EnhancedPacketOption::Comment(_))));
        }
        assert!(reader.interfaces().iter().all(|it| it.snaplen == 96));
        assert_eq!(seen[..2], [200, 200], "each packet is captured at the server and at the phone");
        assert!(simulated > 30, "{simulated}");
        assert_eq!(comments, if radio { seen.iter().sum() } else { 0 });
        // All 200 real packets pass the RNC. The Node B captures only the packets for the phone,
        // which it sends over the air.
        assert_eq!(seen[2..], if radio { [200, 133] } else { [0, 0] });
    }
}
