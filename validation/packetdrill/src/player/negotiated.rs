//! Parameters of a connection, which are read from all packets of its script before the script is played.

use crate::script::{Action, Event, Packet, Script};
use crate::settings::Settings;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Sender,
    Receiver { reads: bool },
}

#[derive(Clone, Copy, Debug)]
pub struct Negotiated {
    pub role: Role,
    pub active: bool,
    /// Bits.
    pub peer_shift: u8,
    /// Bits.
    pub own_shift: u8,
    /// The bits of `tcpi_options`: 1 for timestamps, 2 for SACK, 4 for window scaling, 8 for ECN.
    pub options: u64,
}

pub const WRITES: [&str; 6] = ["write", "send", "sendto", "sendmsg", "writev", "sendfile"];
pub const READS: [&str; 4] = ["read", "recv", "recvfrom", "recvmsg"];

/// Bytes, without the option in a SYN (RFC 9293, 3.7.1).
const DEFAULT_MSS: u64 = 536;

fn packets(script: &Script) -> impl Iterator<Item = (bool, &Packet)> {
    script.events.iter().filter_map(|event| match &event.action {
        Action::Inbound(packet) => Some((true, packet)),
        Action::Outbound(packet) => Some((false, packet)),
        _ => None,
    })
}

fn calls<'a>(script: &'a Script, names: &'a [&str]) -> impl Iterator<Item = &'a Event> {
    script.events.iter().filter(
        move |event| matches!(&event.action, Action::Call(call) if names.contains(&call.name.as_str())),
    )
}

/// Returns an error if both ends or neither send data.
fn role(script: &Script) -> Result<Role, String> {
    let data = |from: bool| packets(script).any(|(inbound, packet)| inbound == from && packet.payload > 0);
    match (data(true), data(false)) {
        (true, true) => Err("data in both directions".to_owned()),
        (true, false) => Ok(Role::Receiver { reads: calls(script, &READS).next().is_some() }),
        (false, true) => Ok(Role::Sender),
        (false, false) if calls(script, &WRITES).next().is_some() => Ok(Role::Sender),
        (false, false) => Err("a connection without data".to_owned()),
    }
}

/// Returns the parameters that the SYNs of a script negotiate, and changes `settings` accordingly.
///
/// # Errors
/// A description of what the script needs, if nodeb does not model it.
pub fn negotiate(script: &Script, settings: &mut Settings) -> Result<Negotiated, String> {
    let role = role(script)?;
    let syns =
        |from: bool| packets(script).find(move |(inbound, packet)| *inbound == from && packet.flags.syn);
    let (Some((_, theirs)), Some((_, ours))) = (syns(true), syns(false)) else {
        return Err("a connection without a handshake".to_owned());
    };
    if theirs.payload + ours.payload > 0 {
        return Err("data in a SYN".to_owned());
    }
    if let Some((_, packet)) = packets(script).find(|(_, packet)| packet.flags.accurate) {
        return Err(format!("accurate ECN ({packet})"));
    }
    let active = !ours.flags.ack;
    let (their, our) = (theirs.named_options(), ours.named_options());
    if let Some(other) = their.other.or(our.other) {
        return Err(format!("the option {other}"));
    }
    let silent = ours.options.is_none();
    let sack = settings.tcp.sack && their.sack_permitted && (silent || our.sack_permitted);
    if !sack {
        settings.without_sack();
    }
    settings.tcp.timestamps = their.timestamps.is_some() && (silent || our.timestamps.is_some());
    let own_shift = if silent { their.window_shift.and(Some(0)) } else { our.window_shift };
    let scales = their.window_shift.zip(own_shift);
    let (peer_shift, own_shift) = scales.unwrap_or_default();
    settings.tcp.ecn = ours.flags.ece && theirs.flags.ece;
    segments(script, role, settings, their.mss, our.mss);
    let bit = |set: bool, value: u64| if set { value } else { 0 };
    let options =
        bit(settings.tcp.timestamps, 1) + bit(sack, 2) + bit(scales.is_some(), 4) + bit(settings.tcp.ecn, 8);
    Ok(Negotiated { role, active, peer_shift, own_shift, options })
}

/// Sets the segment size. For a sender this is the size that both ends allow, and for a receiver the size of
/// the largest segment in the script, from which Linux estimates it (`icsk_ack.rcv_mss`).
fn segments(script: &Script, role: Role, settings: &mut Settings, theirs: Option<u64>, ours: Option<u64>) {
    let theirs = theirs.unwrap_or(DEFAULT_MSS);
    let agreed = ours.map_or(theirs, |ours| ours.min(theirs));
    match role {
        Role::Sender => settings.segments(agreed),
        Role::Receiver { .. } => {
            let largest =
                packets(script).filter(|(inbound, _)| *inbound).map(|(_, packet)| packet.payload).max();
            let headers = u64::from(settings.tcp.header_bytes() - nodeb_tcp::segment::HEADER_BYTES);
            settings.segments(largest.unwrap_or(agreed) + headers);
        }
    }
}
