use std::collections::HashMap;
use std::fs::File;

use etherparse::{SlicedPacket, TransportSlice};
use pcap_file::pcapng::{Block, PcapNgReader};

use super::*;
use crate::frame::{PROXY, Socket, phone_socket, proxy_client_socket};

const SCENARIO: &str = r#"
name = "two phones"
[wired]
loss = 0.02
[radio.dch]
bler = 0.1
[tcp.classic]
control.sack = {}
[[users]]
count = 2
stagger = "1 s"
traffic.ftp = { size = "200 kB", request = "300 B" }
"#;

fn scenario() -> Scenario {
    scenario::from_toml(SCENARIO, "test", &[]).unwrap()
}

fn capture(snap_length: u32) -> (tempfile::NamedTempFile, RunResult) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let result = run_into(&scenario(), file.path(), &keeping(snap_length)).unwrap();
    (file, result)
}

fn keeping(snap_length: u32) -> Options {
    Options { snap_length, ..Options::default() }
}

fn run_into(scenario: &Scenario, path: &Path, options: &Options) -> Result<RunResult> {
    run(scenario, 7, 0, &Control::default(), path, options.clone())
}

fn packets<const N: usize>(path: &Path) -> [Vec<EnhancedPacketBlock<'static>>; N] {
    let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
    let mut packets = [const { Vec::new() }; N];
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap().into_owned() {
            packets[packet.interface_id as usize].push(packet);
        }
    }
    packets
}

