//! Numbers already count bytes.

use super::params::Linux;
use super::{FIRST_BYTE, sack_bytes};
use crate::Opener;
use crate::segment::{HEADER_BYTES, Kind, SackBlocks, Segment};
use crate::wire::{self, End, Ends, Handshake, SERVER_WINDOW, TcpFields, scaled_window, window_shift};

#[derive(Debug)]
pub struct Wire {
    handshake: Handshake,
    timestamps: bool,
    /// IP and TCP headers.
    syn_bytes: u32,
    /// IP and TCP headers, without SACK blocks.
    header_bytes: u32,
    ecn: bool,
    /// (first byte of the first segment with the number, number).
    acks: Vec<(u64, u64)>,
    /// Highest sent by the server; 0 before its first segment after the SYN.
    end: u64,
    /// Of the phone's last ACK; at first the largest receive buffer.
    window_bytes: u64,
    ends: Ends,
}

impl Wire {
    pub fn new(tcp: &Linux) -> Self {
        let window_bytes = tcp.receive_buffer.0;
        Self {
            handshake: Handshake {
                opener: tcp.opened_by,
                mss: (tcp.packet_size.0 - u64::from(HEADER_BYTES)) as u16,
                window_bytes,
                shift: window_shift(window_bytes),
                sack_permitted: tcp.sack,
            },
            timestamps: tcp.timestamps,
            syn_bytes: tcp.syn_bytes(),
            header_bytes: tcp.header_bytes(),
            ecn: tcp.ecn,
            acks: vec![(0, 1)],
            end: 0,
            window_bytes,
            ends: Ends::default(),
        }
    }

    fn stamps(&self, packet: &Segment) -> Option<(u32, u32)> {
        self.timestamps.then_some((packet.timestamp_us, packet.echo_us))
    }

    /// RFC 3168, 6.1.1: ECE and CWR, answered by ECE alone.
    fn syn(&self, packet: &Segment, fields: TcpFields) -> TcpFields {
        let asks = fields.ack.is_none();
        TcpFields { ece: self.ecn, cwr: self.ecn && asks, timestamps: self.stamps(packet), ..fields }
    }

    /// SYN, data, or window probe without data.
    fn segment(&mut self, end: End, packet: &Segment) -> TcpFields {
        if packet.seq == 0 {
            return self.syn(packet, self.handshake.syn_of_server());
        }
        let payload = packet.size - self.header_bytes;
        if end == End::Server && packet.seq >= self.end {
            let ack = 1 + self.ends.server.request_bytes;
            if self.acks.last().is_none_or(|(_, last)| *last != ack) {
                self.acks.push((packet.seq, ack));
            }
            self.end = packet.seq + u64::from(payload);
        }
        self.ends.at(end).data = true;
        let after = self.acks.partition_point(|(first, _)| *first <= packet.seq);
        TcpFields {
            seq: packet.seq,
            ack: Some(self.acks[after.saturating_sub(1)].1),
            cwr: packet.ecn.reduced,
            window: SERVER_WINDOW,
            payload,
            timestamps: self.stamps(packet),
            ..TcpFields::default()
        }
    }

    /// The ACK of the SYN may carry the first request.
    fn ack(&mut self, end: End, packet: &Segment) -> TcpFields {
        self.window_bytes = packet.window.into();
        let passed = self.ends.at(end);
        passed.acked = passed.acked.max(packet.seq);
        let of_syn = packet.seq == FIRST_BYTE;
        let is_answer = of_syn && packet.sack.is_empty() && packet.size >= self.syn_bytes;
        let is_syn = is_answer && self.handshake.opener == Opener::Server;
        let headers = if is_syn { self.syn_bytes } else { self.header_bytes + sack_bytes(packet.sack.len()) };
        let payload = packet.size - headers;
        let seq = passed.request(of_syn && payload > 0, payload);
        if is_syn {
            return TcpFields { payload, ..self.syn(packet, self.handshake.syn_of_phone()) };
        }
        let mut sack = [(0, 0); SackBlocks::MAX];
        for (shown, (first, end)) in sack.iter_mut().zip(packet.sack.of(packet.seq)) {
            *shown = (first, end);
        }
        TcpFields {
            seq,
            ack: Some(packet.seq),
            ece: packet.ecn.echo,
            window: scaled_window(self.window_bytes, self.handshake.shift),
            payload,
            sack,
            sack_count: packet.sack.len(),
            timestamps: self.stamps(packet),
            ..TcpFields::default()
        }
    }

