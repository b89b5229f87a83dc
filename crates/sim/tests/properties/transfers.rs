use std::collections::{HashMap, HashSet};

use nodeb_base::units::Time;
use nodeb_net::Core;
use nodeb_radio::RadioSpec;
use nodeb_sim::metrics::series::TtiRecord;
use nodeb_sim::metrics::series::{SegmentEvent, SegmentRow};
use nodeb_sim::metrics::{FlowRow, RunResult};
use nodeb_sim::scenario::Direction;
use nodeb_sim::traffic::TrafficSpec;
use nodeb_sim::{Control, Scenario, run};
use nodeb_tcp::TcpSpec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cases::{self, Case};

fn simulate(scenario: &Scenario) -> RunResult {
    run(scenario, scenario.seed, 0, &Control::default()).expect("the run is not cancelled")
}

fn segments_of(result: &RunResult, user: u64) -> impl Iterator<Item = &SegmentRow> {
    result.series.segments.iter().filter(move |row| row.user == user)
}

fn everything_arrives(case: &Case, flow: &FlowRow) -> Result<(), TestCaseError> {
    prop_assert!(flow.delivered_bytes <= flow.app_bytes);
    if case.completes {
        prop_assert!(flow.complete, "{flow:?}");
    }
    if flow.complete {
        prop_assert_eq!(flow.delivered_bytes, flow.app_bytes);
        prop_assert!(flow.transfer_s > 0.0 && flow.download_s > 0.0, "{flow:?}");
    }
    Ok(())
}

/// Transfers begin, arrive and end in this order, one after the other; number and bytes agree with the flow.
fn transfers_add_up(result: &RunResult, flow: &FlowRow) -> Result<(), TestCaseError> {
    let (mut count, mut bytes, mut last) = (0, 0, Time::ZERO);
    for row in result.series.transfers.iter().filter(|row| row.user == flow.user) {
        prop_assert!(row.begun < row.arrived && row.arrived <= row.end && last <= row.end, "{row:?}");
        (count, bytes, last) = (count + 1, bytes + row.bytes, row.end);
    }
    prop_assert_eq!(count, flow.transfers);
    prop_assert!(bytes <= flow.delivered_bytes && (!flow.complete || bytes == flow.app_bytes), "{flow:?}");
    Ok(())
}

/// At most as often as it was sent before.
fn segments_are_conserved(result: &RunResult, flow: &FlowRow) -> Result<(), TestCaseError> {
    let mut in_flight: HashMap<u64, u64> = HashMap::new();
    let (mut sent, mut retransmitted) = (0, 0);
    for row in segments_of(result, flow.user) {
        let copies = in_flight.entry(row.seq).or_default();
        match row.event {
            SegmentEvent::Send => {
                sent += 1;
                retransmitted += u64::from(row.retransmission);
                *copies += 1;
            }
            SegmentEvent::Resend => *copies += 1,
            SegmentEvent::Drop | SegmentEvent::Deliver => {
                prop_assert!(*copies > 0, "{row:?} was not sent, or it arrived twice");
                *copies -= 1;
            }
            SegmentEvent::Ack => {}
        }
    }
    prop_assert_eq!((sent, retransmitted), (flow.sender.packets, flow.sender.retransmissions));
    Ok(())
}

/// Naive ends that only keep lists, for TCP with segments 0 (the SYN), 1, 2, ...
fn numbers_are_right(
    case: &Case,
    packet_bytes: u64,
    result: &RunResult,
    flow: &FlowRow,
) -> Result<(), TestCaseError> {
    let payload = packet_bytes - 40;
    let last = flow.app_bytes.div_ceil(payload);
    let (mut new, mut acked) = (0, None);
    let mut here = vec![false; last as usize + 1];
    let mut in_order = 0;
    let acks_in_order = keeps_order(&case.scenario, opposite(direction_of(case, flow)));
    for row in segments_of(result, flow.user) {
        let seq = row.seq;
        prop_assert!(seq <= last, "segment {} of {}: {:?}", seq, last, row);
        match row.event {
            SegmentEvent::Send => {
                prop_assert!(acked != Some(last), "sent after the last ACK: {row:?}");
                prop_assert!(seq <= new, "a segment was skipped before {}", seq);
                prop_assert_eq!(row.retransmission, seq < new, "{:?}", row);
                new = new.max(seq + 1);
            }
            SegmentEvent::Resend | SegmentEvent::Drop => {}
            SegmentEvent::Deliver => {
                here[seq as usize] = true;
                while here.get(in_order) == Some(&true) {
                    in_order += 1;
                }
            }
            SegmentEvent::Ack => {
                let back = acked.is_some_and(|before| before > seq);
                prop_assert!(!back || !acks_in_order, "an ACK went back: {row:?}");
                prop_assert!((seq as usize) < in_order, "acknowledged before it arrived: {row:?}");
                acked = acked.max(Some(seq));
            }
        }
    }
    prop_assert_eq!((in_order.saturating_sub(1) as u64 * payload).min(flow.app_bytes), flow.delivered_bytes);
    prop_assert_eq!(flow.complete, acked == Some(last));
    Ok(())
}

