//! One end of nodeb's TCP, which receives the packets of a script and returns its own packets in the script's
//! notation.

use nodeb_base::units::{Rate, Time};
use nodeb_tcp::linux::{FIRST_BYTE, Info, Linux, Receiver, Sender};
use nodeb_tcp::segment::{Ecn, Kind, Segment};
use nodeb_tcp::wire::scaled_window;
use nodeb_tcp::{Receiver as _, Sender as _};

use super::negotiated::{Negotiated, Role};
use super::stamps::Stamps;
use crate::script::{Flags, IpEcn, Options, Packet};

/// Rate of an application that never reads: 1 bit/s is practically zero.
const NEVER: Rate = Rate(1);

#[derive(Debug)]
enum End {
    Sender(Box<Sender>),
    Receiver(Box<Receiver>),
}

#[derive(Debug)]
pub struct Connection {
    end: End,
    header_bytes: u32,
    agreed: Negotiated,
    /// Pairs of the script's value and nodeb's.
    pub stamps: Stamps,
    established: bool,
    /// Whether the script must still show the ACK with which a client ends the handshake; nodeb's sender has
    /// none.
    pub owes_handshake: bool,
    /// Sequence number after the highest byte received from the script.
    received: u64,
}

impl Connection {
    pub fn new(agreed: Negotiated, tcp: &Linux) -> Self {
        let end = match agreed.role {
            Role::Sender => End::Sender(Box::new(Sender::new(0, tcp))),
            Role::Receiver { reads: true } => End::Receiver(Box::new(Receiver::new(0, 0, tcp))),
            Role::Receiver { reads: false } => {
                let tcp = Linux { read_rate: Some(NEVER), ..tcp.clone() };
                End::Receiver(Box::new(Receiver::new(0, 0, &tcp)))
            }
        };
        Self {
            end,
            header_bytes: tcp.header_bytes(),
            agreed,
            stamps: Stamps::default(),
            established: false,
            owes_handshake: false,
            received: FIRST_BYTE,
        }
    }

    pub fn open(&mut self, now: Time) -> Vec<Packet> {
        let mut out = Vec::new();
        match &mut self.end {
            End::Sender(sender) => sender.open(now, &mut out),
            End::Receiver(receiver) => out.push(receiver.connect(now)),
        }
        self.show(&out)
    }

    /// Processes a packet that the script sends. Returns the packets that the end under test sends in reply.
    ///
    /// # Errors
    /// A description of what the packet needs, if nodeb does not model it.
    pub fn take(&mut self, now: Time, packet: &Packet) -> Result<Vec<Packet>, String> {
        if packet.flags.syn && !packet.flags.ack {
            return if self.agreed.active {
                Err("a simultaneous open".to_owned())
            } else {
                Ok(self.open(now))
            };
        }
        if packet.payload > u64::from(u16::MAX) {
            return Err(format!("a packet of {} B", packet.payload));
        }
        if !self.established && packet.ack != Some(FIRST_BYTE) {
            return Err("an ACK of something never sent in the handshake".to_owned());
        }
        let out = match self.end {
            End::Sender(_) => self.acknowledge(now, packet)?,
            End::Receiver(_) => self.receive(now, packet),
        };
        self.owes_handshake |= packet.flags.syn && matches!(self.end, End::Sender(_));
        self.established = true;
        Ok(self.show(&out))
    }

    fn acknowledge(&mut self, now: Time, packet: &Packet) -> Result<Vec<Segment>, String> {
        let mut ack = self.header(packet, Kind::Ack);
        ack.seq = packet.ack.unwrap_or_default();
        let shift = if packet.flags.syn { 0 } else { self.agreed.peer_shift };
        ack.window = (packet.window.unwrap_or_default() << shift) as u32;
        ack.ecn.echo = packet.flags.ece && !packet.flags.syn;
        let blocks = packet.named_options().sack;
        if blocks.len() > nodeb_tcp::segment::SackBlocks::MAX {
            return Err("a fourth SACK block".to_owned());
        }
        for (first, end) in blocks {
            ack.sack.push(first, end);
        }
        let mut out = Vec::new();
        if let End::Sender(sender) = &mut self.end {
            sender.on_ack(now, &ack, &mut out);
        }
        Ok(out)
    }

