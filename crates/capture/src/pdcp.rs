//! TS 36.323, 6.2. No link type exists for PDCP, so each PDU is the payload of a UDP datagram between base
//! station and phone behind the header of Wireshark's `packet-pdcp-lte.h`, dissected with `--enable-heuristic
//! pdcp_lte_udp`. In trials with tshark 4.0, every format that carries direction and UE needed an option:
//! exported PDUs (`LINKTYPE_WIRESHARK_UPPER_PDU`), which other programs cannot read; logs of a Catapult
//! DCT2000 have neither.

use etherparse::{IpNumber, Ipv4Header, UdpHeader};
use nodeb_air::pdcp::SnLength;
use nodeb_sim::scenario::Direction;

use crate::frame::{SERVER_PORT, TIME_TO_LIVE, phone_socket};

/// Private address (RFC 1918).
const BASE_STATION: [u8; 4] = [10, 0, 0, 3];

/// Wireshark has no dissector registered for this port, so it tries the heuristic ones.
const PORT: u16 = SERVER_PORT;

/// First octet of a data PDU: the D/C bit (TS 36.323, 6.3.7).
const DATA: u8 = 0x80;

/// Octets in front of a PDU: IPv4 header, UDP header and Wireshark's header.
const FRAMING: usize = Ipv4Header::MIN_LEN + UdpHeader::LEN + WIRESHARK;

const WIRESHARK: usize = 8 + 3 + 2 + 2 + 3 + 3 + 1;

/// Data PDU of a phone's bearer.
#[derive(Debug)]
pub struct Pdu<'a> {
    pub direction: Direction,
    pub sn_length: SnLength,
    pub phone: u32,
    /// Number among the phone's.
    pub bearer: u8,
    /// Sequence number, not yet reduced to the length of its field.
    pub number: u64,
    pub packet: &'a [u8],
    pub packet_len: u32,
}

pub fn overhead(sn_length: SnLength) -> u32 {
    FRAMING as u32 + sn_length.header()
}

impl Pdu<'_> {
    /// Headers and the packet's first bytes, and the length of the whole frame.
    pub fn frame(&self) -> (Box<[u8]>, u32) {
        let length = overhead(self.sn_length) + self.packet_len;
        let mut bytes = Vec::with_capacity(length as usize);
        bytes.extend(self.ip_header(length).to_bytes());
        bytes.extend(udp_header(length).to_bytes());
        self.add_wireshark_header(&mut bytes);
        self.add_header(&mut bytes);
        bytes.extend(self.packet);
        (bytes.into(), length)
    }

    fn ip_header(&self, length: u32) -> Ipv4Header {
        let phone = phone_socket(self.phone, 0).address;
        let (source, destination) = match self.direction {
            Direction::Down => (BASE_STATION, phone),
            Direction::Up => (phone, BASE_STATION),
        };
        let mut ip = Ipv4Header {
            total_len: saturating(length),
            time_to_live: TIME_TO_LIVE,
            protocol: IpNumber::UDP,
            source,
            destination,
            dont_fragment: true,
            ..Ipv4Header::default()
        };
        ip.header_checksum = ip.calc_header_checksum();
        ip
    }

    /// Signature, three fixed fields (with header, user plane, no header compression), and tags.
    fn add_wireshark_header(&self, bytes: &mut Vec<u8>) {
        let bits = match self.sn_length {
            SnLength::Bits12 => 12,
            SnLength::Bits18 => 18,
        };
        let direction = match self.direction {
            Direction::Up => 0,
            Direction::Down => 1,
        };
        let [ue, bearer] = [(self.phone + 1) as u16, u16::from(self.bearer) + 1].map(u16::to_be_bytes);
        bytes.extend(b"pdcp-lte");
        bytes.extend([0, 2, 0]);
        bytes.extend([0x02, bits, 0x03, direction]);
        bytes.extend([0x0d, bearer[0], bearer[1], 0x0e, ue[0], ue[1], 0x01]);
    }

    /// 12 bits (TS 36.323, 6.2.3) or 18 bits (6.2.12).
    fn add_header(&self, bytes: &mut Vec<u8>) {
        let [.., high, middle, low] = self.number.to_be_bytes();
        match self.sn_length {
            SnLength::Bits12 => bytes.extend([DATA | middle & 0x0f, low]),
            SnLength::Bits18 => bytes.extend([DATA | high & 0x03, middle, low]),
        }
    }
}

/// No checksum, which IPv4 allows (RFC 768).
fn udp_header(length: u32) -> UdpHeader {
    let length = saturating(length - Ipv4Header::MIN_LEN as u32);
    UdpHeader { source_port: PORT, destination_port: PORT, length, checksum: 0 }
}

fn saturating(length: u32) -> u16 {
    u16::try_from(length).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pdu(direction: Direction, sn_length: SnLength, number: u64) -> Vec<u8> {
        let packet = [0x45, 0x00, 0x05, 0xdc];
        let pdu =
            Pdu { direction, sn_length, phone: 1, bearer: 0, number, packet: &packet, packet_len: 1_500 };
        let (bytes, length) = pdu.frame();
        assert_eq!(length, overhead(sn_length) + 1_500);
        assert_eq!(bytes.len(), overhead(sn_length) as usize + packet.len());
        assert_eq!(bytes[bytes.len() - 4..], packet);
        bytes[20..bytes.len() - 4].to_vec()
    }

    #[test]
    fn frames_have_ports_tags_and_pdcp_header() {
        let udp = [0x9c, 0x40, 0x9c, 0x40];
        let expected =
            [&udp[..], &[0x05, 0xfc, 0, 0], b"pdcp-lte", &[0, 2, 0, 2, 12, 3, 1, 13, 0, 1, 14, 0, 2, 1]];
        let expected = [&expected.concat()[..], &[0x8a, 0xbc]].concat();
        assert_eq!(pdu(Direction::Down, SnLength::Bits12, 0x1_fabc), expected);
        let expected =
            [&udp[..], &[0x05, 0xfd, 0, 0], b"pdcp-lte", &[0, 2, 0, 2, 18, 3, 0, 13, 0, 1, 14, 0, 2, 1]];
        let expected = [&expected.concat()[..], &[0x83, 0xfa, 0xbc]].concat();
        assert_eq!(pdu(Direction::Up, SnLength::Bits18, 0xf_fabc), expected);
    }

    #[test]
    fn frames_go_between_base_station_and_phone() {
        for (direction, ends) in
            [(Direction::Down, [BASE_STATION, [10, 1, 0, 8]]), (Direction::Up, [[10, 1, 0, 8], BASE_STATION])]
        {
            let sn_length = SnLength::Bits12;
            let pdu =
                Pdu { direction, sn_length, phone: 7, bearer: 0, number: 0, packet: &[], packet_len: 0 };
            let (bytes, _) = pdu.frame();
            let (ip, rest) = Ipv4Header::from_slice(&bytes).unwrap();
            assert_eq!([ip.source, ip.destination], ends);
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(usize::from(UdpHeader::from_slice(rest).unwrap().0.length), rest.len());
        }
    }
}