fn direction_of(case: &Case, flow: &FlowRow) -> Direction {
    case.scenario.connections()[flow.user as usize].direction
}

fn opposite(direction: Direction) -> Direction {
    if direction == Direction::Down { Direction::Up } else { Direction::Down }
}

/// No packet can overtake another.
fn keeps_order(scenario: &Scenario, direction: Direction) -> bool {
    let radio = &serde_json::to_value(&scenario.radio).unwrap()[scenario.radio.key()];
    let air = match direction {
        Direction::Down => {
            radio.get("delivery").is_none_or(|order| order == "in_sequence")
                && radio.get("reordering").is_none()
                && scenario.snoop.is_none()
        }
        Direction::Up => scenario.uplink.reordering.is_none(),
    };
    air && scenario.wired.reordering.is_none() && scenario.core.as_ref().is_none_or(Core::keeps_order)
}

/// Except for lost ones.
fn order_is_kept(result: &RunResult, flow: &FlowRow) -> Result<(), TestCaseError> {
    let of = |event| segments_of(result, flow.user).filter(move |row| row.event == event);
    let mut sent = of(SegmentEvent::Send);
    for delivered in of(SegmentEvent::Deliver) {
        let found =
            sent.any(|row| row.seq == delivered.seq && row.retransmission == delivered.retransmission);
        prop_assert!(found, "out of order: {delivered:?}");
    }
    Ok(())
}

fn capacity_is_respected(case: &Case, result: &RunResult) -> Result<(), TestCaseError> {
    for bearer in &result.bearers {
        // The channel rate is rounded down to whole bits per second, so 1 bit/s is added.
        let rate = bearer.channel_rate_bps as f64 + 1.0;
        if bearer.counts.ttis > 0 {
            let bits = bearer.counts.bytes_delivered as f64 * 8.0;
            // The radio `wcdma` serves several users in the same slot with separate codes, so each user has
            // the channel rate.
            let simultaneous = if bearer.kind == "wcdma" { result.flows.len() as f64 } else { 1.0 };
            prop_assert!(bits <= bearer.active_s * rate * simultaneous, "{bearer:?}");
        }
        let downloads = |flow: &&FlowRow| flow.complete && direction_of(case, flow) == Direction::Down;
        for flow in result.flows.iter().filter(downloads) {
            prop_assert!(flow.ip_bytes as f64 * 8.0 <= flow.transfer_s * rate, "{flow:?} {bearer:?}");
        }
    }
    Ok(())
}

fn bearers_and_segments_agree(case: &Case, result: &RunResult) -> Result<(), TestCaseError> {
    let connections = case.scenario.connections();
    let is_upload = |user: u64| connections[user as usize].direction == Direction::Up;
    // A bearer delivers the segments of downloads and the ACKs of uploads.
    let over_the_air = |user: u64| if is_upload(user) { SegmentEvent::Ack } else { SegmentEvent::Deliver };
    let arrived = result.series.segments.iter().filter(|row| row.event == over_the_air(row.user)).count();
    let delivered: u64 = result.bearers.iter().map(|bearer| bearer.counts.packets_delivered).sum();
    prop_assert_eq!(arrived as u64, delivered);
    let sent: u64 = match &result.proxies[..] {
        [] => {
            let downloads = result.flows.iter().filter(|flow| !is_upload(flow.user));
            downloads.map(|flow| flow.sender.packets).sum()
        }
        proxies => proxies.iter().map(|proxy| proxy.server.packets).sum(),
    };
    let entered = result.link("wired_down").expect("the wired link").packets;
    let has_uploads = result.flows.iter().any(|flow| is_upload(flow.user));
    prop_assert!(sent == entered || (has_uploads && sent < entered), "{sent} of {entered}");
    let ttis: u64 = result.bearers.iter().map(|bearer| bearer.counts.ttis).sum();
    // Each user served in a TTI has a record, so records of one bearer and TTI are counted once.
    let of = |row: &TtiRecord| (if case.scenario.radio.parts().is_shared { 0 } else { row.user }, row.at);
    if case.scenario.radio.parts().tti.is_some() {
        let recorded: HashSet<_> = result.series.scheduler.iter().map(of).collect();
        prop_assert_eq!(recorded.len() as u64, ttis);
    }
    Ok(())
}

fn is_ascending(times: impl Iterator<Item = Time>, end: Time) -> Result<(), TestCaseError> {
    let mut last = Time::ZERO;
    for at in times {
        prop_assert!(last <= at && at <= end, "{last:?} {at:?} {end:?}");
        last = at;
    }
    Ok(())
}

