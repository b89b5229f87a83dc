//! Modern TCP on the wire: nearly what it is already, bytes.
//!
//! Sizes and options are the simulated ones, but for MSS, window scale and SACK-permitted on SYNs. A
//! phone's SYN is simulated without the timestamp that it would bear, so it is shown with one of 0;
//! a later request is shown without.

use super::params::Linux;
use super::{TIMESTAMPS_BYTES, sack_base, sack_bytes};
use crate::packet::{HEADER_BYTES, Kind, Packet, SackBlocks};
use crate::transport::wire::{
    self, End, Ends, Handshake, SERVER_WINDOW, TcpFields, scaled_window, window_shift,
};

/// Translates the packets of one connection.
#[derive(Debug)]
pub struct Wire {
    handshake: Handshake,
    timestamps: bool,
    ecn: bool,
    /// From which byte on new segments carry which acknowledgement number.
    acks: Vec<(u64, u64)>,
    /// One past the highest byte that the server has sent.
    end: u64,
    /// The window of the last ACK, bytes.
    window_bytes: u64,
    ends: Ends,
}

impl Wire {
    /// For a connection with these parameters that has sent nothing.
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
            ecn: tcp.ecn,
            acks: vec![(0, 1)],
            end: 0,
            window_bytes,
            ends: Ends::default(),
        }
    }

    fn stamps(&self, packet: &Packet) -> Option<(u32, u32)> {
        self.timestamps.then_some((packet.timestamp_us, packet.echo_us))
    }

    /// A SYN asks for ECN with both flags, its answer agrees with one (RFC 3168, 6.1.1).
    fn syn(&self, packet: &Packet, fields: TcpFields) -> TcpFields {
        let asks = fields.ack.is_none();
        TcpFields { ece: self.ecn, cwr: self.ecn && asks, timestamps: self.stamps(packet), ..fields }
    }

    /// A segment of the server; without data the SYN, or a probe of a closed window.
    fn segment(&mut self, end: End, packet: &Packet) -> TcpFields {
        let payload = packet.size - HEADER_BYTES - if self.timestamps { TIMESTAMPS_BYTES } else { 0 };
        if packet.seq == 0 && payload == 0 {
            return self.syn(packet, self.handshake.syn_of_server());
        }
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
            seq: 1 + packet.seq,
            ack: Some(self.acks[after.saturating_sub(1)].1),
            cwr: packet.ecn.reduced,
            window: SERVER_WINDOW,
            payload,
            timestamps: self.stamps(packet),
            ..TcpFields::default()
        }
    }

    /// An ACK of the phone; that of the SYN may carry the first request.
    fn ack(&mut self, end: End, packet: &Packet) -> TcpFields {
        let stamps = if self.timestamps { TIMESTAMPS_BYTES } else { 0 };
        let payload = packet.size - HEADER_BYTES - stamps - sack_bytes(packet.sack.len());
        self.window_bytes = packet.window.into();
        let passed = self.ends.at(end);
        passed.acked = passed.acked.max(packet.seq);
        let seq = passed.request(packet.seq == 0 && payload > 0, payload);
        if packet.seq == 0 && self.handshake.is_syn_of_phone(passed, payload) {
            return TcpFields { payload, ..self.syn(packet, self.handshake.syn_of_phone()) };
        }
        let mut sack = [(0, 0); SackBlocks::MOST];
        for (shown, (first, end)) in sack.iter_mut().zip(packet.sack.of(sack_base(packet.seq))) {
            *shown = (1 + first, 1 + end);
        }
        TcpFields {
            seq,
            ack: Some(1 + packet.seq),
            ece: packet.ecn.echo,
            window: scaled_window(self.window_bytes, self.handshake.shift),
            payload,
            sack,
            sack_count: packet.sack.len(),
            timestamps: self.stamps(packet),
            ..TcpFields::default()
        }
    }

    /// A later request of the phone.
    fn request(&mut self, end: End, packet: &Packet) -> TcpFields {
        let passed = self.ends.at(end);
        let payload = packet.size - HEADER_BYTES;
        let (seq, acked) = (passed.request(false, payload), passed.acked);
        TcpFields {
            seq,
            ack: Some(1 + acked),
            window: scaled_window(self.window_bytes, self.handshake.shift),
            payload,
            ..TcpFields::default()
        }
    }
}