#[test]
fn section_has_comment_program_and_interfaces() {
    let (file, _) = capture(DEFAULT_SNAP_LENGTH);
    let mut reader = PcapNgReader::new(File::open(file.path()).unwrap()).unwrap();
    while reader.next_block().is_some() {}
    let [SectionHeaderOption::Comment(comment), SectionHeaderOption::UserApplication(program)] =
        &reader.section().options[..]
    else {
        panic!("{:?}", reader.section());
    };
    assert_eq!(*program, format!("nodeb {VERSION}"));
    assert!(comment.contains(r#""two phones""#) && comment.contains("seed 7, run 0"), "{comment}");
    assert_eq!(scenario::from_toml(comment, "comment", &[]), Ok(scenario()));
    let names = reader.interfaces().iter().map(|interface| {
        assert_eq!((interface.linktype, interface.snaplen), (DataLink::RAW, DEFAULT_SNAP_LENGTH));
        assert!(interface.options.contains(&InterfaceDescriptionOption::IfTsResol(9)));
        interface.options[0].clone()
    });
    let as_option = |name: &'static str| InterfaceDescriptionOption::IfName(name.into());
    assert_eq!(names.collect::<Vec<_>>(), ["server", "phone"].map(as_option));
}

#[test]
fn packets_are_complete_with_valid_checksums() {
    let (file, result) = capture(65_535);
    let [server, phone] = packets(file.path());
    let (mut data, mut acks) = (0, 0);
    for packet in server.iter().chain(&phone) {
        assert_eq!(packet.data.len(), packet.original_len as usize);
        let sliced = SlicedPacket::from_ip(&packet.data).unwrap();
        let (Some(ip), Some(TransportSlice::Tcp(tcp))) = (sliced.net, sliced.transport) else {
            panic!("not TCP over IP: {packet:?}");
        };
        let ip = ip.ipv4_ref().unwrap().header();
        assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
        assert_eq!(tcp.checksum(), tcp.calc_checksum_ipv4(ip.to_header().source, ip.destination()).unwrap());
        assert!(tcp.options_iterator().all(|option| option.is_ok()));
        let to_phone = tcp.source_port() == frame::SERVER_PORT;
        data += u64::from(to_phone && packet.interface_id == 0);
        acks += u64::from(!to_phone);
    }
    assert_eq!(data, result.flows.iter().map(|flow| flow.sender.packets).sum::<u64>());
    assert!(acks > data);
}

#[test]
fn packets_are_in_order_of_time_at_each_interface() {
    let (file, _) = capture(DEFAULT_SNAP_LENGTH);
    let [server, phone] = packets(file.path());
    for seen in [&server, &phone] {
        assert!(seen.is_sorted_by_key(|packet| packet.timestamp));
    }
    assert!(phone.len() < server.len(), "some segments are lost before the phone");
    assert_eq!(phone[0].timestamp, Duration::ZERO);
    assert_eq!(phone[0].options, [EnhancedPacketOption::Flags(OUTBOUND)]);
    assert_eq!(server[0].options, [EnhancedPacketOption::Flags(INBOUND)]);
}

#[test]
fn short_snap_length_keeps_headers_and_original_length() {
    let (short, _) = capture(DEFAULT_SNAP_LENGTH);
    let (long, _) = capture(65_535);
    for (short, long) in
        packets::<2>(short.path()).iter().flatten().zip(packets::<2>(long.path()).iter().flatten())
    {
        assert_eq!(short.original_len, long.original_len);
        assert_eq!(short.data[..], long.data[..short.data.len()]);
        assert_eq!(short.data.len(), long.data.len().min(80));
    }
}

#[test]
fn capturing_is_repeatable_and_changes_no_result() {
    let (first, result) = capture(128);
    let (second, _) = capture(128);
    assert_eq!(std::fs::read(first.path()).unwrap(), std::fs::read(second.path()).unwrap());
    let plain = nodeb_sim::run(&scenario(), 7, 0, &Control::default()).unwrap();
    assert_eq!(format!("{:?}", plain.flows), format!("{:?}", result.flows));
}

#[test]
fn unwritable_file_is_an_error_before_the_run() {
    let refused = |path: &str, snap_length| {
        let cancelled = Control::default();
        // If the run started, the error would be that of its cancellation. So this test shows that
        // the capture fails before the run.
        cancelled.cancel();
        run(&scenario(), 7, 0, &cancelled, Path::new(path), keeping(snap_length)).unwrap_err().to_string()
    };
    assert!(refused("/no/such/folder/x.pcapng", 128).starts_with("cannot write the capture /no/such"));
    assert!(refused("/dev/null", 79).starts_with("a snap length of 79 B"));
    if cfg!(target_os = "linux") {
        assert!(refused("/dev/full", 128).contains("No space left on device"));
    }
}

#[test]
fn cancelled_run_keeps_the_packets_so_far() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let cancelled = Control::default();
    cancelled.cancel();
    let outcome = run(&scenario(), 7, 0, &cancelled, file.path(), keeping(128));
    assert!(matches!(outcome, Err(Error::Run(nodeb_sim::Error::Cancelled))));
    assert!(!packets::<2>(file.path())[1].is_empty());
}

#[test]
fn flows_have_distinct_sockets() {
    let sockets: HashMap<_, _> = (0..100_000)
        .map(|flow| {
            let Socket { address, port } = phone_socket(flow, flow);
            ((address, port), flow)
        })
        .collect();
    assert_eq!(sockets.len(), 100_000);
}

fn addresses(packet: &EnhancedPacketBlock) -> ([u8; 4], [u8; 4]) {
    let ip = SlicedPacket::from_ip(&packet.data).unwrap().net.unwrap();
    let ip = ip.ipv4_ref().unwrap().header();
    (ip.source(), ip.destination())
}

/// A phone that also downloads has the same address in both connections.
#[test]
fn phone_opens_its_uploads() {
    let text = "radio.dch = {}\n[[users]]\ntraffic.ftp.size = \"20 kB\"\nupload.ftp.size = \"30 kB\"\n";
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let result = run_into(&scenario, file.path(), &keeping(65_535)).unwrap();
    let [_, phone] = packets(file.path());
    let socket = phone_socket(0, 1);
    assert_eq!(socket.address, phone_socket(0, 0).address);
    let tcp = |packet: &EnhancedPacketBlock| {
        let transport = SlicedPacket::from_ip(&packet.data).unwrap().transport;
        let Some(TransportSlice::Tcp(tcp)) = transport else { panic!("no TCP") };
        (tcp.source_port(), tcp.syn(), tcp.ack(), tcp.payload().len() as u64)
    };
    let sent: Vec<_> = phone.iter().map(tcp).filter(|(port, ..)| *port == socket.port).collect();
    assert!(sent[0].1 && !sent[0].2, "a SYN comes first: {:?}", sent[0]);
    assert_eq!(sent.len() as u64, result.flows[1].sender.packets);
    let bytes: u64 = sent.iter().map(|(.., bytes)| bytes).sum();
    assert!(bytes >= 30_000 && sent[1..].iter().all(|(_, syn, ack, _)| !syn && *ack));
}

#[test]
fn proxy_is_captured_on_both_sides() {
    let text = format!("proxy = \"split\"\nsnoop = {{}}\n{SCENARIO}[core]\ndelay = \"10 ms\"\n");
    let scenario = scenario::from_toml(&text, "test", &[]).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let result = run_into(&scenario, file.path(), &keeping(65_535)).unwrap();
    let [server, phone, proxy] = packets(file.path());
    let phones = [0, 1].map(|flow| phone_socket(flow, flow).address);
    for packet in &server {
        let (from, to) = addresses(packet);
        assert!([from, to].contains(&PROXY) && [from, to].contains(&frame::SERVER));
    }
    for packet in &phone {
        let (from, to) = addresses(packet);
        assert!([from, to].contains(&PROXY) && phones.iter().any(|phone| [from, to].contains(phone)));
    }
    let sent = |packets: &[EnhancedPacketBlock], to: &dyn Fn([u8; 4]) -> bool| {
        packets.iter().filter(|packet| addresses(packet).0 == PROXY && to(addresses(packet).1)).count() as u64
    };
    let on_air: u64 = result.flows.iter().map(|flow| flow.sender.packets).sum();
    assert_eq!(sent(&proxy, &|to| phones.contains(&to)), on_air);
    assert!(sent(&proxy, &|to| to == frame::SERVER) > 0);
    assert_ne!(proxy_client_socket(0), proxy_client_socket(1));
}

#[test]
fn single_interface_has_the_packets_of_a_full_capture() {
    let (both, _) = capture(128);
    let [_, phone] = packets(both.path());
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = Options { interfaces: vec![Interface::Phone], ..keeping(128) };
    run_into(&scenario(), file.path(), &options).unwrap();
    let [alone] = packets(file.path());
    assert_eq!(alone.len(), phone.len());
    assert!(alone.iter().zip(&phone).all(|(a, b)| (a.timestamp, &a.data) == (b.timestamp, &b.data)));
    let options = Options { interfaces: vec![Interface::Proxy], ..Options::default() };
    let refused = run_into(&scenario(), file.path(), &options).unwrap_err().to_string();
    assert!(refused.ends_with("as it has no proxy; expected one of: server, phone"), "{refused}");
}

fn comment_of<'a>(packet: &'a EnhancedPacketBlock) -> Option<&'a str> {
    packet.options.iter().find_map(|option| match option {
        EnhancedPacketOption::Comment(text) => Some(text.as_ref()),
        _ => None,
    })
}

