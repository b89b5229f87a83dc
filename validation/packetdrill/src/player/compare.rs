//! Notation of packets, and comparison of sent packets with expected ones.

use std::fmt;

use super::negotiated::{Negotiated, Role};
use crate::script::{Options, Packet};

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = self.flags;
        for (set, letter) in
            [(flags.syn, "S"), (flags.fin, "F"), (flags.rst, "R"), (flags.ece, "E"), (flags.cwr, "W")]
        {
            f.write_str(if set { letter } else { "" })?;
        }
        f.write_str(if flags.ack { "." } else { "" })?;
        write!(f, " {}:{}({})", self.seq, self.seq + self.payload, self.payload)?;
        if let Some(ack) = self.ack.filter(|_| flags.ack) {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        self.options.as_ref().map_or(Ok(()), |options| write!(f, "{options}"))
    }
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.mss.map(|mss| format!("mss {mss}")));
        if self.sack_permitted {
            parts.push("sackOK".to_owned());
        }
        parts.extend(
            self.timestamps
                .filter(|&(value, _)| value > 0)
                .map(|(value, echo)| format!("TS val {value} ecr {echo}")),
        );
        parts.extend(self.window_shift.map(|shift| format!("wscale {shift}")));
        if !self.sack.is_empty() {
            let blocks: Vec<_> = self.sack.iter().map(|(first, end)| format!("{first}:{end}")).collect();
            parts.push(format!("sack {}", blocks.join(" ")));
        }
        if parts.is_empty() { Ok(()) } else { write!(f, " <{}>", parts.join(",")) }
    }
}

/// Returns true if `got` matches the expected packet in all fields that the script names and nodeb has. nodeb
/// has no PSH flag and no SYN options, and its senders have no window and no acknowledgement number.
pub fn agrees(expected: &Packet, got: &Packet, agreed: &Negotiated) -> bool {
    let (flags, sent) = (expected.flags, got.flags);
    if (flags.syn, flags.ack) != (sent.syn, sent.ack)
        || (expected.seq, expected.payload) != (got.seq, got.payload)
    {
        return false;
    }
    if flags.syn {
        return true;
    }
    let is_receiver = matches!(agreed.role, Role::Receiver { .. });
    let same_number = !is_receiver || expected.ack == got.ack;
    let same_window = !is_receiver || expected.window.is_none() || expected.window == got.window;
    let same_marks = (flags.ece, flags.cwr) == (sent.ece, sent.cwr);
    let same_field = expected.ip_ecn.is_none() || expected.ip_ecn == got.ip_ecn;
    same_number && same_window && same_marks && same_field && same_options(expected, got)
}

fn same_options(expected: &Packet, got: &Packet) -> bool {
    let (Some(wanted), Some(sent)) = (&expected.options, &got.options) else {
        return true;
    };
    let echoes = match (wanted.timestamps, sent.timestamps) {
        (Some((_, echo)), Some((_, sent))) => echo == sent,
        _ => true,
    };
    wanted.sack == sent.sack && echoes
}
