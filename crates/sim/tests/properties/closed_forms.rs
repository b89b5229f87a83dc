//! To the nanosecond.

use nodeb_base::units::{Duration, Rate, Size};
use nodeb_radio::{ChannelKey, RadioSpec};
use nodeb_sim::{Control, run};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::cases;
use crate::effective::effective;

/// Rates in bit/s, times in ns, sizes in bytes.
#[derive(Clone, Copy, Debug)]
enum Air {
    Link {
        rate: u64,
        delay: u64,
    },
    /// The transmission time of each packet is rounded up to ns.
    Fach {
        rate: u64,
    },
    Tti {
        tti: u64,
        pdu: u64,
        pdus_per_tti: u64,
    },
    /// LTE in unacknowledged mode: a block of so many bytes per subframe, filled with parts of several
    /// packets.
    Subframes {
        block: u64,
    },
    /// One frame per slot; each packet starts a new frame.
    Slots {
        slot: u64,
        frame: u64,
    },
}

#[derive(Clone, Copy, Debug)]
struct Path {
    wired_rate: u64,
    wired_delay: u64,
    uplink_rate: u64,
    uplink_delay: u64,
    delayed_ack: u64,
    request: u64,
    air: Air,
}

fn on_wire(bytes: u64, rate: u64) -> u64 {
    (u128::from(bytes) * 8_000_000_000 / u128::from(rate)) as u64
}

/// In ns.
const SUBFRAME: u64 = 1_000_000;

/// PDCP adds 2 bytes to a packet; in each block MAC and RLC take 3 and 2 bytes, and 12 bits for each part but
/// the last (TS 36.321, 6.1.2; 36.322, 6.2.1.3; 36.323, 6.2.3).
fn subframes(packets: &[u64], block: u64) -> u64 {
    let (mut blocks, mut left) = (1, block - 5);
    let mut parts = 0;
    for bytes in packets {
        let mut rest = bytes + 2;
        loop {
            let indicators = u64::div_ceil(3 * parts, 2);
            let part = rest.min(left.saturating_sub(indicators));
            (rest, left, parts) = (rest - part, left - part, parts + 1);
            if rest == 0 {
                break;
            }
            (blocks, left, parts) = (blocks + 1, block - 5, 0);
        }
    }
    blocks
}

impl Path {
    /// `packets` of these sizes arrive together at `now` at the idle radio.
    fn over_the_air(&self, now: u64, packets: &[u64]) -> u64 {
        match self.air {
            Air::Link { rate, delay } => now + on_wire(packets.iter().sum(), rate) + delay,
            Air::Fach { rate } => {
                now + packets.iter().map(|bytes| (bytes * 8_000_000_000).div_ceil(rate)).sum::<u64>()
            }
            Air::Tti { tti, pdu, pdus_per_tti } => {
                let pdus: u64 = packets.iter().map(|bytes| bytes.div_ceil(pdu)).sum();
                (now.div_ceil(tti) + pdus.div_ceil(pdus_per_tti)) * tti
            }
            Air::Subframes { block } => (now.div_ceil(SUBFRAME) + subframes(packets, block)) * SUBFRAME,
            Air::Slots { slot, frame } => {
                let frames: u64 = packets.iter().map(|bytes| bytes.div_ceil(frame)).sum();
                (now.div_ceil(slot) + frames) * slot
            }
        }
    }

    /// Bytes, and the ns in which they are carried.
    fn pace(&self) -> (u64, u64) {
        match self.air {
            Air::Link { rate, .. } | Air::Fach { rate } => (rate, 8_000_000_000),
            Air::Tti { tti, pdu, pdus_per_tti } => (pdu * pdus_per_tti, tti),
            Air::Subframes { block } => (block, SUBFRAME),
            Air::Slots { slot, frame } => (frame, slot),
        }
    }

    fn up(&self, now: u64, bytes: u64) -> u64 {
        now + on_wire(bytes, self.uplink_rate)
            + self.uplink_delay
            + on_wire(bytes, self.wired_rate)
            + self.wired_delay
    }

    fn down(&self, now: u64, bytes: u64) -> u64 {
        self.over_the_air(now + on_wire(bytes, self.wired_rate) + self.wired_delay, &[bytes])
    }

    /// Arrival at the server of the phone's SYN, and of the ACK of the server's own.
    fn set_up(&self) -> (u64, u64) {
        let accepted = self.up(0, 40);
        (accepted, self.up(self.down(accepted, 40), 40 + self.request))
    }

    /// Download and transfer times with a window of one segment, each ACK delayed by `delayed_ack`.
    fn stop_and_wait(&self, packets: &[u64]) -> (u64, u64) {
        let (accepted, mut now) = self.set_up();
        let mut downloaded = 0;
        for bytes in packets {
            downloaded = self.down(now, *bytes);
            now = self.up(downloaded + self.delayed_ack, 40);
        }
        (downloaded, now - accepted)
    }

