//! Reader of the packets of a script, such as `< [ce] P. 1:1001(1000) ack 1 win 257 <nop,nop,TS val 200 ecr
//! 100>`.

use crate::cursor::{Cursor, Unreadable};
use crate::script::{Action, Flags, IpEcn, Options, Packet};

const FOREIGN: [&str; 11] =
    ["icmp", "udp", "udplite", "sctp", "gre", "GREv0", "mpls", "ipv4", "ipv6", "encap", "psp"];
/// Beginning of an address before a packet, such as `addr[caddr1] > addr[saddr0] S 0:0(0)`. Scripts of
/// MPTCP give addresses to tell subflows apart.
const ADDRESS: &str = "addr[";

/// `<` from the network, `>` to be sent.
pub fn packet(at: &mut Cursor) -> Result<Action, Unreadable> {
    let inbound = at.eat("<");
    if !inbound {
        at.need(">")?;
    }
    let ip_ecn = ip_fields(at)?;
    let mut ahead = at.clone();
    let protocol = ahead.word();
    if FOREIGN.contains(&protocol) {
        at.rest_of_statement();
        return Ok(Action::Foreign(format!("a packet of {protocol}")));
    }
    if at.rest().lines().next().is_some_and(|line| line.contains(ADDRESS)) {
        at.rest_of_statement();
        return Ok(Action::Foreign("a packet with addresses, as of a subflow of MPTCP".to_owned()));
    }
    ports(at)?;
    let flags = flags(at)?;
    let (seq, payload) = range(at)?;
    let mut packet = Packet { ip_ecn, flags, seq, payload, ..Packet::default() };
    rest(at, &mut packet)?;
    Ok(if inbound { Action::Inbound(packet) } else { Action::Outbound(packet) })
}

/// Reads the fields of the IP header in brackets or parentheses. Returns the ECN field, or `None` if the
/// script does not give it.
fn ip_fields(at: &mut Cursor) -> Result<Option<IpEcn>, Unreadable> {
    let fields = if at.eat("[") {
        at.until("]")?
    } else if at.eat("(") {
        at.until(")")?
    } else {
        return Ok(None);
    };
    let ecn = |field: &str| match field.trim() {
        "noecn" => Some(IpEcn::None),
        "ect0" | "ect1" | "ect01" => Some(IpEcn::Capable),
        "ce" => Some(IpEcn::Experienced),
        _ => None,
    };
    Ok(fields.split(',').find_map(ecn))
}

/// The ports have no effect.
fn ports(at: &mut Cursor) -> Result<(), Unreadable> {
    let mut ahead = at.clone();
    if ahead.number().is_ok() && ahead.eat(">") {
        ahead.number()?;
        *at = ahead;
    }
    Ok(())
}

fn flags(at: &mut Cursor) -> Result<Flags, Unreadable> {
    let text = at.take(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    let mut flags = Flags::default();
    for letter in text.chars() {
        match letter {
            'S' => flags.syn = true,
            '.' => flags.ack = true,
            'F' => flags.fin = true,
            'R' => flags.rst = true,
            'E' => flags.ece = true,
            'W' | 'C' => flags.cwr = true,
            'P' | 'U' | '-' => {}
            'A' | '0'..='9' => flags.accurate = true,
            _ => return Err(at.error(format!("{letter} is no flag of TCP; expected S . F R P E W U"))),
        }
    }
    if text.is_empty() { Err(at.expected("flags such as S, P. or .")) } else { Ok(flags) }
}

/// Returns the first sequence number and the payload in bytes.
fn range(at: &mut Cursor) -> Result<(u64, u64), Unreadable> {
    let first = at.number()?;
    at.need(":")?;
    let end = at.number()?;
    at.need("(")?;
    let payload = at.number()?;
    at.need(")")?;
    if first.checked_add(payload) != Some(end) {
        return Err(at.error(format!("{first}:{end} are not {payload} bytes")));
    }
    if end > u64::from(u32::MAX) {
        return Err(at.error(format!("{end} is no sequence number; expected at most 4294967295")));
    }
    Ok((first, payload))
}

fn rest(at: &mut Cursor, packet: &mut Packet) -> Result<(), Unreadable> {
    loop {
        if at.eat_word("ack") {
            packet.ack = Some(at.number()?);
        } else if at.eat_word("win") {
            let window = at.number()?;
            if window > u64::from(u16::MAX) {
                return Err(at.error(format!("{window} is no window of a header; expected at most 65535")));
            }
            packet.window = Some(window);
        } else if at.eat_word("urg") {
            at.number()?;
        } else if at.eat("<") {
            packet.options = options(at)?;
        } else {
            return Ok(());
        }
    }
}

/// Reads the TCP options up to `>`. Returns `None` for `<...>`, which allows any options.
fn options(at: &mut Cursor) -> Result<Option<Options>, Unreadable> {
    let mut options = Options::default();
    if at.eat("...") {
        at.need(">")?;
        return Ok(None);
    }
    while !at.eat(">") {
        option(at, &mut options)?;
        if !at.eat(",") && !at.sees(">") {
            return Err(at.expected("`,` or `>` after an option"));
        }
    }
    Ok(Some(options))
}

fn option(at: &mut Cursor, options: &mut Options) -> Result<(), Unreadable> {
    match at.word() {
        "nop" | "eol" | "" => {}
        "mss" => options.mss = Some(at.number()?),
        "wscale" => options.window_shift = Some(at.number()?.min(14) as u8),
        "sackOK" => options.sack_permitted = true,
        "TS" => {
            at.need("val")?;
            let value = at.number()? as u32;
            at.need("ecr")?;
            options.timestamps = Some((value, at.number()? as u32));
        }
        "sack" => {
            while !at.sees(",") && !at.sees(">") {
                let first = at.number()?;
                at.need(":")?;
                options.sack.push((first, at.number()?));
            }
        }
        "FO" | "FOEXP" => _ = at.take(|c| c != ',' && c != '>'),
        kind => {
            options.other.get_or_insert(kind.to_owned());
            at.take(|c| c != ',' && c != '>');
        }
    }
    Ok(())
}
