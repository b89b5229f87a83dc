//! Without errors over a constant rate. In slow start without delayed ACKs each round ends with the ACK of
//! its first segment, which finds an idle link: a round trip of fixed latencies. The last round keeps the
//! link busy.

use std::collections::BTreeMap;

use nodeb_explain::{Cause, explain};
use nodeb_sim::{Control, run, scenario};
use proptest::prelude::*;
use serde_json::json;

const WIRED: u64 = 10_000_000;
const UPLINK: u64 = 64_000;

/// In bit/s and ms, one-way.
#[derive(Clone, Copy, Debug)]
struct NetworkPath {
    rate: u64,
    delay: u64,
    wired: u64,
    uplink: u64,
}

const MS: u64 = 1_000_000;

fn on_wire(bytes: u64, rate: u64) -> u64 {
    bytes * 8_000_000_000 / rate
}

impl NetworkPath {
    fn down(&self, bytes: u64) -> u64 {
        on_wire(bytes, WIRED) + self.wired * MS + on_wire(bytes, self.rate) + self.delay * MS
    }

    fn up(&self) -> u64 {
        on_wire(40, UPLINK) + self.uplink * MS + on_wire(40, WIRED) + self.wired * MS
    }

    /// In ns, of 1500 bytes and the ACK, without queues.
    fn round(&self) -> u64 {
        self.down(1500) + self.up()
    }

    /// Full segments; causes in ns and download time in seconds.
    fn explained(&self, segments: u64, delayed_ack: u64, window: u64) -> (BTreeMap<Cause, u64>, f64) {
        let (causes, download_s, _) = self.answered_after(0, segments, delayed_ack, window, 0);
        (causes, download_s)
    }

    /// As [`Self::explained`], with a request of `request` bytes; also the transfer time.
    fn answered_after(
        &self,
        server_delay: u64,
        segments: u64,
        delayed_ack: u64,
        window: u64,
        request: u64,
    ) -> (BTreeMap<Cause, u64>, f64, f64) {
        let text = json!({
            "duration": "1000 s",
            "wired": { "rate": "10 Mbps", "delay": format!("{} ms", self.wired), "queue": "drop_tail" },
            "uplink": { "rate": "64 kbps", "delay": format!("{} ms", self.uplink) },
            "radio": { "link": {
                "rate": format!("{} bps", self.rate), "delay": format!("{} ms", self.delay),
                "queue": { "drop_tail": { "limit": 1000 } },
            } },
            "tcp": { "classic": {
                "delayed_ack": format!("{delayed_ack} ms"), "initial_window": window, "max_window": 10_000,
                "initial_ssthresh": 10_000,
            } },
            "users": [{ "traffic": { "ftp": {
                "size": format!("{} B", segments * 1460), "request": format!("{request} B"),
                "server_delay": format!("{server_delay} ms"),
            } } }],
        });
        let scenario = scenario::from_json(&text.to_string()).unwrap();
        let control = Control::default();
        let found = explain(&scenario, 1, 0, &control, (0, 0)).unwrap();
        assert!(found.complete);
        let mut causes = BTreeMap::new();
        for span in &found.spans {
            *causes.entry(span.cause).or_default() += span.duration().0;
        }
        let flow = &run(&scenario, 1, 0, &control).unwrap().flows[0];
        (causes, flow.download_s, flow.transfer_s)
    }

    /// In ns.
    fn expected(&self, transmission: u64, slow_start: u64) -> BTreeMap<Cause, u64> {
        let handshake = 2 * self.up() + self.down(40);
        let propagation = (self.wired + self.delay) * MS;
        let found = [
            (Cause::Handshake, handshake),
            (Cause::Propagation, propagation),
            (Cause::Transmission, transmission),
            (Cause::SlowStart, slow_start),
        ];
        found.into_iter().filter(|(_, ns)| *ns > 0).collect()
    }
}

fn network_paths() -> impl Strategy<Value = NetworkPath> {
    let rate = prop::sample::select(vec![96_000u64, 384_000, 1_000_000, 2_000_000]);
    (rate, 1..60u64, 50..200u64, 1..50u64).prop_map(|(rate, delay, wired, uplink)| NetworkPath {
        rate,
        delay,
        wired,
        uplink,
    })
}

proptest! {
    #![proptest_config(super::config(64))]

    /// Two segments in the first round, then twice as many each.
    #[test]
    fn slow_start_without_delayed_acks_matches_closed_form(path in network_paths(), segments in 1..60u64) {
        let of_link = on_wire(1500, path.rate);
        let (mut rounds, mut in_round, mut left) = (0, 2, segments);
        while left > in_round && in_round * of_link < path.round() {
            left -= in_round;
            (rounds, in_round) = (rounds + 1, 2 * in_round);
        }
        // The first round that keeps the link busy to its end and all rounds after it form one busy
        // period, which is charged to transmission.
        let transmission = on_wire(1500, WIRED) + left * of_link;
        let (causes, download_s) = path.explained(segments, 0, 2);
        prop_assert_eq!(&causes, &path.expected(transmission, rounds * path.round()));
        let sum: u64 = causes.values().sum();
        prop_assert_eq!(sum, (download_s * 1e9).round() as u64);
    }

    /// The first round ends with the ACK of its second segment.
    #[test]
    fn slow_start_with_delayed_acks_matches_closed_form(path in network_paths()) {
        let of_link = on_wire(1500, path.rate);
        let (causes, _) = path.explained(5, 500, 2);
        let transmission = on_wire(1500, WIRED) + 4 * of_link;
        prop_assert_eq!(causes, path.expected(transmission, path.round()));
    }

    /// Too short for a restart from idle.
    #[test]
    fn server_delay_adds_exactly_to_the_download(path in network_paths(), segments in 1..60u64, delay in 1..900u64, request in 0..2u64) {
        let request = 300 * request;
        let (mut at_once, download_s, transfer_s) = path.answered_after(0, segments, 100, 2, request);
        let (worked, later_s, longer_s) = path.answered_after(delay, segments, 100, 2, request);
        at_once.insert(Cause::Server, delay * MS);
        prop_assert_eq!(&worked, &at_once);
        let ns = |s: f64| (s * 1e9).round() as u64;
        prop_assert_eq!(ns(later_s), ns(download_s) + delay * MS);
        prop_assert_eq!(ns(longer_s), ns(transfer_s) + delay * MS);
    }

    /// A second segment does not arrive.
    #[test]
    fn single_segment_waits_for_the_delayed_ack(path in network_paths()) {
        let of_link = on_wire(1500, path.rate);
        let (causes, _) = path.explained(3, 100, 1);
        let transmission = on_wire(1500, WIRED) + 2 * of_link;
        let mut expected = path.expected(transmission, path.round());
        expected.insert(Cause::DelayedAck, 100 * MS);
        prop_assert_eq!(causes, expected);
    }
}
