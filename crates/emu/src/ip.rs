//! RFC 791 and RFC 8200 (headers), RFC 3168 (ECN), RFC 1624 (incremental update of the checksum).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nodeb_base::packet::EcnField;

const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;

/// Only the first fragment of a packet has ports (RFC 791, 3.1).
const FRAGMENT: u16 = 0x3fff;

const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

const CE: u8 = 0b11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub to: IpAddr,
    /// Of addresses, protocol and ports; IPv4 fragments without ports.
    pub flow_hash: u32,
    /// RFC 3168.
    pub ecn: EcnField,
}

pub fn read(packet: &[u8]) -> Option<Header> {
    match packet.first()? >> 4 {
        4 => read_v4(packet),
        6 => read_v6(packet),
        _ => None,
    }
}

fn read_v4(packet: &[u8]) -> Option<Header> {
    let header = packet.get(..IPV4_HEADER)?;
    let header_bytes = usize::from(header[0] & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header_bytes < IPV4_HEADER || total != packet.len() || header_bytes > total {
        return None;
    }
    let protocol = header[9];
    let whole = u16::from_be_bytes([header[6], header[7]]) & FRAGMENT == 0;
    let mut hash = Fnv::default();
    hash.add(&header[12..20]);
    hash.add(&[protocol]);
    if whole {
        hash.add(ports(protocol, &packet[header_bytes..]));
    }
    let to: [u8; 4] = header[16..20].try_into().ok()?;
    Some(Header { to: Ipv4Addr::from(to).into(), flow_hash: hash.0, ecn: ecn_of(header[1]) })
}

/// Reads an IPv6 header. The flow hash excludes the flow label, as Linux changes the label during a connection if it
/// suspects that the path has failed. Ports behind extension headers are not read: the flow hash of such packets
/// depends on the addresses and the first extension header's type only.
fn read_v6(packet: &[u8]) -> Option<Header> {
    let header = packet.get(..IPV6_HEADER)?;
    let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
    if payload + IPV6_HEADER != packet.len() {
        return None;
    }
    let next = header[6];
    let mut hash = Fnv::default();
    hash.add(&header[8..40]);
    hash.add(&[next]);
    hash.add(ports(next, &packet[IPV6_HEADER..]));
    let to: [u8; 16] = header[24..40].try_into().ok()?;
    let traffic_class = header[0] << 4 | header[1] >> 4;
    Some(Header { to: Ipv6Addr::from(to).into(), flow_hash: hash.0, ecn: ecn_of(traffic_class) })
}

fn ports(protocol: u8, payload: &[u8]) -> &[u8] {
    if WITH_PORTS.contains(&protocol) { payload.get(..4).unwrap_or_default() } else { &[] }
}

fn ecn_of(traffic_class: u8) -> EcnField {
    match traffic_class & CE {
        0 => EcnField::NotEct,
        1 => EcnField::Ect1,
        2 => EcnField::Ect0,
        _ => EcnField::Ce,
    }
}

/// Updates the checksum of an IPv4 header.
pub fn mark_ce(packet: &mut [u8]) {
    match packet {
        [first, ..] if *first >> 4 == 6 => packet[1] |= CE << 4,
        [_, _, ..] => {
            let old = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] |= CE;
            let new = u16::from_be_bytes([packet[0], packet[1]]);
            let checksum = u16::from_be_bytes([packet[10], packet[11]]);
            packet[10..12].copy_from_slice(&updated(checksum, old, new).to_be_bytes());
        }
        _ => {}
    }
}

