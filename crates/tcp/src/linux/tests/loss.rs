use super::*;

#[test]
fn lost_tail_is_detected_by_probe() {
    // The last two of 20 segments are lost; packet 0 is the SYN. Two round trips later the tail
    // loss probe retransmits the last segment, and the SACK of that segment reveals the loss of the
    // last but one, before the retransmission timeout.
    let lose = |with_probe| {
        let params = Linux { tail_loss_probe: with_probe, ..Linux::default() };
        let mut lab = transfer(20 * 1448, &params, 100)
            .with_fate(|i, _, _| (i != 19 && i != 20).then_some(Duration::ZERO));
        lab.run(LONG);
        (lab.pairs[0].sender.counts().timeouts, lab.seconds(0))
    };
    let (probed, timed_out) = (lose(true), lose(false));
    assert_eq!((probed.0, timed_out.0), (0, 1));
    assert!(probed.1 < timed_out.1, "{probed:?} {timed_out:?}");
}

#[test]
fn probe_waits_two_round_trips() {
    let mut sender = Sender::new(0, &Linux::default());
    let mut out = Vec::new();
    sender.write(Time::ZERO, 100_000, &mut out);
    sender.open(Time::ZERO, &mut out);
    let mut receiver = Receiver::new(0, 0, &Linux::default());
    let ack = receiver.on_segment(Time(50_000_000), &out.remove(0)).unwrap();
    let now = Time(100_000_000);
    sender.on_ack(now, &ack, &mut out);
    // If several segments are in flight, the probe waits for 2 SRTT (RFC 8985, 7.2) plus 2 ms
    // (`tcp_schedule_loss_probe` of Linux 6). The retransmission timeout, which would expire after
    // three SRTT, is not armed at the same time.
    let end = sender.timers.loss.map(ArmedTimer::end);
    assert_eq!((end, sender.timers.pending()), (Some(jiffies::expiry(now, MS(202))), Some(Pending::Probe)));
}

#[test]
fn one_loss_costs_one_retransmission_and_no_timeout() {
    for control in CongestionSpec::defaults() {
        let mut lab =
            transfer(300_000, &with(control), 1000).with_fate(|i, _, _| (i != 50).then_some(Duration::ZERO));
        lab.run(LONG);
        let counts = lab.pairs[0].sender.counts();
        assert_eq!((counts.retransmissions, counts.timeouts, counts.fast_retransmits), (1, 0, 1));
    }
}

#[test]
fn lost_retransmission_is_repeated_without_timeout() {
    let mut losses = 2;
    let mut lab = transfer(600_000, &Linux::default(), 1000).with_fate(move |_, _, packet| {
        let hit = packet.seq == FIRST_BYTE + 60 * 1448 && losses > 0;
        losses -= i32::from(hit);
        (!hit).then_some(Duration::ZERO)
    });
    lab.run(LONG);
    let counts = lab.pairs[0].sender.counts();
    assert_eq!((counts.retransmissions, counts.timeouts), (2, 0));
}

#[test]
fn delay_spike_is_detected_and_window_restored() {
    // The link is interrupted for 1.5 s, so the retransmission timer expires although nothing is
    // lost.
    let window_after = |undo| {
        let params = Linux { undo, dsack: undo, frto: undo, tail_loss_probe: false, ..Linux::default() };
        let mut lab = transfer(4_000_000, &params, 1000);
        lab.path.outage = (Time(500_000_000), Time(2_000_000_000));
        lab.run(Time(2_600_000_000));
        let counts = lab.pairs[0].sender.counts();
        assert!(counts.timeouts > 0, "{counts:?}");
        (lab.pairs[0].sender.window().ssthresh, counts.retransmissions)
    };
    let (with_undo, without) = (window_after(true), window_after(false));
    assert!(with_undo.0 > without.0 && with_undo.1 < without.1, "{with_undo:?} {without:?}");
}

#[test]
fn reordering_below_a_quarter_of_min_rtt_is_no_loss() {
    let mut lab = transfer(2_000_000, &Linux::default(), 1000)
        .with_fate(|i, _, _| Some(if i % 50 == 7 { MS(8) } else { Duration::ZERO }));
    lab.run(LONG);
    let counts = lab.pairs[0].sender.counts();
    assert!(counts.retransmissions <= 3, "{counts:?}");
}
