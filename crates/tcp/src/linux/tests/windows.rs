use super::*;

#[test]
fn ecn_marks_reduce_window_without_loss() {
    let longest = |ecn| {
        let params = Linux { ecn, ..Linux::default() };
        let mut lab = transfer(1 << 40, &params, 400);
        lab.path.mark_above = 30;
        lab.run(Time(10 * NANOS_PER_S));
        lab.path.longest_queue = 0;
        lab.run(Time(40 * NANOS_PER_S));
        let sender = &lab.pairs[0].sender;
        assert!(!ecn || sender.counts().retransmissions == 0);
        assert!(sender.scoreboard.una() as f64 > 0.9 * 40.0 * 500_000.0);
        lab.path.longest_queue
    };
    assert!(longest(true) < 60 && longest(false) > 200, "{} {}", longest(true), longest(false));
}

#[test]
fn slow_reader_limits_throughput() {
    let params = Linux { read_rate: Some(Rate(800_000)), receive_buffer: Size(20_000), ..Linux::default() };
    let mut lab = transfer(1_000_000, &params, 1000);
    lab.run(LONG);
    // The application reads 1 MB at 100 kB/s, which takes 10 s. Data left in the buffer at the end
    // does not count.
    assert!((9.5..10.5).contains(&lab.seconds(0)), "{}", lab.seconds(0));
    assert_eq!(lab.pairs[0].sender.counts().retransmissions, 0);
}

#[test]
fn bbr_keeps_the_queue_short_and_loss_based_controls_fill_it() {
    let longest = |control: &str| {
        let spec = CongestionSpec::defaults().into_iter().find(|spec| spec.key() == control).unwrap();
        let mut lab = Lab::new(&[1 << 40], &with(spec), Path::new(4_000, 25, 200));
        lab.run(Time(5 * NANOS_PER_S));
        lab.path.longest_queue = 0;
        lab.run(Time(40 * NANOS_PER_S));
        lab.path.longest_queue
    };
    // The longest queue of BBR must not exceed the bandwidth-delay product of the path, 17 packets.
    assert!(longest("bbr") <= 17, "{}", longest("bbr"));
    assert!(longest("cubic") > 100, "{}", longest("cubic"));
}
