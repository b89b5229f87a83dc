//! Turns segment numbers into byte numbers; segment 0 is the server's SYN. If the server opens the
//! connection, the ACK of its SYN is shown as a SYN-ACK. Headers show the options of a real connection, which
//! simulated sizes do not include except for 8 B per SACK block.

use super::params::Classic;
use crate::segment::{HEADER_BYTES, Kind, SackBlocks, Segment};
use crate::wire::{self, End, Ends, Handshake, SERVER_WINDOW, TcpFields, scaled_window, window_shift};

const SACK_BLOCK_BYTES: u32 = 8;

/// Consecutive segments, full-sized except possibly the last, with the same acknowledgement number.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// First segment.
    segment: u64,
    seq: u64,
    ack: u64,
}

#[derive(Debug)]
pub struct Wire {
    handshake: Handshake,
    mss: u64,
    /// Of the phone after its SYN, already scaled.
    window: u16,
    runs: Vec<Run>,
    /// Next new segment of the server.
    end: u64,
    /// Of segment `end`.
    end_seq: u64,
    ends: Ends,
}

impl Wire {
    pub fn new(tcp: &Classic) -> Self {
        let mss = tcp.packet_size.0 - u64::from(HEADER_BYTES);
        let window_bytes = u64::from(tcp.max_window.get()) * mss;
        let shift = window_shift(window_bytes);
        let sack_permitted = tcp.control.wants_sack();
        Self {
            handshake: Handshake {
                opener: tcp.opened_by,
                mss: mss as u16,
                window_bytes,
                shift,
                sack_permitted,
            },
            mss,
            window: scaled_window(window_bytes, shift),
            runs: vec![Run { segment: 1, seq: 1, ack: 1 }],
            end: 1,
            end_seq: 1,
            ends: Ends::default(),
        }
    }

    fn run(&self, segment: u64) -> Run {
        let after = self.runs.partition_point(|run| run.segment <= segment);
        self.runs[after.saturating_sub(1)]
    }

    fn seq(&self, segment: u64) -> u64 {
        if segment == self.end {
            return self.end_seq;
        }
        let run = self.run(segment);
        run.seq + (segment - run.segment) * self.mss
    }

    /// First transmissions only.
    fn record(&mut self, segment: u64, payload: u32) {
        if segment != self.end {
            return;
        }
        let (run, ack) = (self.run(segment), 1 + self.ends.server.request_bytes);
        if run.seq + (segment - run.segment) * self.mss != self.end_seq || run.ack != ack {
            self.runs.push(Run { segment, seq: self.end_seq, ack });
        }
        self.end += 1;
        self.end_seq += u64::from(payload);
    }

    /// Of the server.
    fn segment(&mut self, end: End, packet: &Segment) -> TcpFields {
        if packet.seq == 0 {
            return self.handshake.syn_of_server();
        }
        let payload = packet.size - HEADER_BYTES;
        if end == End::Server {
            self.record(packet.seq, payload);
        }
        self.ends.at(end).data = true;
        let (seq, ack) = (self.seq(packet.seq), self.run(packet.seq).ack);
        TcpFields { seq, ack: Some(ack), window: SERVER_WINDOW, payload, ..TcpFields::default() }
    }

    /// Of the phone; the ACK of the SYN may carry the first request.
    fn ack(&mut self, end: End, packet: &Segment) -> TcpFields {
        let sack_bytes = SACK_BLOCK_BYTES * packet.sack.len() as u32;
        let payload = packet.size.saturating_sub(HEADER_BYTES + sack_bytes);
        let passed = self.ends.at(end);
        passed.acked = passed.acked.max(packet.seq);
        let seq = passed.request(packet.seq == 0 && payload > 0, payload);
        if packet.seq == 0 && self.handshake.is_syn_of_phone(passed, payload) {
            return TcpFields { payload, ..self.handshake.syn_of_phone() };
        }
        TcpFields {
            seq,
            ack: Some(self.seq(packet.seq + 1)),
            window: self.window,
            payload,
            sack: self.sack(packet),
            sack_count: packet.sack.len(),
            ..TcpFields::default()
        }
    }

    /// Without an ACK of data.
    fn request(&mut self, end: End, packet: &Segment) -> TcpFields {
        let passed = self.ends.at(end);
        let payload = packet.size - HEADER_BYTES;
        let seq = if packet.retransmission {
            passed.request_again(payload)
        } else {
            passed.request(false, payload)
        };
        let acked = passed.acked;
        TcpFields {
            seq,
            ack: Some(self.seq(acked + 1)),
            window: self.window,
            payload,
            ..TcpFields::default()
        }
    }

    fn sack(&self, packet: &Segment) -> [(u64, u64); SackBlocks::MAX] {
        let mut blocks = [(0, 0); SackBlocks::MAX];
        for (bytes, (first, end)) in blocks.iter_mut().zip(packet.sack.of(packet.seq)) {
            *bytes = (self.seq(first), self.seq(end));
        }
        blocks
    }
}

