//! Random downloads of applications that write in bursts and trickles, with pauses between them.

use nodeb_base::rng::{Streams, uniform};
use nodeb_base::units::Duration;
use nodeb_tcp::linux::control::CongestionSpec;

use crate::download::{Download, MAX_BYTES};

/// Writes are at no instant of a timer, which expires at whole milliseconds: scripts do not say what comes first.
const OFF_JIFFIES: u64 = 137_000;
const NS_PER_MS: u64 = 1_000_000;

impl Download {
    pub fn random(seed: u64) -> Self {
        let mut stream = Streams::new(seed, 0).stream("download", 0, "pattern");
        let mut draw = |from: u64, to: u64| from + (uniform(&mut stream) * (to - from + 1) as f64) as u64;
        let mut download = Self {
            rate: [500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000][draw(0, 4) as usize],
            delay: Duration::from_millis(draw(10, 100)),
            queue: draw(20, 200) as usize,
            ..Self::default()
        };
        if draw(0, 1) == 1 {
            download.tcp.control = CongestionSpec::Reno(<_>::default());
        }
        download.tcp.timestamps = draw(0, 1) == 1;
        download.lost = (0..draw(0, 3)).map(|_| draw(1, 90)).collect();
        let (mut at_ms, mut left) = (0, MAX_BYTES);
        download.writes.clear();
        for _ in 0..draw(3, 6) {
            let (count, smallest, largest, gap_ms) = match draw(0, 2) {
                0 => (draw(5, 20), 100, 3_000, (10, 200)),
                1 => (draw(2, 4), 3_000, 15_000, (50, 400)),
                _ => (1, 5_000, 50_000, (0, 0)),
            };
            for _ in 0..count {
                let bytes = draw(smallest, largest).min(left);
                if bytes > 0 {
                    download.writes.push((Duration(at_ms * NS_PER_MS + OFF_JIFFIES), bytes));
                }
                left -= bytes;
                at_ms += draw(gap_ms.0, gap_ms.1);
            }
            at_ms += draw(300, 4_000);
        }
        download
    }
}
