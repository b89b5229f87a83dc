//! 10 bytes of payload per PDU, TTIs of 10 ms.

use nodeb_base::units::Time;

use super::super::params::StatusFormat;
use super::super::pdu::{Command, CommandKind, Pdu, Status};
use super::super::status::report;
use super::{Air, Delivered, Entities, entities, params};
use crate::rlc::testing::MS;

/// Only the last PDU, the last retransmission, a full window and the poll timer poll; the prohibit timer has
/// no effect, and reports take 20 ms.
const PLAIN: &str = "
    tx_window = 8
    rx_window = 8
    command_timer = '100 ms'
    poll = { every_pdus = 1000, window_share = 1.0, timer = '200 ms' }
    status = { prohibit = '1 ms', delay = '20 ms' }
";

fn air(more: &str, order: Delivered, per_tti: usize) -> Air<Entities> {
    let mut table: toml::Table = PLAIN.parse().unwrap();
    for (key, value) in more.parse::<toml::Table>().unwrap() {
        match (table.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(from)) => into.extend(from),
            (_, value) => drop(table.insert(key, value)),
        }
    }
    Air::new(entities(&params(&table.to_string()), order, 1), per_tti)
}

/// The transmissions with these indices are lost.
fn nth(lost: &'static [usize]) -> impl FnMut(&Pdu) -> bool {
    let mut count = 0;
    move |_| {
        count += 1;
        lost.contains(&(count - 1))
    }
}

#[test]
fn a_lost_pdu_is_reported_and_retransmitted() {
    let mut air = air("", Delivered::InSequence, 2);
    air.push(0..3, 20);
    air.run(10, nth(&[1]));
    // Each packet of 20 bytes takes two whole PDUs, so there are 6 PDUs. PDU 1 is detected as
    // missing when PDU 2 arrives, at 20 ms; the status report arrives at 40 ms. The last PDU polls
    // at 20 ms. The report that answers this poll is sent at 30 ms and names PDU 1 again. It
    // arrives at 50 ms, just when the retransmission of PDU 1 arrives, so PDU 1 is retransmitted
    // once more, in vain.
    assert_eq!(
        air.data(),
        [
            (0, 0, false),
            (0, 1, false),
            (10, 2, false),
            (10, 3, false),
            (20, 4, false),
            (20, 5, true),
            (40, 1, true),
            (50, 1, true),
        ]
    );
    assert_eq!(air.delivered, [(50, 0), (50, 1), (50, 2)]);
    assert!(air.is_quiet());
}

#[test]
fn out_of_sequence_a_lost_pdu_delays_only_its_packet() {
    let mut air = air("", Delivered::OutOfSequence, 2);
    air.push(0..3, 20);
    air.run(10, nth(&[1]));
    assert_eq!(air.delivered, [(20, 1), (30, 2), (50, 0)]);
}

/// PDU 3 is missing at 30 ms; after the report of 20 ms and a prohibit timer of 35 ms, the next is sent at 55
/// ms.
#[test]
fn reports_wait_for_the_prohibit_timer() {
    let mut air = air("status.prohibit = '35 ms'", Delivered::InSequence, 2);
    air.push(0..3, 20);
    air.run(12, nth(&[1, 3]));
    let again: Vec<_> = air.data().into_iter().skip(6).collect();
    assert_eq!(again, [(40, 1, true), (80, 3, true)]);
    assert_eq!(air.delivered, [(50, 0), (90, 1), (90, 2)]);
    assert!(air.is_quiet());
}

#[test]
fn the_poll_timer_recovers_a_lost_last_pdu() {
    let mut air = air("", Delivered::InSequence, 2);
    air.push(0..1, 20);
    air.run(30, nth(&[1]));
    // The poll sent at 0 ms was lost with PDU 1, so the poll timer expires at 200 ms and PDU 1 is
    // sent again.
    assert_eq!(air.data(), [(0, 0, false), (0, 1, true), (200, 1, true)]);
    assert_eq!(air.delivered, [(210, 0)]);
    assert!(air.is_quiet());
}