fn with_radio(text: &str) -> (tempfile::NamedTempFile, RunResult) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let scenario = scenario::from_toml(text, "test", &[]).unwrap();
    let options = Options { radio: true, ..keeping(65_535) };
    let result = run_into(&scenario, file.path(), &options).unwrap();
    (file, result)
}

#[test]
fn radio_option_adds_interfaces_and_comments_on_fates() {
    let (file, result) = with_radio(SCENARIO);
    let [server, phone, node_b] = packets(file.path());
    let (plain, _) = capture(65_535);
    let [server_alone, phone_alone] = packets(plain.path());
    for (with, without) in [(&server, &server_alone), (&phone, &phone_alone)] {
        assert_eq!(with.len(), without.len());
        assert!(with.iter().zip(without).all(|(a, b)| (a.timestamp, &a.data) == (b.timestamp, &b.data)));
        assert!(without.iter().all(|packet| comment_of(packet).is_none()));
    }
    let downlink = |packet: &&EnhancedPacketBlock| addresses(packet).0 == frame::SERVER;
    let entered: u64 = result.bearers.iter().map(|row| row.counts.packets_in).sum();
    assert_eq!(node_b.iter().filter(downlink).count() as u64, entered);
    assert!(node_b.is_sorted_by_key(|packet| packet.timestamp));
    let all = || server.iter().chain(&phone).chain(&node_b);
    assert!(all().all(|packet| comment_of(packet).is_some()));
    let count = |interface: &[EnhancedPacketBlock], text: &str| {
        interface
            .iter()
            .filter(|packet| comment_of(packet).is_some_and(|comment| comment.contains(text)))
            .count() as u64
    };
    let retransmissions: u64 = result.flows.iter().map(|flow| flow.sender.retransmissions).sum();
    assert_eq!(count(&server, "retransmission"), retransmissions);
    let down = result.links.iter().find(|row| row.link.contains("down")).unwrap();
    assert_eq!(count(&server, "at the wired link: link loss"), down.counts.lost);
    assert_eq!(count(&node_b, "lost"), 0, "a bearer that retransmits without limit loses none");
    assert!(count(&phone, "retransmitted") > 0);
}

