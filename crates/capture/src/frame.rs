use etherparse::checksum::Sum16BitWords;
use etherparse::err::ValueTooBigError;
use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement, TcpOptions};
use nodeb_tcp::segment::Ecn;
use nodeb_tcp::wire::TcpFields;

/// Private address (RFC 1918).
pub const SERVER: [u8; 4] = [10, 0, 0, 1];

/// Address of phone 0; phone n has this address plus n.
pub const FIRST_PHONE: [u8; 4] = [10, 1, 0, 1];

pub const PROXY: [u8; 4] = [10, 0, 0, 2];

/// No common protocol uses it, so analysers do not interpret the data.
pub const SERVER_PORT: u16 = 40_000;

/// RFC 6335, 6: connection n uses 49152 + n, again from 49152 after 65535.
const CLIENT_PORTS: std::ops::RangeInclusive<u16> = 49_152..=65_535;

/// The default of most hosts.
pub const TIME_TO_LIVE: u8 = 64;

/// 20 B of IPv4, 20 B of TCP and 40 B of options.
pub const MAX_HEADER_BYTES: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    pub address: [u8; 4],
    pub port: u16,
}

/// The same in every connection.
pub const SERVER_SOCKET: Socket = Socket { address: SERVER, port: SERVER_PORT };

/// The same in every connection to a phone.
pub const PROXY_SOCKET: Socket = Socket { address: PROXY, port: SERVER_PORT };

pub fn phone_socket(phone: u32, flow: u32) -> Socket {
    let address = (u32::from_be_bytes(FIRST_PHONE) + phone).to_be_bytes();
    Socket { address, port: client_port(flow) }
}

pub fn proxy_client_socket(flow: u32) -> Socket {
    Socket { address: PROXY, port: client_port(flow) }
}

fn client_port(flow: u32) -> u16 {
    let ports = u32::from(*CLIENT_PORTS.end() - *CLIENT_PORTS.start()) + 1;
    CLIENT_PORTS.start() + (flow % ports) as u16
}

/// Up to the snap length.
#[derive(Debug)]
pub struct Frame {
    bytes: Box<[u8]>,
    captured: usize,
}

impl Frame {
    /// `snap_length` must be at least [`MAX_HEADER_BYTES`].
    pub fn new(snap_length: usize) -> Self {
        Self { bytes: vec![0; snap_length].into(), captured: 0 }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.captured]
    }

    /// Builds a packet with these addresses and header fields. Returns its length in bytes before
    /// it is cut to the snap length. The data are zeros, which change the checksum only by their
    /// length.
    ///
    /// # Errors
    ///
    /// Returns an error if the packet is longer than IPv4 allows, which is 65 535 B.
    pub fn set(
        &mut self,
        from: Socket,
        to: Socket,
        fields: &TcpFields,
        ecn: Ecn,
    ) -> Result<u32, ValueTooBigError<u16>> {
        let tcp = tcp_header(from, to, fields);
        let mut tcp_bytes = tcp.to_bytes();
        let length = (tcp_bytes.len() + fields.payload as usize).min(usize::from(u16::MAX)) as u16;
        let mut ip = Ipv4Header::new(length, TIME_TO_LIVE, IpNumber::TCP, from.address, to.address)?;
        ip.ecn = codepoint(ecn);
        // The identification stays 0, which is allowed because the datagram must not be fragmented:
        // it is atomic in the sense of RFC 6864, 4.1.
        ip.dont_fragment = true;
        ip.header_checksum = ip.calc_header_checksum();
        // The checksum covers the pseudo header, the TCP header and the data (RFC 9293, 3.1).
        let sum = Sum16BitWords::new()
            .add_4bytes(from.address)
            .add_4bytes(to.address)
            .add_2bytes([0, IpNumber::TCP.0])
            .add_2bytes(length.to_be_bytes())
            .add_slice(&tcp_bytes)
            .ones_complement();
        tcp_bytes[16..18].copy_from_slice(&sum.to_ne_bytes());
        let ip_bytes = ip.to_bytes();
        let headers = ip_bytes.len() + tcp_bytes.len();
        self.bytes[..ip_bytes.len()].copy_from_slice(&ip_bytes);
        self.bytes[ip_bytes.len()..headers].copy_from_slice(&tcp_bytes);
        self.bytes[headers..MAX_HEADER_BYTES].fill(0);
        self.captured = self.bytes.len().min(ip.total_len.into());
        Ok(ip.total_len.into())
    }
}

/// RFC 3168, section 5.
fn codepoint(ecn: Ecn) -> IpEcn {
    match (ecn.experienced, ecn.capable) {
        (true, _) => IpEcn::CongestionExperienced,
        (_, true) => IpEcn::Ect0,
        _ => IpEcn::NotEct,
    }
}

fn tcp_header(from: Socket, to: Socket, fields: &TcpFields) -> TcpHeader {
    let mut tcp = TcpHeader::new(from.port, to.port, fields.seq as u32, fields.window);
    tcp.ack = fields.ack.is_some();
    tcp.acknowledgment_number = fields.ack.unwrap_or(0) as u32;
    (tcp.syn, tcp.ece, tcp.cwr) = (fields.syn, fields.ece, fields.cwr);
    tcp.options = options(fields);
    tcp
}

/// Padded with NOPs to words of 32 bits, as hosts do (RFC 7323, appendix A).
fn options(fields: &TcpFields) -> TcpOptions {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
        WindowScale,
    };
    let (mut elements, mut count) = ([const { Noop }; 12], 0);
    let mut add = |element| {
        elements[count] = element;
        count += 1;
    };
    if let Some(mss) = fields.mss {
        add(MaximumSegmentSize(mss));
    }
    if let Some(shift) = fields.window_shift {
        add(Noop);
        add(WindowScale(shift));
    }
    // Timestamps fill two and a half words of 32 bits. SACK-permitted fills the other half word, so
    // the two NOPs of padding are added only if one of the two options is used without the other.
    if fields.sack_permitted != fields.timestamps.is_some() {
        add(Noop);
        add(Noop);
    }
    if fields.sack_permitted {
        add(SelectiveAcknowledgementPermitted);
    }
    if let Some((value, echo)) = fields.timestamps {
        add(Timestamp(value, echo));
    }
    let block = |i: usize| {
        let (first, end) = fields.sack[i];
        (i < fields.sack_count).then_some((first as u32, end as u32))
    };
    if let Some(first) = block(0) {
        add(Noop);
        add(Noop);
        add(SelectiveAcknowledgement(first, [block(1), block(2), None]));
    }
    // The options fit into 40 B: a SYN has at most 4 B (MSS), 4 B (window scale) and 12 B
    // (SACK-permitted, timestamps), a later segment at most 12 B (timestamps) and 28 B (SACK).
    TcpOptions::try_from_elements(&elements[..count]).unwrap_or_default()
}