    fn request(&mut self, end: End, packet: &Segment) -> TcpFields {
        let passed = self.ends.at(end);
        let payload = packet.size - self.header_bytes;
        let seq = if packet.retransmission {
            passed.request_again(payload)
        } else {
            passed.request(false, payload)
        };
        let acked = passed.acked;
        TcpFields {
            seq,
            ack: Some(acked),
            window: scaled_window(self.window_bytes, self.handshake.shift),
            payload,
            timestamps: self.stamps(packet),
            ..TcpFields::default()
        }
    }
}

impl wire::Wire for Wire {
    fn fields(&mut self, end: End, packet: &Segment) -> TcpFields {
        match packet.kind {
            Kind::Connect => self.syn(packet, self.handshake.syn_of_phone()),
            Kind::Data => self.segment(end, packet),
            Kind::Ack => self.ack(end, packet),
            Kind::Request => self.request(end, packet),
        }
    }

    fn arrive(&mut self, end: End, fields: &TcpFields) {
        self.ends.arrive(end, fields);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Ecn;
    use crate::wire::Wire as _;

    fn packet(kind: Kind, seq: u64, size: u32) -> Segment {
        Segment { size, seq, timestamp_us: 7, echo_us: 5, window: 6_000_000, ..Segment::control(0, kind) }
    }

    #[test]
    fn sequence_numbers_are_unchanged() {
        let mut wire = Wire::new(&Linux::default());
        let mut shown = |packet: Segment| {
            let fields = wire.fields(End::Server, &packet);
            (fields.syn, fields.seq, fields.ack, fields.payload)
        };
        assert_eq!(shown(Segment::control(0, Kind::Connect)), (true, 0, None, 0));
        assert_eq!(shown(packet(Kind::Data, 0, 60)), (true, 0, Some(1), 0));
        assert_eq!(shown(packet(Kind::Ack, 1, 52 + 300)), (false, 1, Some(1), 300));
        assert_eq!(shown(packet(Kind::Data, 1, 1500)), (false, 1, Some(301), 1448));
        assert_eq!(shown(packet(Kind::Ack, 1, 52)), (false, 301, Some(1), 0));
        assert_eq!(shown(packet(Kind::Ack, 1449, 52)), (false, 301, Some(1449), 0));
        let request = Segment { size: 252, ..Segment::control(0, Kind::Request) };
        assert_eq!(shown(request), (false, 301, Some(1449), 200));
        let again = Segment { retransmission: true, ..request };
        assert_eq!(shown(again), (false, 301, Some(1449), 200));
        assert_eq!(shown(packet(Kind::Data, 1449, 152)), (false, 1449, Some(501), 100));
        assert_eq!(shown(packet(Kind::Data, 1, 1500)), (false, 1, Some(301), 1448));
    }

    #[test]
    fn dsack_is_below_ack() {
        let mut wire = Wire::new(&Linux::default());
        let mut sack = SackBlocks::default();
        sack.push(1001, 2001);
        sack.push(6001, 7001);
        let fields = wire.fields(End::Phone, &Segment { sack, ..packet(Kind::Ack, 5001, 52 + 20) });
        assert_eq!((fields.payload, fields.timestamps), (0, Some((7, 5))));
        assert_eq!(fields.sack[..fields.sack_count], [(1001, 2001), (6001, 7001)]);
    }

    #[test]
    fn ecn_is_negotiated_and_echoed() {
        let mut wire = Wire::new(&Linux { ecn: true, opened_by: Opener::Server, ..Linux::default() });
        let mut flags = |packet: Segment| {
            let fields = wire.fields(End::Server, &packet);
            (fields.syn, fields.ece, fields.cwr)
        };
        assert_eq!(flags(packet(Kind::Data, 0, 60)), (true, true, true));
        assert_eq!(flags(packet(Kind::Ack, 1, 60)), (true, true, false));
        let mut segment = packet(Kind::Data, 1, 1500);
        segment.ecn = Ecn { capable: true, reduced: true, ..Ecn::default() };
        assert_eq!(flags(segment), (false, false, true));
        let mut ack = packet(Kind::Ack, 1449, 52);
        ack.ecn.echo = true;
        assert_eq!(flags(ack), (false, true, false));
    }
}