    fn receive(&mut self, now: Time, packet: &Packet) -> Vec<Segment> {
        let mut segment = self.header(packet, Kind::Data);
        let End::Receiver(receiver) = &mut self.end else {
            return Vec::new();
        };
        if !self.established {
            // nodeb's receiver expects the other end's SYN (number 0) before any data, so it gets one with
            // the first packet of the script. The receiver's answer is sent only if this packet is a SYN-ACK.
            let answer = receiver.on_segment(now, &Segment { seq: 0, ..segment });
            if packet.flags.syn {
                return answer.into_iter().collect();
            }
        }
        if packet.payload == 0 && packet.seq >= self.received {
            return Vec::new();
        }
        self.received = self.received.max(packet.seq + packet.payload);
        segment.seq = packet.seq.max(FIRST_BYTE);
        segment.size += packet.payload as u32;
        segment.ecn.capable = matches!(packet.ip_ecn, Some(IpEcn::Capable | IpEcn::Experienced));
        segment.ecn.experienced = packet.ip_ecn == Some(IpEcn::Experienced);
        segment.ecn.reduced = packet.flags.cwr;
        receiver.on_segment(now, &segment).into_iter().collect()
    }

    /// Returns a segment without payload that carries the timestamps of a packet.
    fn header(&self, packet: &Packet, kind: Kind) -> Segment {
        let (value, echo) = packet.named_options().timestamps.unwrap_or_default();
        let echo_us = if packet.options.is_some() && echo != 0 { self.stamps.own(echo) } else { 0 };
        Segment { size: self.header_bytes, timestamp_us: value, echo_us, ..Segment::control(0, kind) }
    }

    pub fn write(&mut self, now: Time, bytes: u64) -> Vec<Packet> {
        let mut out = Vec::new();
        if let End::Sender(sender) = &mut self.end {
            sender.write(now, bytes, &mut out);
        }
        self.show(&out)
    }

    pub fn timer(&self) -> Option<Time> {
        match &self.end {
            End::Sender(sender) => sender.timer(),
            End::Receiver(receiver) => receiver.timer(),
        }
    }

    pub fn on_timer(&mut self, now: Time) -> Vec<Packet> {
        let mut out = Vec::new();
        match &mut self.end {
            End::Sender(sender) => sender.on_timer(now, &mut out),
            End::Receiver(receiver) => out.extend(receiver.on_timer(now)),
        }
        self.show(&out)
    }

    /// `None` for a receiver.
    pub fn info(&self) -> Option<Info> {
        match &self.end {
            End::Sender(sender) => Some(sender.info()),
            End::Receiver(_) => None,
        }
    }

    fn show(&self, segments: &[Segment]) -> Vec<Packet> {
        segments.iter().map(|segment| self.shown(segment)).collect()
    }

    fn shown(&self, segment: &Segment) -> Packet {
        let Ecn { capable, echo, reduced, .. } = segment.ecn;
        let stamps = (segment.timestamp_us, segment.echo_us);
        let sack = segment.sack.of(segment.seq).collect();
        let options = Options { sack, timestamps: Some(stamps), ..Options::default() };
        let is_ack = segment.kind == Kind::Ack;
        let syn = !is_ack && segment.seq == 0;
        let payload =
            if is_ack || syn { 0 } else { u64::from(segment.size.saturating_sub(self.header_bytes)) };
        // A probe of a closed window has the number of the last byte sent, one less than the next one
        // (`tcp_xmit_probe_skb`).
        let probe = u64::from(!is_ack && !syn && payload == 0);
        Packet {
            ip_ecn: Some(if capable { IpEcn::Capable } else { IpEcn::None }),
            flags: Flags {
                syn,
                ack: !syn || !self.agreed.active,
                ece: echo,
                cwr: reduced,
                ..Flags::default()
            },
            seq: if is_ack { FIRST_BYTE } else { segment.seq - probe },
            payload,
            ack: Some(if is_ack { segment.seq } else { FIRST_BYTE }),
            window: is_ack.then(|| scaled_window(segment.window.into(), self.agreed.own_shift).into()),
            options: Some(options),
        }
    }
}