impl wire::Wire for Wire {
    fn fields(&mut self, end: End, packet: &Segment) -> TcpFields {
        match packet.kind {
            Kind::Connect => self.handshake.syn_of_phone(),
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
    use crate::Opener;
    use crate::wire::Wire as _;

    fn wire(tcp: &Classic) -> Wire {
        Wire::new(tcp)
    }

    fn segment(seq: u64, size: u32) -> Segment {
        Segment { size, seq, ..Segment::control(0, Kind::Data) }
    }

    fn ack(seq: u64, payload: u32) -> Segment {
        Segment { size: HEADER_BYTES + payload, seq, ..Segment::control(0, Kind::Ack) }
    }

    /// SYN flag, sequence and acknowledgement numbers, and payload.
    fn summary(fields: TcpFields) -> (bool, u64, Option<u64>, u32) {
        (fields.syn, fields.seq, fields.ack, fields.payload)
    }

    #[test]
    fn three_packets_open_connection_before_request() {
        let mut wire = wire(&Classic::default());
        let mut shown = |packet| summary(wire.fields(End::Server, &packet));
        assert_eq!(shown(Segment::control(0, Kind::Connect)), (true, 0, None, 0));
        assert_eq!(shown(segment(0, 40)), (true, 0, Some(1), 0));
        assert_eq!(shown(ack(0, 100)), (false, 1, Some(1), 100));
        assert_eq!(shown(segment(1, 1500)), (false, 1, Some(101), 1460));
        assert_eq!(shown(segment(2, 540)), (false, 1461, Some(101), 500));
        // Segment 2 arrived before segment 1, so this is a duplicate ACK.
        assert_eq!(shown(ack(0, 0)), (false, 101, Some(1), 0));
        // The server has retransmitted its SYN. The ACK of this copy repeats the request.
        assert_eq!(shown(ack(0, 100)), (false, 1, Some(1), 100));
        assert_eq!(shown(ack(2, 0)), (false, 101, Some(1961), 0));
    }

    #[test]
    fn server_opening_is_answered_with_syn_ack() {
        let mut wire = wire(&Classic { opened_by: Opener::Server, ..Classic::default() });
        let mut shown = |packet| summary(wire.fields(End::Server, &packet));
        assert_eq!(shown(segment(0, 40)), (true, 0, None, 0));
        assert_eq!(shown(ack(0, 0)), (true, 0, Some(1), 0));
        assert_eq!(shown(segment(1, 1500)), (false, 1, Some(1), 1460));
        assert_eq!(shown(ack(0, 0)), (false, 1, Some(1), 0));
    }

    #[test]
    fn short_segments_shift_later_sequence_numbers() {
        let mut wire = wire(&Classic::default());
        let sizes = [1500, 1500, 140, 1500, 41, 1500];
        let starts: Vec<u64> =
            (1..).zip(sizes).map(|(seq, size)| wire.fields(End::Server, &segment(seq, size)).seq).collect();
        assert_eq!(starts, [1, 1461, 2921, 3021, 4481, 4482]);
        let again: Vec<u64> =
            (1..).zip(sizes).map(|(seq, size)| wire.fields(End::Phone, &segment(seq, size)).seq).collect();
        assert_eq!(again, starts);
        let acks: Vec<_> = (1..=6).map(|seq| wire.fields(End::Phone, &ack(seq, 0)).ack).collect();
        assert_eq!(acks, [1461, 2921, 3021, 4481, 4482, 5942].map(Some));
    }

    #[test]
    fn later_request_continues_sequence_numbers() {
        let mut wire = wire(&Classic::default());
        let mut shown = |packet| summary(wire.fields(End::Server, &packet));
        shown(ack(0, 100));
        shown(segment(1, 540));
        shown(ack(1, 0));
        let request = Segment { size: HEADER_BYTES + 250, ..Segment::control(0, Kind::Request) };
        assert_eq!(shown(request), (false, 101, Some(501), 250));
        let again = Segment { retransmission: true, ..request };
        assert_eq!(shown(again), (false, 101, Some(501), 250));
        assert_eq!(shown(segment(2, 1500)), (false, 501, Some(351), 1460));
        assert_eq!(shown(segment(1, 540)), (false, 1, Some(101), 500));
        assert_eq!(shown(ack(2, 0)), (false, 351, Some(1961), 0));
    }

    #[test]
    fn sack_blocks_are_converted_to_bytes() {
        let mut wire = wire(&Classic::default());
        for seq in 1..=5 {
            wire.fields(End::Server, &segment(seq, if seq == 5 { 140 } else { 1500 }));
        }
        let mut sack = SackBlocks::default();
        sack.push(5, 6);
        sack.push(3, 4);
        let packet = Segment { sack, size: 56, ..ack(1, 0) };
        let fields = wire.fields(End::Phone, &packet);
        assert_eq!((fields.ack, fields.payload, fields.sack_count), (Some(1461), 0, 2));
        assert_eq!(fields.sack[..2], [(5841, 5941), (2921, 4381)]);
    }

    #[test]
    fn large_window_is_scaled_on_both_syns() {
        let mut wire = wire(&Classic { max_window: 1000.try_into().unwrap(), ..Classic::default() });
        let shifts = [Segment::control(0, Kind::Connect), segment(0, 40)]
            .map(|packet| wire.fields(End::Server, &packet).window_shift);
        assert_eq!(shifts, [Some(5), Some(0)]);
        let window = wire.fields(End::Server, &ack(0, 0)).window;
        // The field shows a window of 1000 segments of 1460 B, divided by 32.
        assert_eq!(window, 45_625);
    }
}