/// An additional comment follows the comment on the packet's fate, or stands alone if packets have
/// no comments on fates. It belongs to the packet with the same number in the run.
#[test]
fn further_comments_are_added_by_packet_number() {
    let scenario = scenario();
    let file = tempfile::NamedTempFile::new().unwrap();
    for radio in [false, true] {
        let remarks = (1..=u64::from(u16::MAX)).map(|number| (number, format!("number {number}.")));
        let (remarks, about) = (remarks.collect(), vec!["Comments have numbers.".to_owned()]);
        run_into(&scenario, file.path(), &Options { radio, remarks, about, ..keeping(65_535) }).unwrap();
        let [server, phone, _] = packets(file.path());
        let number = |packet: &EnhancedPacketBlock| {
            let text = comment_of(packet).unwrap().to_owned();
            assert_eq!(text.contains("; number"), radio, "{text}");
            text.rsplit_once("number ").unwrap().1.trim_end_matches('.').parse::<u64>().unwrap()
        };
        let is_sent = |packet: &&EnhancedPacketBlock| addresses(packet).0 == frame::SERVER;
        let mut sent: Vec<u64> = server.iter().filter(is_sent).map(number).collect();
        sent.extend(phone.iter().filter(|packet| !is_sent(packet)).map(number));
        sent.sort_unstable();
        assert!(sent.iter().copied().eq(1..=sent.len() as u64), "{sent:?}");
    }
}

#[test]
fn rnc_captures_packets_before_its_node_b() {
    let text =
        "duration = '3 s'\n[radio.hsdpa]\niub = { delay = '15 ms' }\n[[users]]\ntraffic.ftp.size = '1 MB'";
    let (file, _) = with_radio(text);
    let [_, _, rnc, node_b] = packets(file.path());
    let down = |packets: &[EnhancedPacketBlock<'static>]| {
        packets.iter().filter(|packet| addresses(packet).0 == frame::SERVER).cloned().collect::<Vec<_>>()
    };
    let (at_rnc, on_air) = (down(&rnc), down(&node_b));
    assert!(!on_air.is_empty() && on_air.len() <= at_rnc.len());
    assert_eq!(node_b.len(), on_air.len(), "packets from phones are captured at the RNC");
    for (first, then) in at_rnc.iter().zip(&on_air) {
        assert!(first.timestamp <= then.timestamp && first.data == then.data);
    }
}