/// RFC 1624, equation 3, for a 16-bit word.
fn updated(checksum: u16, old: u16, new: u16) -> u16 {
    let mut sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// FNV-1a hash, 32 bits. The hash of a packet is equal in every process, so that a replay has the flow hashes
/// of the recording.
struct Fnv(u32);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x811c_9dc5)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// With a correct header checksum (RFC 791, 3.1).
    fn v4(ecn: u8, fragment: u16, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let total = (IPV4_HEADER + payload.len()) as u16;
        let mut packet = vec![0x45, ecn, 0, 0, 0, 7, 0, 0, 64, protocol, 0, 0, 10, 64, 0, 1, 10, 64, 0, 2];
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[6..8].copy_from_slice(&fragment.to_be_bytes());
        let sum = !checksum_of(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend(payload);
        packet
    }

    fn v6(ecn: u8, next: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, ecn << 4, 0, 0, 0, 0, next, 64];
        packet[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
        packet.extend([0xfd; 16]);
        packet.extend([0xfe; 16]);
        packet.extend(payload);
        packet
    }

    fn checksum_of(header: &[u8]) -> u16 {
        let words = header.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn destination_ecn_and_flow_are_read() {
        let one = read(&v4(2, 0, 6, &[1, 2, 3, 4, 9])).unwrap();
        assert_eq!(one.to, IpAddr::from([10, 64, 0, 2]));
        assert_eq!(one.ecn, EcnField::Ect0);
        assert_eq!(one.flow_hash, read(&v4(0, 0, 6, &[1, 2, 3, 4, 7, 7])).unwrap().flow_hash);
        for other in [v4(2, 0, 6, &[1, 2, 3, 5, 9]), v4(2, 0, 17, &[1, 2, 3, 4, 9])] {
            assert_ne!(one.flow_hash, read(&other).unwrap().flow_hash);
        }
        let six = read(&v6(1, 17, &[1, 2, 3, 4])).unwrap();
        assert_eq!((six.to, six.ecn), (IpAddr::from([0xfe; 16]), EcnField::Ect1));
        assert_ne!(six.flow_hash, read(&v6(1, 17, &[1, 2, 3, 5])).unwrap().flow_hash);
    }

    #[test]
    fn fragments_of_a_packet_have_one_flow() {
        let first = read(&v4(0, 0x2000, 17, &[1, 2, 3, 4])).unwrap();
        let last = read(&v4(0, 0x0005, 17, &[5, 6, 7, 8])).unwrap();
        assert_eq!(first.flow_hash, last.flow_hash);
    }

    #[test]
    fn invalid_headers_are_refused() {
        let whole = v4(0, 0, 6, &[1, 2, 3, 4]);
        assert!(read(&[]).is_none());
        assert!(read(&whole[..whole.len() - 1]).is_none(), "shorter than its length field");
        assert!(read(&[whole.as_slice(), &[0]].concat()).is_none(), "longer than its length field");
        assert!(read(&v6(0, 17, &[1; 9])[..45]).is_none());
        let mut short_header = whole.clone();
        short_header[0] = 0x44;
        assert!(read(&short_header).is_none());
        let mut long_header = whole;
        long_header[0] = 0x4f;
        assert!(read(&long_header).is_none());
    }

    #[test]
    fn marking_keeps_the_header_valid() {
        let mut packet = v4(1, 0, 6, &[1, 2, 3, 4]);
        mark_ce(&mut packet);
        assert_eq!(read(&packet).unwrap().ecn, EcnField::Ce);
        assert_eq!(checksum_of(&packet[..IPV4_HEADER]), 0xffff);
        let mut packet = v6(2, 6, &[0; 20]);
        mark_ce(&mut packet);
        assert_eq!(read(&packet).unwrap().ecn, EcnField::Ce);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_marked_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            if read(&bytes).is_some() {
                mark_ce(&mut bytes);
                prop_assert_eq!(read(&bytes).unwrap().ecn, EcnField::Ce);
            }
        }

        #[test]
        fn updated_checksum_equals_recomputed_one(identity in any::<[u8; 2]>(), ecn in 1_u8..3) {
            let mut packet = v4(ecn, 0, 6, &[0; 8]);
            packet[4..6].copy_from_slice(&identity);
            packet[10..12].fill(0);
            let sum = !checksum_of(&packet[..IPV4_HEADER]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            mark_ce(&mut packet);
            prop_assert_eq!(checksum_of(&packet[..IPV4_HEADER]), 0xffff);
        }
    }
}