impl wire::Wire for Wire {
    fn fields(&mut self, end: End, packet: &Packet) -> TcpFields {
        match packet.kind {
            Kind::Connect => self.syn(packet, self.handshake.syn_of_phone()),
            Kind::Segment => self.segment(end, packet),
            Kind::Ack => self.ack(end, packet),
            Kind::Request => self.request(end, packet),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::transport::Opener;
    use crate::transport::wire::Wire as _;

    fn packet(kind: Kind, seq: u64, size: u32) -> Packet {
        Packet { size, seq, timestamp_us: 7, echo_us: 5, window: 6_000_000, ..Packet::control(0, kind) }
    }

    #[test]
    fn bytes_stay_bytes() {
        let mut wire = Wire::new(&Linux::default());
        let mut shown = |packet: Packet| {
            let fields = wire.fields(End::Server, &packet);
            (fields.syn, fields.seq, fields.ack, fields.payload)
        };
        assert_eq!(shown(Packet::control(0, Kind::Connect)), (true, 0, None, 0));
        assert_eq!(shown(packet(Kind::Segment, 0, 52)), (true, 0, Some(1), 0));
        assert_eq!(shown(packet(Kind::Ack, 0, 52 + 300)), (false, 1, Some(1), 300));
        assert_eq!(shown(packet(Kind::Segment, 0, 1500)), (false, 1, Some(301), 1448));
        assert_eq!(shown(packet(Kind::Ack, 0, 52)), (false, 301, Some(1), 0));
        assert_eq!(shown(packet(Kind::Ack, 1448, 52)), (false, 301, Some(1449), 0));
        let request = Packet { size: 240, ..Packet::control(0, Kind::Request) };
        assert_eq!(shown(request), (false, 301, Some(1449), 200));
        assert_eq!(shown(packet(Kind::Segment, 1448, 152)), (false, 1449, Some(501), 100));
        assert_eq!(shown(packet(Kind::Segment, 0, 1500)), (false, 1, Some(301), 1448));
    }

    #[test]
    fn a_duplicate_is_reported_below_the_ack() {
        let mut wire = Wire::new(&Linux::default());
        let mut sack = SackBlocks::default();
        sack.push(sack_base(5000), 1000, 2000);
        sack.push(sack_base(5000), 6000, 7000);
        let fields = wire.fields(End::Phone, &Packet { sack, ..packet(Kind::Ack, 5000, 52 + 20) });
        assert_eq!((fields.payload, fields.timestamps), (0, Some((7, 5))));
        assert_eq!(fields.sack[..fields.sack_count], [(1001, 2001), (6001, 7001)]);
    }

    #[test]
    fn ecn_is_negotiated_and_echoed() {
        let mut wire = Wire::new(&Linux { ecn: true, opened_by: Opener::Server, ..Linux::default() });
        let mut flags = |packet: Packet| {
            let fields = wire.fields(End::Server, &packet);
            (fields.syn, fields.ece, fields.cwr)
        };
        assert_eq!(flags(packet(Kind::Segment, 0, 52)), (true, true, true));
        assert_eq!(flags(packet(Kind::Ack, 0, 52)), (true, true, false));
        let mut segment = packet(Kind::Segment, 0, 1500);
        segment.ecn = Ecn { capable: true, reduced: true, ..Ecn::default() };
        assert_eq!(flags(segment), (false, false, true));
        let mut ack = packet(Kind::Ack, 1448, 52);
        ack.ecn.echo = true;
        assert_eq!(flags(ack), (false, true, false));
    }
}