#[test]
fn lte_captures_pdcp_pdus_of_both_directions() {
    let text = "duration = '3 s'\n[radio.lte]\nuplink.scheduled = {}\n[[users]]\ncount = 2\n\
                traffic.ftp.size = '100 kB'\nue.channel.constant.snr_db = 15.0";
    let (file, _) = with_radio(text);
    let [server, phone, node_b, pdcp] = packets(file.path());
    let framing = pdcp::overhead(SnLength::Bits12) as usize;
    let bytes = |packets: &[EnhancedPacketBlock], skipped: usize| {
        let mut all: Vec<_> = packets.iter().map(|packet| packet.data[skipped..].to_vec()).collect();
        all.sort_unstable();
        all
    };
    let is_sent =
        |packet: &&EnhancedPacketBlock| packet.options.contains(&EnhancedPacketOption::Flags(OUTBOUND));
    let sent: Vec<_> = server.iter().chain(&phone).filter(is_sent).cloned().collect();
    assert!(sent.len() > 100 && node_b.len() == pdcp.len());
    assert_eq!(bytes(&pdcp, framing), bytes(&sent, 0));
    assert!(pdcp.iter().all(|packet| packet.original_len as usize == packet.data.len()));
    assert!(pdcp.iter().all(|packet| comment_of(packet).is_some_and(|text| text.contains("received"))));
}

#[test]
fn radio_interfaces_need_the_radio_option() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = Options { interfaces: vec![Interface::NodeB], ..keeping(128) };
    let refused = run_into(&scenario(), file.path(), &options).unwrap_err().to_string();
    assert!(refused.ends_with("is not captured; expected one of: server, phone"), "{refused}");
    let options = Options { radio: true, interfaces: vec![Interface::Rnc], ..keeping(128) };
    let refused = run_into(&scenario(), file.path(), &options).unwrap_err().to_string();
    assert!(refused.ends_with("expected one of: server, phone, node_b"), "{refused}");
}

/// Even if a Snoop agent, which has no interface, sends packets too.
#[test]
fn radio_option_changes_no_other_interface() {
    let lossy = SCENARIO.replace("[radio.dch]\nbler = 0.1", "[radio.link]\nloss = 0.05");
    for proxy in ["", "proxy = \"split\"\n"] {
        let text = format!("{proxy}snoop = {{}}\n{lossy}");
        let scenario = scenario::from_toml(&text, "test", &[]).unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        run_into(&scenario, file.path(), &keeping(65_535)).unwrap();
        let (with, _) = with_radio(&text);
        let (plain, with) = (packets::<4>(file.path()), packets::<4>(with.path()));
        for (without, with) in plain.iter().zip(&with).take(2) {
            let contents = |packet: &EnhancedPacketBlock| (packet.timestamp, packet.data.to_vec());
            assert_eq!(
                with.iter().map(contents).collect::<Vec<_>>(),
                without.iter().map(contents).collect::<Vec<_>>()
            );
        }
    }
}

fn numbers_of_phone(packets: &[EnhancedPacketBlock]) -> Vec<(u32, bool, u32, usize)> {
    let from_phone = packets.iter().filter(|packet| addresses(packet).0 != frame::SERVER);
    let numbers = from_phone.map(|packet| {
        let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ip(&packet.data).unwrap().transport else {
            panic!("not TCP: {packet:?}");
        };
        (tcp.sequence_number(), tcp.ack(), tcp.acknowledgment_number(), tcp.payload().len())
    });
    numbers.collect()
}

#[test]
fn headers_match_at_both_ends_and_repeated_request_keeps_its_number() {
    for family in ["linux", "classic"] {
        for position in 1..=3 {
            let text = format!(
                "duration = '20 s'\n[uplink]\ndelay = '5 ms'\nloss.list.positions = [{position}]\n\
                 [wired]\ndelay = '10 ms'\n[radio.link]\nrate = '1 Mbps'\n[tcp.{family}]\n[[users]]\n\
                 traffic.ftp = {{ size = '5 kB', request = '300 B' }}"
            );
            let scenario = scenario::from_toml(&text, "test", &[]).unwrap();
            let file = tempfile::NamedTempFile::new().unwrap();
            run_into(&scenario, file.path(), &keeping(65_535)).unwrap();
            let [server, phone] = packets(file.path()).map(|packets| numbers_of_phone(&packets));
            let mut sent = phone.clone();
            sent.remove(position);
            assert_eq!(server, sent, "{family}, without {position} of {phone:?}");
            let asks = phone.iter().filter(|(.., payload)| *payload > 0);
            assert!(asks.clone().count() > 0 && asks.clone().all(|(seq, ..)| *seq == 1), "{phone:?}");
        }
    }
}
