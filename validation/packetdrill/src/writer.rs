//! Writer of scripts from nodeb's downloads. A kernel that receives the ACKs of a download must send the same
//! packets as nodeb at the same times, and have the same state after each ACK.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use nodeb_base::units::Time;
use nodeb_tcp::linux::{CaState, FIRST_BYTE, Info};
use nodeb_tcp::segment::Segment;

use crate::download::{Download, Step};
use crate::script::Options;

/// Makes the kernel send one segment per packet.
const OPENING: &str = "`ip link set dev tun0 gso_max_segs 1`

0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, \"CONTROL\", LENGTH) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
";

/// Switches off Nagle's algorithm, and makes room for all data.
const ACCEPT: &str = "+0 accept(3, ..., ...) = 4
+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
+0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [1000000], 4) = 0
";

/// Numbers of the bytes after each write of a script. A segment that ends there has the flag PSH
/// (`tcp_push`, `tcp_sendmsg_locked`).
struct Ends {
    last: u64,
    all: BTreeSet<u64>,
}

impl Ends {
    fn push(&mut self, bytes: u64) {
        self.last += bytes;
        self.all.insert(self.last);
    }
}

impl Download {
    pub fn script(&self) -> String {
        let control = self.tcp.control.key();
        let length = control.len().to_string();
        let bytes: u64 = self.writes.iter().map(|write| write.1).sum();
        let mut script = format!("// A download of {bytes} B by nodeb.\n");
        script += &OPENING.replace("CONTROL", control).replace("LENGTH", &length);
        script += &self.handshake();
        // Data written during the handshake, which a script can write only when it has accepted the connection.
        let (mut accepted, mut early) = (false, 0);
        let mut ends = Ends { last: FIRST_BYTE, all: BTreeSet::new() };
        for step in &self.run() {
            match step {
                Step::Sent(_, segment) if segment.seq == 0 => {}
                Step::Sent(at, segment) => script += &self.sent(*at, segment, &ends),
                Step::Written(_, bytes, _) if !accepted => early += bytes,
                Step::Written(at, bytes, info) => {
                    script += &(self.written(*at, *bytes, &mut ends) + &state(info));
                }
                Step::Taken(at, ack, info) if accepted => script += &(self.taken(*at, ack) + &state(info)),
                Step::Taken(at, ack, _) => {
                    script += &(self.taken(*at, ack) + ACCEPT + &self.written(*at, early, &mut ends));
                    accepted = true;
                }
            }
        }
        script
    }

    fn handshake(&self) -> String {
        let (mss, shift) = (self.mss(), self.shift());
        let (theirs, ours) = if self.tcp.timestamps {
            ("sackOK,TS val 1 ecr 0", format!("<mss 1460,sackOK,TS val {OFFSET} ecr 1,nop,wscale 10>"))
        } else {
            ("nop,nop,sackOK", "<...>".to_owned())
        };
        format!(
            "0 < S 0:0(0) win 65535 <mss {mss},{theirs},nop,wscale {shift}>\n0 > S. 0:0(0) ack 1 {ours}\n"
        )
    }

    fn written(&self, at: Time, bytes: u64, ends: &mut Ends) -> String {
        self.parts(bytes).fold(String::new(), |mut text, part| {
            ends.push(part);
            let _ = writeln!(text, "{} write(4, ..., {part}) = {part}", seconds(at));
            text
        })
    }

    fn sent(&self, at: Time, segment: &Segment, ends: &Ends) -> String {
        let payload = u64::from(segment.size - self.tcp.header_bytes());
        let (first, end) = (segment.seq, segment.seq + payload);
        let push = if ends.all.contains(&end) { "P" } else { "" };
        format!("{} > {push}. {first}:{end}({payload}) ack 1{}\n", seconds(at), self.options(segment))
    }

    fn taken(&self, at: Time, ack: &Segment) -> String {
        let window = ack.window >> self.shift();
        format!("{} < . 1:1(0) ack {} win {window}{}\n", seconds(at), ack.seq, self.options(ack))
    }

    /// Padded with `nop` to words of 32 bits.
    fn options(&self, segment: &Segment) -> String {
        let stamps =
            (ticks(segment.timestamp_us), if segment.echo_us == 0 { 0 } else { ticks(segment.echo_us) });
        let sack = Options { sack: segment.sack.of(segment.seq).collect(), ..Options::default() }.to_string();
        let sack = sack.trim_matches([' ', '<', '>']);
        let stamps = self.tcp.timestamps.then(|| format!("nop,nop,TS val {} ecr {}", stamps.0, stamps.1));
        let sack = (!sack.is_empty()).then(|| format!("nop,nop,{sack}"));
        let parts: Vec<_> = stamps.into_iter().chain(sack).collect();
        if parts.is_empty() { String::new() } else { format!(" <{}>", parts.join(",")) }
    }
}

/// ms, because a timestamp of 0 would stand for a missing one.
const OFFSET: u32 = 1_000;

fn ticks(stamp_us: u32) -> u32 {
    OFFSET + stamp_us / 1_000
}

fn seconds(at: Time) -> String {
    format!("{}.{:09}", at.0 / 1_000_000_000, at.0 % 1_000_000_000)
}

fn state(info: &Info) -> String {
    let ca = match info.ca_state {
        CaState::Open => "Open",
        CaState::Disorder => "Disorder",
        CaState::Cwr => "CWR",
        CaState::Recovery => "Recovery",
        CaState::Loss => "Loss",
    };
    let mut text = format!("+0 %{{\nassert tcpi_ca_state == TCP_CA_{ca}, tcpi_ca_state\n");
    let ssthresh = info.ssthresh.unwrap_or(0x7fff_ffff);
    for (name, value) in [
        ("snd_cwnd", info.cwnd),
        ("snd_ssthresh", ssthresh),
        ("unacked", info.unacked),
        ("sacked", info.sacked),
        ("lost", info.lost),
        ("retrans", info.retrans),
    ] {
        let _ = writeln!(text, "assert tcpi_{name} == {value}, tcpi_{name}");
    }
    text + "}%\n"
}
