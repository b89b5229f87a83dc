//! A recording has the first bytes of each packet; [`crate::ip`] reads whole packets. Sources: RFC 791 and
//! RFC 8200 (IP), RFC 9293 (TCP), RFC 7323 (window scale), RFC 2018 (SACK).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const TCP: u8 = 6;
const WITH_PORTS: [u8; 5] = [TCP, 17, 33, 132, 136];
/// A fragment with another offset than 0 has no transport header (RFC 791, section 3.1).
const OFFSET: u16 = 0x1fff;

/// The sender has no more data.
pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const ACK: u8 = 16;

/// Of a recorded packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub protocol: u8,
    /// The port is 0 if the protocol has no ports, if the port was not recorded, or if the packet is a later IPv4
    /// fragment.
    pub from: SocketAddr,
    /// The port is 0 if the protocol has no ports, if the port was not recorded, or if the packet is a later IPv4
    /// fragment.
    pub to: SocketAddr,
    /// If its 20 fixed bytes were recorded and its length is valid.
    pub tcp: Option<Tcp>,
}

/// Fields of a TCP header that show the state of its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// SEG.SEQ of RFC 9293.
    pub seq: u32,
    pub ack: u32,
    pub flags: u8,
    /// Unscaled, as sent.
    pub window: u16,
    /// By the length fields, even if fewer bytes are recorded.
    pub payload: u32,
    /// Window scale, at most 14.
    pub shift: Option<u8>,
    /// Kind 5.
    pub has_sack: bool,
}

impl Tcp {
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// SEG.LEN of RFC 9293.
    pub fn sequence_len(&self) -> u32 {
        self.payload + u32::from(self.has(SYN)) + u32::from(self.has(FIN))
    }
}

pub fn read(kept: &[u8]) -> Option<Head> {
    match kept.first()? >> 4 {
        4 => read_v4(kept),
        6 => read_v6(kept),
        _ => None,
    }
}

fn read_v4(kept: &[u8]) -> Option<Head> {
    let header = kept.get(..20)?;
    let length = usize::from(header[0] & 0xf) * 4;
    let total = u32::from(u16::from_be_bytes([header[2], header[3]]));
    let source: [u8; 4] = header[12..16].try_into().ok()?;
    let target: [u8; 4] = header[16..20].try_into().ok()?;
    let is_first = u16::from_be_bytes([header[6], header[7]]) & OFFSET == 0;
    let rest = kept.get(length.max(20)..).filter(|_| is_first).unwrap_or_default();
    let payload = total.saturating_sub(length as u32);
    let (from, to) = (Ipv4Addr::from(source).into(), Ipv4Addr::from(target).into());
    Some(transport(header[9], from, to, rest, payload))
}

fn read_v6(kept: &[u8]) -> Option<Head> {
    let header = kept.get(..40)?;
    let payload = u32::from(u16::from_be_bytes([header[4], header[5]]));
    let source: [u8; 16] = header[8..24].try_into().ok()?;
    let target: [u8; 16] = header[24..40].try_into().ok()?;
    let (from, to) = (Ipv6Addr::from(source).into(), Ipv6Addr::from(target).into());
    Some(transport(header[6], from, to, &kept[40..], payload))
}

fn transport(protocol: u8, from: IpAddr, to: IpAddr, rest: &[u8], bytes: u32) -> Head {
    let ports = rest.get(..4).filter(|_| WITH_PORTS.contains(&protocol));
    let port = |at: usize| ports.map_or(0, |ports| u16::from_be_bytes([ports[at], ports[at + 1]]));
    let (from, to) = (SocketAddr::new(from, port(0)), SocketAddr::new(to, port(2)));
    let tcp = if protocol == TCP { read_tcp(rest, bytes) } else { None };
    Head { protocol, from, to, tcp }
}

fn read_tcp(rest: &[u8], bytes: u32) -> Option<Tcp> {
    let header = rest.get(..20)?;
    let length = u32::from(header[12] >> 4) * 4;
    if length < 20 || length > bytes {
        return None;
    }
    let number = |at: usize| header[at..at + 4].try_into().map_or(0, u32::from_be_bytes);
    let options = rest.get(20..rest.len().min(length as usize)).unwrap_or_default();
    let (shift, has_sack) = read_options(options);
    let (seq, ack, flags) = (number(4), number(8), header[13]);
    let window = u16::from_be_bytes([header[14], header[15]]);
    Some(Tcp { seq, ack, flags, window, payload: bytes - length, shift, has_sack })
}

/// Shift count of the window scale, and whether there is SACK.
fn read_options(mut options: &[u8]) -> (Option<u8>, bool) {
    let (mut shift, mut has_sack) = (None, false);
    while let [kind, rest @ ..] = options {
        match (*kind, rest) {
            (0, _) => break,
            (1, _) => options = rest,
            (kind, [length, ..]) if *length >= 2 => {
                match (kind, rest.get(1)) {
                    (3, Some(bits)) => shift = Some((*bits).min(14)),
                    (5, _) => has_sack = true,
                    _ => {}
                }
                options = options.get(usize::from(*length)..).unwrap_or_default();
            }
            _ => break,
        }
    }
    (shift, has_sack)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(options: &[u8], payload: usize) -> Vec<u8> {
        let length = 40 + options.len() + payload;
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0, 10, 64, 0, 1, 10, 64, 0, 2];
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet.extend([0, 80, 0x9c, 0x40, 0, 0, 1, 0, 0, 0, 2, 0]);
        packet.extend([(((20 + options.len()) / 4) << 4) as u8, ACK | SYN, 1, 0, 0, 0, 0, 0]);
        packet.extend(options);
        packet.resize(length, 7);
        packet
    }

    #[test]
    fn header_is_read_with_ports_numbers_and_options() {
        let head = read(&segment(&[1, 3, 3, 7, 5, 10, 0, 0, 0, 0, 0, 0], 1000)[..60]).unwrap();
        let expected = Tcp {
            seq: 256,
            ack: 512,
            flags: ACK | SYN,
            window: 256,
            payload: 1000,
            shift: Some(7),
            has_sack: true,
        };
        assert_eq!(head.tcp, Some(expected));
        assert_eq!((head.from.port(), head.to.to_string()), (80, "10.64.0.2:40000".to_owned()));
        assert_eq!(expected.sequence_len(), 1001);
    }

    #[test]
    fn fields_that_were_not_recorded_are_absent() {
        let whole = segment(&[], 0);
        assert_eq!(read(&whole[..39]).unwrap().tcp, None);
        assert_eq!(read(&whole[..24]).unwrap().from.port(), 80);
        assert_eq!(read(&whole[..20]).unwrap().from.port(), 0);
        assert_eq!(read(&whole[..19]), None);
        let mut fragment = whole;
        fragment[7] = 1;
        assert_eq!(read(&fragment).unwrap().tcp, None);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_read_or_refused(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..120), four in any::<bool>(),
        ) {
            if let [first, ..] = bytes.as_mut_slice() {
                *first = if four { 0x45 } else { 0x60 };
            }
            if let Some(Head { tcp: Some(tcp), .. }) = read(&bytes) {
                prop_assert!(tcp.payload <= 65_535);
            }
        }
    }
}