fn time_never_runs_backward(case: &Case, result: &RunResult) -> Result<(), TestCaseError> {
    let (series, end) = (&result.series, Time(case.scenario.duration.0));
    is_ascending(series.segments.iter().map(|row| row.at), end)?;
    is_ascending(series.cwnd.iter().map(|row| row.at), end)?;
    is_ascending(series.rtt.iter().map(|row| row.at), end)?;
    is_ascending(series.queue.iter().map(|row| row.at), end)?;
    is_ascending(series.transfers.iter().map(|row| row.end), end)?;
    prop_assert!(result.end_s <= case.scenario.duration.as_secs());
    // The TTIs of each bearer are ascending multiples of the TTI's length. A TTI serves a user at most once, and on
    // most bearers only one user. With handovers each cell serves its own users in the same TTI.
    let tti = case.scenario.radio.parts().tti.map_or(1, |tti| tti.duration.0);
    let radio = &serde_json::to_value(&case.scenario.radio).unwrap()[case.scenario.radio.key()];
    let alone = if case.scenario.radio.key() == "wcdma" { u64::MAX } else { 1 };
    let per_cell = radio.get("users_per_tti").and_then(Value::as_u64).unwrap_or(alone);
    let cells = radio.pointer("/handover/cells").and_then(Value::as_u64).unwrap_or(1);
    let together = per_cell.saturating_mul(cells);
    let mut last: HashMap<usize, (Time, HashSet<usize>)> = HashMap::new();
    for row in &series.scheduler {
        let bearer = if case.scenario.radio.parts().is_shared { 0 } else { row.user };
        let (at, users) = last.entry(bearer).or_default();
        prop_assert!(*at <= row.at && row.at.0 % tti == 0, "{row:?}");
        if *at < row.at {
            *at = row.at;
            users.clear();
        }
        prop_assert!(users.insert(row.user) && users.len() as u64 <= together, "{row:?} {users:?}");
    }
    Ok(())
}

/// Windows of at least 1, round trips above the sum of delays outside the radio, and bytes if and only if
/// packets wait.
fn series_are_possible(case: &Case, result: &RunResult) -> Result<(), TestCaseError> {
    let Scenario { wired, core, proxy, .. } = &case.scenario;
    let core_ns = core.as_ref().map_or(0, |core| 2 * core.delay().0);
    let wired_ns = if proxy.is_some() { 0 } else { 2 * wired.delay.0 };
    for row in &result.series.cwnd {
        prop_assert!(row.window.cwnd >= 1.0 && row.window.ssthresh >= 1.0, "{row:?}");
    }
    let fastest = wired_ns + core_ns + case.scenario.uplink_delay().0;
    for row in &result.series.rtt {
        prop_assert!(row.rtt.0 > fastest && row.rtt.0 <= row.at.0, "shorter than the delays: {row:?}");
    }
    for row in &result.series.queue {
        prop_assert_eq!(row.packets == 0, row.bytes == 0);
    }
    Ok(())
}

fn check_run(case: &Case) -> Result<(), TestCaseError> {
    let result = simulate(&case.scenario);
    prop_assert_eq!(result.flows.len(), case.scenario.connections().len());
    let packet_size = |tcp: &TcpSpec| match tcp {
        TcpSpec::Classic(classic) => Some(classic.packet_size.0),
        TcpSpec::Linux(_) => None,
    };
    for flow in &result.flows {
        everything_arrives(case, flow)?;
        transfers_add_up(&result, flow)?;
        segments_are_conserved(&result, flow)?;
        let connection = &case.scenario.connections()[flow.user as usize];
        prop_assert_eq!(&flow.group, &case.scenario.group_name(connection));
        let group = &case.scenario.users[connection.group];
        if let (Some(packet_size), Some(TrafficSpec::Ftp(_)), None) = (
            packet_size(case.scenario.tcp_of(group)),
            group.traffic(connection.direction),
            &case.scenario.proxy,
        ) {
            numbers_are_right(case, packet_size, &result, flow)?;
        }
        if keeps_order(&case.scenario, connection.direction) {
            order_is_kept(&result, flow)?;
        }
    }
    capacity_is_respected(case, &result)?;
    bearers_and_segments_agree(case, &result)?;
    time_never_runs_backward(case, &result)?;
    series_are_possible(case, &result)
}

/// 200 cases for each radio, whatever the others need.
#[test]
fn downloads_have_the_properties_on_every_radio() {
    for name in RadioSpec::NAMES {
        let property = |case: Case| check_run(&case);
        if let Err(error) =
            proptest::test_runner::TestRunner::new(super::config(200)).run(&cases::scenarios(name), property)
        {
            panic!("{name}: {error}");
        }
    }
}

#[test]
fn downloads_complete_after_a_finite_list_of_drops() {
    for name in RadioSpec::NAMES.iter().filter(|name| cases::has(name, "drop_list")) {
        let drops: Vec<u64> = (0..12).chain(20..24).chain((30..90).step_by(3)).collect();
        let strategy = cases::scenarios_with(name, json!({ "drop_list": drops, "loss": 0.0 }));
        let property = |case: Case| check_run(&case);
        if let Err(error) = proptest::test_runner::TestRunner::new(super::config(60)).run(&strategy, property)
        {
            panic!("{name}: {error}");
        }
    }
}
