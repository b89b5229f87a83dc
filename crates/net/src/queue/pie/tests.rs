//! Tests: PIE follows the formulas of RFC 8033.

use nodeb_base::packet::EcnField;
use nodeb_base::rng::Streams;

use super::*;

fn pie(params: &Pie) -> PieQueue {
    PieQueue::new(params, Streams::new(1, 0).stream("test", 0, "queue"))
}

fn segment(capable: bool) -> Packet {
    let ecn = if capable { EcnField::Ect0 } else { EcnField::NotEct };
    Packet { ecn, ..Packet::new(0, 1500) }
}

/// Removes one packet per millisecond.
fn serve(
    queue: &mut PieQueue,
    ms: std::ops::Range<u64>,
    capable: bool,
    arrivals: impl Fn(u64) -> u64,
) -> DropLog {
    let mut drops = DropLog::default();
    for t in ms {
        let now = Time(t * 1_000_000);
        for _ in 0..arrivals(t) {
            queue.push(now, segment(capable), &mut drops);
        }
        queue.pop(now, &mut drops);
    }
    drops
}

#[test]
fn updates_follow_the_scaled_controller() {
    // The queueing delay is 40 ms, it was 30 ms at the last update, and the target is 15 ms. So the
    // change before scaling is 0.125 * 0.025 + 1.25 * 0.010 = 0.015625.
    for (before, divisor) in
        [(5e-7, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0)]
    {
        let mut queue = pie(&Pie::default());
        queue.fifo.push(Time::ZERO, segment(false));
        queue.last_wait = Duration::from_millis(40);
        (queue.qdelay_old_s, queue.drop_prob) = (0.030, before);
        queue.update();
        assert!((queue.drop_prob - (before + 0.015_625 / divisor)).abs() < 1e-12, "{before}");
        assert!((queue.qdelay_old_s - 0.040).abs() < 1e-12);
    }
    // From a drop probability of 10 % on a change is not divided, but an increase is limited to 2
    // percentage points.
    assert!((scaled(0.015, 0.1) - 0.015).abs() < 1e-12);
    assert!((scaled(0.5, 0.3) - 0.02).abs() < 1e-12);
    assert!((scaled(-0.5, 0.3) + 0.5).abs() < 1e-12);
}

#[test]
fn the_probability_decays_while_the_queue_is_empty() {
    let mut queue = pie(&Pie::default());
    queue.drop_prob = 0.5;
    queue.update();
    assert!((queue.drop_prob - (0.5 - 0.125 * 0.015) * 0.98).abs() < 1e-12);
}

#[test]
fn the_departure_rate_estimates_the_delay() {
    let params = Pie { delay_estimate: DelayEstimate::DepartureRate, ..Pie::default() };
    let mut queue = pie(&params);
    serve(&mut queue, 0..60, false, |t| if t == 0 { 100 } else { 0 });
    // After 100 arrivals and 60 departures 40 packets wait, each of which takes a millisecond to
    // transmit.
    assert_eq!(queue.fifo.len(), 40);
    assert!((queue.delay_s() - 0.040).abs() < 1e-9, "{}", queue.delay_s());
}

#[test]
fn bursts_within_the_allowance_are_not_dropped() {
    // Two packets arrive and one departs per millisecond, so the queue grows from the start.
    let drops = serve(&mut pie(&Pie::default()), 0..150, false, |_| 2);
    assert_eq!(drops.counts.early, 0);
    let mut queue = pie(&Pie::default());
    let drops = serve(&mut queue, 0..2_000, false, |_| 2);
    assert!(drops.counts.early > 100, "{:?}", drops.counts);
    assert_eq!(queue.burst_allowance, Duration::ZERO);
    // After a long calm period the burst allowance is restored, although the updates in that period
    // are skipped.
    let mut drops = DropLog::default();
    while queue.pop(Time(2_000_000_000), &mut drops).is_some() {}
    queue.push(Time(900_000_000_000), segment(false), &mut drops);
    assert_eq!((queue.burst_allowance, queue.drop_prob.to_bits()), (queue.params.burst, 0));
    assert_eq!(queue.next_update.0 % queue.params.update.0, 0);
    assert!(queue.next_update.since(Time(900_000_000_000)) <= queue.params.update);
}

#[test]
fn the_delay_stays_near_the_target() {
    // For a minute, six packets arrive in the time in which five can depart.
    let mut queue = pie(&Pie::default());
    let (mut drops, mut waits) = (DropLog::default(), Vec::new());
    for t in 0..60_000u64 {
        let now = Time(t * 1_000_000);
        for _ in 0..=u64::from(t % 5 == 0) {
            queue.push(now, segment(false), &mut drops);
        }
        queue.pop(now, &mut drops);
        if t > 20_000 {
            waits.push(queue.last_wait.as_secs());
        }
    }
    let mean = waits.iter().sum::<f64>() / waits.len() as f64;
    assert!((mean - 0.015).abs() < 0.003, "{mean}");
    // PIE drops the excess, which is one packet in six.
    assert!((queue.drop_prob - 1.0 / 6.0).abs() < 0.05, "{}", queue.drop_prob);
}

#[test]
fn ecn_capable_packets_are_marked_up_to_the_threshold() {
    let mut queue = pie(&Pie { beta: 0.0, alpha: 1e-9, ..Pie::default() });
    for (probability, marks) in [(0.09, true), (0.11, false)] {
        (queue.drop_prob, queue.qdelay_old_s, queue.burst_allowance) = (probability, 0.05, Duration::ZERO);
        queue.next_update = Time(u64::MAX);
        let drops = serve(&mut queue, 0..1_000, true, |t| if t == 0 { 20 } else { 1 });
        let counts = drops.counts;
        assert_eq!((counts.marked > 10, counts.early > 10), (marks, !marks), "{counts:?}");
    }
}

#[test]
fn derandomized_drops_are_spaced_within_bounds() {
    let mut queue = pie(&Pie { derandomize: true, ..Pie::default() });
    (queue.drop_prob, queue.qdelay_old_s, queue.burst_allowance) = (0.1, 0.05, Duration::ZERO);
    for _ in 0..20 {
        queue.fifo.push(Time::ZERO, segment(false));
    }
    let mut gap = 0;
    for _ in 0..5_000 {
        gap += 1;
        if queue.drop_early() {
            assert!((9..=85).contains(&gap), "{gap}");
            (queue.accu_prob, gap) = (0.0, 0);
        }
    }
}