    /// Download and transfer times if the radio is never idle from the first packet on.
    fn saturated(&self, packets: &[u64]) -> (u64, u64) {
        let (accepted, opened) = self.set_up();
        let first = opened + on_wire(packets[0], self.wired_rate) + self.wired_delay;
        let downloaded = self.over_the_air(first, packets);
        // The phone acknowledges every second segment at once, so it acknowledges an odd last segment only
        // after `delayed_ack`. Otherwise the last ACK waits only for the ACKs of the segments that arrived
        // together with the last one.
        let finished = if self.delayed_ack > 0 && !packets.len().is_multiple_of(2) {
            self.up(downloaded + self.delayed_ack, 40)
        } else {
            let together =
                (1..=packets.len()).filter(|n| self.over_the_air(first, &packets[..*n]) == downloaded);
            let acks = together.filter(|n| self.delayed_ack == 0 || n.is_multiple_of(2)).count() as u64;
            self.up(downloaded, 40) + on_wire(40 * acks, self.uplink_rate) - on_wire(40, self.uplink_rate)
        };
        (downloaded, finished - accepted)
    }
}

/// With 40 bytes of headers each.
fn packets(file: u64, packet: u64) -> Vec<u64> {
    let mut sizes = vec![packet; (file / (packet - 40)) as usize];
    sizes.extend((!file.is_multiple_of(packet - 40)).then_some(file % (packet - 40) + 40));
    sizes
}

fn air(radio: &cases::Radio) -> Air {
    let time = |key: &str| radio.json[key].as_str().unwrap().parse::<Duration>().unwrap().0;
    if cases::has(radio.spec.key(), "bandwidth") {
        // At a high SNR a phone is served with MCS 28 on 100 resource blocks. Its transport block fits, since only one
        // symbol of the subframe carries control signalling.
        return Air::Subframes { block: 75_376 / 8 };
    }
    if radio.spec.parts().channel == Some(ChannelKey::Ue) {
        // At a high SNR a phone with one code reports CQI 6: 461 bits, of which the MAC-hs header takes 21 bits and the
        // RLC header 16 bits per PDU (TS 25.214, table 7D).
        let pdu = radio.pdu_bytes();
        return Air::Tti { tti: 2_000_000, pdu, pdus_per_tti: (461 - 21) / (8 * pdu + 16) };
    }
    if cases::has(radio.spec.key(), "slot") {
        let frame = radio.json["frame_size"].as_str().unwrap().parse::<Size>().unwrap().0;
        return Air::Slots { slot: time("slot"), frame };
    }
    if let Some(tti) = radio.spec.parts().tti.map(|tti| tti.duration) {
        let pdus_per_tti = radio.number("channels").unwrap() * radio.number("pdus_per_tti").unwrap();
        return Air::Tti { tti: tti.0, pdu: radio.pdu_bytes(), pdus_per_tti };
    }
    let rate = |key: &str| radio.json[key].as_str().unwrap().parse::<Rate>().unwrap().0;
    if cases::has(radio.spec.key(), "fach_rate") {
        return Air::Fach { rate: rate("fach_rate") };
    }
    Air::Link { rate: rate("rate"), delay: time("delay") }
}

/// Download and transfer times in ns.
fn measured(path: &Path, radio: &Value, tcp: &Value, file: u64) -> (u64, u64) {
    let ns = |ns: u64| format!("{ns} ns");
    let bps = |rate: u64| format!("{rate} bps");
    let mut text = json!({
        "wired": { "rate": bps(path.wired_rate), "delay": ns(path.wired_delay) },
        "uplink": { "rate": bps(path.uplink_rate), "delay": ns(path.uplink_delay) },
        "radio": radio,
        "tcp": { "classic": tcp },
        "users": [{ "traffic": { "ftp": {
            "size": format!("{file} B"), "request": format!("{} B", path.request) } } }],
    });
    for (key, value) in [("initial_rto", "1 h"), ("min_rto", "1 h"), ("max_rto", "1 h")] {
        text["tcp"]["classic"][key] = json!(value);
    }
    if ["hsdpa", "lte"].iter().any(|name| radio.get(name).is_some()) {
        text["users"][0]["ue"] = json!({ "category": 10, "channel": { "constant": { "snr_db": 100.0 } } });
    }
    text["tcp"]["classic"]["delayed_ack"] = json!(ns(path.delayed_ack));
    let scenario = effective(text).unwrap();
    let flow = &run(&scenario, 1, 0, &Control::default()).unwrap().flows[0];
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    assert!(flow.complete && flow.sender.retransmissions == 0, "{flow:?}");
    (ns(flow.download_s), ns(flow.transfer_s))
}