/// The window of 8 PDUs is full after 4 TTIs.
#[test]
fn a_full_window_polls_and_waits_for_the_report() {
    let mut air = air("", Delivered::InSequence, 2);
    air.push(0..1, 200);
    air.run(12, |_| false);
    let data = air.data();
    let polls: Vec<_> = data.iter().filter(|(_, _, poll)| *poll).collect();
    // PDU 7 fills the window at 30 ms and polls. The report arrives at 60 ms.
    assert_eq!(polls[0], &(30, 7, true));
    assert_eq!(data[8], (60, 8, false));
    assert_eq!(polls[1], &(90, 15, true));
    assert_eq!(air.delivered, []);
    air.run(6, |_| false);
    assert_eq!(air.delivered, [(140, 0)]);
}

#[test]
fn polls_follow_the_number_of_pdus_and_packets() {
    let mut by_pdus = air("poll.every_pdus = 3", Delivered::InSequence, 1);
    by_pdus.push(0..1, 80);
    by_pdus.run(8, |_| false);
    let polls: Vec<u64> = by_pdus.data().iter().filter(|(.., poll)| *poll).map(|(_, sn, _)| *sn).collect();
    assert_eq!(polls, [2, 5, 7]);
    let mut by_packets = air("poll.every_packets = 2", Delivered::InSequence, 1);
    by_packets.push(0..5, 10);
    by_packets.run(8, |_| false);
    let polls: Vec<u64> = by_packets.data().iter().filter(|(.., poll)| *poll).map(|(_, sn, _)| *sn).collect();
    assert_eq!(polls, [1, 3, 4]);
}

/// After two transmissions with MaxDAT = 3.
#[test]
fn a_packet_is_discarded_after_max_dat() {
    let mut air = air("max_dat = 3", Delivered::InSequence, 2);
    air.push(0..2, 20);
    let mut commands = 0;
    air.run(40, |pdu| match pdu {
        Pdu::Data(data) => data.sn == 1,
        // Besides PDU 1, the first transmission of the command is lost.
        Pdu::Command(_) => {
            commands += 1;
            commands == 1
        }
    });
    let commands: Vec<_> = air.sent.iter().filter(|(_, pdu)| matches!(pdu, Pdu::Command(_))).collect();
    let command = Command { kind: CommandKind::MoveWindow, sn: 2, kept: 1 };
    // PDU 1 is reported missing at 40 ms. Its retransmission, which polls, is lost, too. When the
    // poll timer expires after 200 ms, PDU 1 would be sent a third time, so it is given up. The
    // command is retransmitted after 100 ms.
    assert_eq!(commands[0].0, 240);
    assert_eq!(commands.len(), 2);
    assert_eq!(commands[0].1, Pdu::Command(command));
    assert_eq!(commands[1].0, commands[0].0 + 100);
    assert_eq!(air.data().iter().filter(|(_, sn, _)| *sn == 1).count(), 2);
    assert_eq!(air.dropped, [0]);
    assert_eq!(air.delivered, [(commands[1].0 + 10, 1)]);
    assert!(air.is_quiet());
}

#[test]
fn a_shared_pdu_is_kept_after_its_first_packet_is_discarded() {
    let mut air = air("discard_timer = '150 ms'\npoll.timer = '50 ms'", Delivered::InSequence, 2);
    // A packet of 15 bytes takes 10 bytes of one PDU and 5 bytes of the next PDU, which also holds
    // a length indicator and 4 bytes of the next packet.
    air.push(0..1, 15);
    air.now = Time(90 * MS);
    air.push(1..2, 15);
    air.now = Time(100 * MS);
    // PDUs 0 and 1 are lost at 100 ms, and again when they are retransmitted at 140 ms. Packet 0 is
    // discarded at 150 ms. At 190 ms the poll timer expires, so PDU 1 is retransmitted with a poll.
    air.run(20, nth(&[0, 1, 4, 5]));
    let command = Command { kind: CommandKind::MoveWindow, sn: 1, kept: 1 };
    assert!(air.sent.contains(&(150, Pdu::Command(command))), "{:?}", air.sent);
    assert_eq!(air.dropped, [0]);
    assert_eq!(air.delivered, [(200, 1)]);
    assert!(air.is_quiet());
}