prop_compose! {
    fn paths(air: Air)(
        wired_rate in 500_000..20_000_000u64,
        wired_delay in 0..200_000_000u64,
        uplink_rate in 10_000..400_000u64,
        uplink_delay in 0..100_000_000u64,
        delayed_ack in prop_oneof![Just(0), 1..500_000_000u64],
        request in 0..1_000u64,
    ) -> Path {
        Path { wired_rate, wired_delay, uplink_rate, uplink_delay, delayed_ack, request, air }
    }
}

fn error_free() -> impl Strategy<Value = (cases::Radio, Path)> {
    // The radio `trace` has no closed form: its own tests compare it with mahimahi's rule.
    let rated: Vec<&str> = RadioSpec::NAMES.iter().copied().filter(|name| *name != "trace").collect();
    (select(rated), 8..=40u32, 20_000..2_000_000u32)
        .prop_flat_map(|(name, pdu, rate)| {
            let given = json!({
                "bler": 0.0, "errors": null, "rlc": "arq", "loss": 0.0, "drop_list": [], "buffer": 1000, "uplink": "plain",
                "drx": null,
                "queue": "drop_tail", "jitter": null, "reordering": null, "selection": "fixed", "eb_n0_db": 60.0,
                "correctable_bits": 8, "profile": "equal_paths", "other_cells": { "mean": { "factor": 0.0 } },
                "sharing": "one_packet", "iub": null, "ack_error": 0.0, "nack_error": 0.0,
                "bandwidth": "20 MHz", "control_symbols": 1, "antenna_ports": 1, "layers": 1, "qam256": false, "sn_length": "12 bit",
                "codes": 1, "segmentation": false, "link_adaptation": "cqi", "processes": 8,
                "retransmission_delay": "12 ms", "reordering_window": 32,
                "pdu_size": format!("{pdu} B"), "rate": format!("{rate} bps"),
                "fach_rate": format!("{rate} bps"), "signalling_rate": "0 bps", "policy": "always_fach",
            });
            cases::radio_with(name, given)
        })
        .prop_flat_map(|radio| (Just(radio.clone()), paths(air(&radio))))
}

proptest! {
    #![proptest_config(super::config(250))]

    #[test]
    fn stop_and_wait_takes_the_time_of_the_closed_form(
        (radio, path) in error_free(),
        file in 1..40_000u64,
        packet in 100..=1500u64,
    ) {
        let tcp = json!({ "max_window": 1, "packet_size": format!("{packet} B") });
        let found = measured(&path, &serde_json::to_value(&radio.spec).unwrap(), &tcp, file);
        prop_assert_eq!(found, path.stop_and_wait(&packets(file, packet)));
    }

    /// The window exceeds the bandwidth-delay product.
    #[test]
    fn saturated_radio_takes_the_time_of_the_closed_form((radio, path) in error_free(), file in 1..300_000u64) {
        // The other links are so fast that the radio is the bottleneck, and that ACKs wait only for the ACKs of
        // segments that arrive in the same TTI.
        let path = Path { wired_rate: 1_000_000_000_000, uplink_rate: 1_000_000_000, ..path };
        let round_trip = path.set_up().1 - path.up(0, 40) + 600_000_000;
        let (bytes, ns) = path.pace();
        let rate = bytes as f64 * 8e9 / ns as f64;
        // ACKs are delayed for so long that the next segment always arrives before the delay expires.
        let path = Path { delayed_ack: if path.delayed_ack == 0 { 0 } else { 10_000_000_000 }, ..path };
        let window = (rate * round_trip as f64 / 1e9 / 8.0 / 1500.0 * 2.0) as u64 + 10;
        let window = window.min(packets(file, 1500).len() as u64);
        let tcp = json!({ "max_window": window, "initial_window": window, "initial_ssthresh": window });
        let mut radio = serde_json::to_value(&radio.spec).unwrap();
        for params in radio.as_object_mut().unwrap().values_mut() {
            if params.get("buffer").is_some() {
                params["buffer"] = json!(100_000);
            }
            if params.get("bandwidth").is_some() {
                params["queue"] = json!({ "drop_tail": { "limit": 100_000 } });
            }
        }
        let found = measured(&path, &radio, &tcp, file);
        prop_assert_eq!(found, path.saturated(&packets(file, 1500)));
    }
}

#[test]
fn closed_forms_match_values_by_hand() {
    assert_eq!(packets(1, 1500), [41]);
    assert_eq!(packets(2920, 1500), [1500, 1500]);
    assert_eq!(packets(2921, 1500), [1500, 1500, 41]);
    assert_eq!(on_wire(1500, 384_000), 31_250_000);
    assert_eq!("1 kB".parse(), Ok(Size(1000)));
}