/// No part of them was sent.
#[test]
fn unsent_packets_are_discarded_without_signalling() {
    let mut air = air("discard_timer = '25 ms'\nstatus.delay = '10 ms'", Delivered::InSequence, 2);
    air.push(0..2, 20);
    air.now = Time(25 * MS);
    air.on_time();
    assert_eq!(air.dropped, [0, 1]);
    air.now = Time(30 * MS);
    air.push(2..3, 20);
    air.run(20, |_| false);
    assert_eq!(air.sent.len(), 2);
    assert_eq!(air.delivered, [(40, 2)]);
    assert!(air.is_quiet());
}

#[test]
fn a_reset_loses_only_packets_of_which_a_part_was_sent() {
    let mut air = air("max_dat = 2\nat_max_dat = 'reset'", Delivered::InSequence, 2);
    air.push(0..2, 20);
    air.run(4, nth(&[1]));
    // PDU 1 would be sent a second time at 40 ms, so the sender sends RESET instead. A new packet
    // must wait until the reset is complete.
    air.push(2..3, 20);
    air.run(12, |_| false);
    let commands: Vec<_> = air.sent.iter().filter(|(_, pdu)| matches!(pdu, Pdu::Command(_))).collect();
    let command = Command { kind: CommandKind::Reset, sn: 4, kept: 2 };
    assert_eq!(commands, [&(40, Pdu::Command(command))]);
    assert_eq!(air.dropped, [0, 1]);
    // RESET arrives at 50 ms, and its acknowledgement arrives at the sender at 70 ms.
    assert_eq!(air.data().into_iter().skip(4).collect::<Vec<_>>(), [(70, 4, false), (70, 5, true)]);
    assert_eq!(air.delivered, [(80, 2)]);
    assert!(air.is_quiet());
}

#[test]
fn reports_encode_runs_as_list_or_bitmap() {
    let missing = [3..4, 6..9, 40..80];
    let whole = |format| report(format, 40, &missing, 90);
    // A pair names a run of at most 16 PDUs, so three pairs name PDUs 40 to 79.
    assert_eq!(
        whole(StatusFormat::List),
        [Status { acknowledged: 90, missing: vec![3..4, 6..9, 40..56, 56..72, 72..80] }]
    );
    assert_eq!(whole(StatusFormat::Bitmap), [Status { acknowledged: 90, missing: missing.to_vec() }]);
}

/// A STATUS PDU of 9 bytes holds two pairs. The first acknowledges all PDUs before those of the second; the
/// others acknowledge only the PDUs received in order.
#[test]
fn each_pdu_of_a_report_acknowledges_only_its_own_part() {
    let missing = [3..4, 6..7, 9..10, 12..13, 15..16];
    let parts = report(StatusFormat::List, 9, &missing, 20);
    let expected = [(9, 0..2), (3, 2..4), (3, 4..5)];
    let expected =
        expected.map(|(acknowledged, named)| Status { acknowledged, missing: missing[named].to_vec() });
    assert_eq!(parts, expected);
    // A STATUS PDU of 9 bytes holds 20 + 20 fixed bits and 4 octets of bitmap, which report on 32
    // PDUs from the first missing one.
    let parts = report(StatusFormat::Bitmap, 9, &[3..4, 30..50, 60..61], 70);
    assert_eq!(
        parts,
        [
            Status { acknowledged: 35, missing: vec![3..4, 30..35] },
            Status { acknowledged: 3, missing: vec![35..50, 60..61] },
        ]
    );
    assert_eq!(report(StatusFormat::List, 9, &[], 7), [Status { acknowledged: 7, missing: vec![] }]);
}
