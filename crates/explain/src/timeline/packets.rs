//! Packets of a flow: the places that they pass, and the reasons for which they were sent.

use nodeb_base::event::{Place, SendLimit, Site, TimerKind};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_sim::scenario::Direction;
use nodeb_tcp::segment::{Kind, Segment};

use super::in_flight::{InFlight, Renumbering};

/// Index that stands for a missing record: no packet, no stay at a place, or no moment.
pub(crate) const NONE: u32 = u32::MAX;

/// Typical number of bytes that a transfer has per packet, counting data packets and ACKs; an
/// estimate for reserving memory.
const BYTES_A_PACKET: u64 = 700;

/// Maximum number of packets for which memory is reserved when a transfer begins.
const MAX_AT_ONCE: usize = 1 << 18;

/// Packet of the flow, from its transmission to its arrival or loss.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub id: PacketId,
    pub at: Time,
    pub site: Site,
    pub kind: Kind,
    pub size: u32,
    pub seq: u64,
    pub is_retransmission: bool,
    /// Limit that had stopped the sender from transmitting the packet earlier; the default for
    /// packets without data.
    pub limit: SendLimit,
    /// Event that triggered the packet's transmission.
    pub moment: Moment,
    /// Index in `Packets::hops` of the packet's stay at the link or bearer that it reached last;
    /// [`NONE`] before it reaches the first one.
    pub hop: u32,
    /// Time of the packet's arrival at its destination or of its loss; `Time(u64::MAX)` while it is
    /// in flight.
    over: Time,
    /// Whether the packet was lost; if so, `over` is the time of the loss.
    is_lost: bool,
    /// Whether the packet was sent before the transfer began.
    pub is_earlier: bool,
}

impl Packet {
    /// Returns the time of arrival or loss, or `None` while the packet is in flight.
    pub fn over(&self) -> Option<Time> {
        (self.over < Time(u64::MAX)).then_some(self.over)
    }

    /// Returns the time at which the packet left the last place that it reached, or
    /// `Time(u64::MAX)` if the packet is still at that place or was lost there.
    pub fn left(&self) -> Time {
        if self.is_lost { Time(u64::MAX) } else { self.over }
    }
}

/// Stay of a packet at a place, that is, a link or bearer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// Index of the packet's stay at the previous link or bearer; [`NONE`] for its first stay.
    pub before: u32,
    pub packet: u32,
    pub place: Place,
    pub entered: Time,
    /// Time of arrival at the next link or node without jitter; `Time(u64::MAX)` until the whole packet is
    /// served.
    pub arrives: Time,
    /// Index of the packet's last transmission in `Lane::own` of the link or bearer, or in
    /// `Timeline::granted` at a scheduled uplink; [`NONE`] before the packet is served.
    pub service: u32,
}

/// Moment at which an end (server, proxy, Snoop agent or phone) acted, with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub at: Time,
    pub why: Why,
}

/// Reason why an end (server, proxy, Snoop agent or phone) acted. A `u32` value is the number of a
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A transfer began, or the run began. Also stands for a reason that was discarded before the explained
    /// transfer began.
    Began,
    /// A packet arrived at the end.
    Received(u32),
    /// A packet from the phone passed the Snoop agent.
    Passed(u32),
    /// A timer expired. The [`Basis`] is the event from which on the timer had run.
    Expired(TimerKind, Basis),
}

/// Event from which on a timer had run or a packet had been held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Transmission of the packet with this number.
    Sent(u32),
    /// Arrival of the packet with this number.
    Received(u32),
    /// Action of an end at the moment with this index in [`Packets::moments`].
    Acted(u32),
    /// Event that is not recorded, for example because it happened before the first record.
    Unknown,
}

/// Latest events of the sender at one end.
#[derive(Clone, Copy, Debug)]
struct SenderState {
    limit: SendLimit,
    /// Index of the moment at which the sender last acted; [`NONE`] if it has not acted.
    acted: u32,
    /// Number of the data packet that the sender sent last; [`NONE`] if there is none.
    last: u32,
}

/// Latest events of the receiver at one end.
#[derive(Clone, Copy, Debug)]
struct ReceiverState {
    /// Number of the first data packet received since the last ACK was sent; [`NONE`] if there is
    /// none.
    waiting: u32,
    /// Number of the ACK that the receiver sent last; [`NONE`] if there is none.
    last_ack: u32,
}

/// Latest moments at one end, for its sender, its receiver and its requester (which requests
/// connections and data). Each moment is that of the last event to which this part of the end
/// reacts.
#[derive(Clone, Copy, Debug)]
struct Latest {
    sender: Moment,
    receiver: Moment,
    requester: Moment,
}

const NEVER: Moment = Moment { at: Time::ZERO, why: Why::Began };

impl Default for Latest {
    fn default() -> Self {
        Self { sender: NEVER, receiver: NEVER, requester: NEVER }
    }
}

impl Latest {
    fn all(moment: Moment) -> Self {
        Self { sender: moment, receiver: moment, requester: moment }
    }
}

/// Ends of the flow: the sites that send its packets.
#[derive(Clone, Copy, Debug)]
enum End {
    Server,
    Proxy,
    Snoop,
    Phone,
}

fn end(site: Site) -> Option<usize> {
    let end = match site {
        Site::Server => End::Server,
        Site::Proxy => End::Proxy,
        Site::Snoop => End::Snoop,
        Site::Phone => End::Phone,
        _ => return None,
    };
    Some(end as usize)
}

/// Packets of one flow, with their stays at places and the latest events of all ends.
#[derive(Debug)]
pub(crate) struct Packets {
    /// Direction of the flow's data.
    direction: Direction,
    pub list: Vec<Packet>,
    pub hops: Vec<Hop>,
    /// Moments at which senders acted, in the order of time. From such a moment on, pacing or a
    /// timer may have held further packets back.
    pub moments: Vec<Moment>,
    in_flight: InFlight,
    latest: [Latest; 4],
    senders: [SenderState; 4],
    receivers: [ReceiverState; 4],
    requested: [u32; 4],
    received_last: u32,
    has_begun: bool,
}

impl Packets {
    /// Creates the record of a flow with data in one direction, without packets.
    pub fn new(direction: Direction) -> Self {
        let sender = SenderState { limit: SendLimit::default(), acted: NONE, last: NONE };
        Self {
            direction,
            list: Vec::new(),
            hops: Vec::new(),
            moments: Vec::new(),
            in_flight: InFlight::default(),
            latest: [Latest::default(); 4],
            senders: [sender; 4],
            receivers: [ReceiverState { waiting: NONE, last_ack: NONE }; 4],
            requested: [NONE; 4],
            received_last: NONE,
            has_begun: false,
        }
    }

    /// Returns the number of a packet in the timeline, or `None` if the packet is not in flight or
    /// belongs to another flow.
    pub fn number(&self, packet: PacketId) -> Option<u32> {
        self.in_flight.get(packet)
    }

    /// Returns the index of a packet's stay at the last place that it reached, or `None` if the
    /// packet has reached no place, is not in flight, or belongs to another flow.
    pub fn hop_of(&self, packet: PacketId) -> Option<u32> {
        self.number(packet).map(|number| self.list[number as usize].hop).filter(|hop| *hop != NONE)
    }

    /// Returns the number of the data packet that the receiver received last, or [`NONE`].
    pub fn received_last(&self) -> u32 {
        self.received_last
    }

    /// Returns the number of the data packet in flight with the lowest sequence number, or `None`
    /// if no data are in flight.
    pub fn oldest_data(&self) -> Option<u32> {
        let is_data = |number: &u32| self.list[*number as usize].kind == Kind::Data;
        self.in_flight.numbers().filter(is_data).min_by_key(|number| {
            let packet = &self.list[*number as usize];
            (packet.seq, *number)
        })
    }

    /// Records the beginning of a transfer. `explained` is the size in bytes of the transfer that
    /// is explained, and `None` for other transfers.
    pub fn begin(&mut self, at: Time, explained: Option<u64>) {
        if let Some(bytes) = explained {
            self.has_begun = true;
            // Reserving memory for all data and ACKs now avoids copies of growing lists.
            let packets = usize::try_from(bytes / BYTES_A_PACKET).unwrap_or(MAX_AT_ONCE).min(MAX_AT_ONCE);
            self.list.reserve(packets);
            self.hops.reserve(3 * packets);
        }
        self.latest = [Latest::all(Moment { at, why: Why::Began }); 4];
    }

    /// Adds a moment to [`Self::moments`], unless the last moment in the list equals it. Returns
    /// the index of the moment.
    fn note(&mut self, moment: Moment) -> u32 {
        // An end may send several packets at the same moment, so a moment equal to the last one is
        // not added again.
        if self.moments.last() != Some(&moment) {
            self.moments.push(moment);
        }
        self.moments.len() as u32 - 1
    }

    // This function is not inlined: inlined into `on_event`, it would make the handling of short
    // events save more registers.
    #[inline(never)]
    pub fn send(&mut self, at: Time, site: Site, id: PacketId, segment: &Segment) {
        let Some(end) = end(site) else {
            return;
        };
        let number = self.list.len() as u32;
        let &Segment { kind, size, seq, retransmission: is_retransmission, .. } = segment;
        let moment = match kind {
            Kind::Data => self.latest[end].sender,
            Kind::Ack => self.latest[end].receiver,
            Kind::Connect | Kind::Request => self.latest[end].requester,
        };
        let moment = self.since(end, moment, kind, seq);
        let limit = if kind == Kind::Data { self.senders[end].limit } else { SendLimit::default() };
        let packet = Packet {
            id,
            at,
            site,
            kind,
            size,
            seq,
            is_retransmission,
            limit,
            moment,
            hop: NONE,
            over: Time(u64::MAX),
            is_lost: false,
            is_earlier: !self.has_begun,
        };
        self.list.push(packet);
        self.in_flight.insert(id, number);
        self.remember(end, number, &packet);
    }

    /// Returns `moment`, at which the decision to send a packet was made. If an expired timer
    /// caused the decision, the [`Basis`] in the result is the event from which on the timer had
    /// run.
    fn since(&self, end: usize, moment: Moment, kind: Kind, seq: u64) -> Moment {
        let Why::Expired(timer, _) = moment.why else {
            return moment;
        };
        let sent = |number: u32| if number == NONE { Basis::Unknown } else { Basis::Sent(number) };
        let acted = self.senders[end].acted;
        let basis = match timer {
            TimerKind::Retransmission | TimerKind::Probe | TimerKind::Snoop => {
                sent(self.copy(end, seq).unwrap_or(self.senders[end].last))
            }
            TimerKind::Request => sent(self.requested[end]),
            TimerKind::Acknowledgement => match self.receivers[end] {
                ReceiverState { waiting: NONE, last_ack } => sent(last_ack),
                ReceiverState { waiting, .. } => Basis::Received(waiting),
            },
            // The timer starts when a request arrives. The expiry of this timer updates only the
            // moment of the sender, so the latest moment of the requester is still that arrival.
            TimerKind::Server => match self.latest[end].requester.why {
                Why::Received(asked) => Basis::Received(asked),
                _ => Basis::Unknown,
            },
            TimerKind::Pacing | TimerKind::Persist | TimerKind::Reorder | TimerKind::Feedback
                if acted != NONE =>
            {
                Basis::Acted(acted)
            }
            TimerKind::Pacing | TimerKind::Persist | TimerKind::Reorder | TimerKind::Feedback => {
                Basis::Unknown
            }
        };
        debug_assert!(kind != Kind::Ack || timer == TimerKind::Acknowledgement);
        Moment { why: Why::Expired(timer, basis), ..moment }
    }

    /// Returns the number of the last packet with segment `seq` that the end `from` sent, or `None` if there
    /// is no such packet. If `from` is a Snoop agent that has not sent the segment, returns the last copy
    /// from the proxy, or from the server if the proxy has not sent it either. In an upload only the phone
    /// sends segments.
    fn copy(&self, from: usize, seq: u64) -> Option<u32> {
        let is_copy = |site: Site| move |packet: &Packet| packet.site == site && packet.seq == seq;
        let last = |site: Site| {
            let found =
                self.list.iter().rposition(|packet| packet.kind == Kind::Data && is_copy(site)(packet));
            found.map(|number| number as u32)
        };
        match from {
            from if from == End::Snoop as usize => {
                last(Site::Snoop).or_else(|| last(Site::Proxy)).or_else(|| last(Site::Server))
            }
            from if from == End::Proxy as usize => last(Site::Proxy),
            _ => last(self.direction.sender()),
        }
    }

    fn remember(&mut self, end: usize, number: u32, packet: &Packet) {
        match packet.kind {
            Kind::Data => {
                let acted = self.note(packet.moment);
                let sender = &mut self.senders[end];
                (sender.acted, sender.last) = (acted, number);
            }
            Kind::Ack => self.receivers[end] = ReceiverState { waiting: NONE, last_ack: number },
            Kind::Connect | Kind::Request => self.requested[end] = number,
        }
    }

    pub fn receive(&mut self, at: Time, site: Site, id: PacketId) {
        let (Some(number), Some(end)) = (self.in_flight.remove(id), end(site)) else {
            return;
        };
        let packet = &mut self.list[number as usize];
        packet.over = at;
        let is_data = packet.kind == Kind::Data;
        self.latest[end] = Latest::all(Moment { at, why: Why::Received(number) });
        if is_data {
            let waiting = &mut self.receivers[end].waiting;
            *waiting = if *waiting == NONE { number } else { *waiting };
            if site == self.direction.receiver() {
                self.received_last = number;
            }
        }
    }

    pub fn lose(&mut self, at: Time, id: PacketId) {
        if let Some(number) = self.in_flight.remove(id) {
            let packet = &mut self.list[number as usize];
            (packet.over, packet.is_lost) = (at, true);
        }
    }

    /// Records that a packet enters a link or bearer.
    pub fn enter(&mut self, at: Time, place: Place, id: PacketId) {
        if let Some(number) = self.number(id) {
            let hop = self.hops.len() as u32;
            let packet = &mut self.list[number as usize];
            let before = std::mem::replace(&mut packet.hop, hop);
            let (arrives, service) = (Time(u64::MAX), NONE);
            self.hops.push(Hop { before, packet: number, place, entered: at, arrives, service });
        }
    }

    /// Records that a packet from the phone passes the Snoop agent.
    pub fn pass_snoop(&mut self, at: Time, id: PacketId) {
        if let Some(number) = self.number(id) {
            self.latest[End::Snoop as usize] = Latest::all(Moment { at, why: Why::Passed(number) });
        }
    }

    /// Records the limit that stops a sender from transmitting more.
    pub fn set_limit(&mut self, site: Site, limit: SendLimit) {
        if let Some(end) = end(site) {
            let moment = self.latest[end].sender;
            let acted = self.note(moment);
            let sender = &mut self.senders[end];
            (sender.limit, sender.acted) = (limit, acted);
        }
    }

    pub fn expire_timer(&mut self, at: Time, site: Site, timer: TimerKind) {
        let Some(end) = end(site) else {
            return;
        };
        let moment = Moment { at, why: Why::Expired(timer, Basis::Unknown) };
        let latest = &mut self.latest[end];
        match timer {
            TimerKind::Acknowledgement => latest.receiver = moment,
            TimerKind::Request => latest.requester = moment,
            _ => latest.sender = moment,
        }
    }

    /// Discards all packets that are not in flight. Returns the new numbers of the packets in
    /// flight.
    pub(super) fn forget(&mut self) -> Renumbering {
        let mut kept: Vec<u32> = self.in_flight.numbers().collect();
        kept.sort_unstable();
        let kept = Renumbering::of(kept);
        let mut hops = Vec::new();
        let mut list = Vec::new();
        for (number, &old) in (0..).zip(kept.old()) {
            let mut packet = self.list[old as usize];
            packet.moment.why = Why::Began;
            if packet.hop != NONE {
                let hop =
                    Hop { packet: number, before: NONE, service: NONE, ..self.hops[packet.hop as usize] };
                packet.hop = hops.len() as u32;
                hops.push(hop);
            }
            list.push(packet);
        }
        let new = |number: u32| kept.renumbered(number).unwrap_or(NONE);
        (self.list, self.hops, self.moments) = (list, hops, Vec::new());
        self.in_flight.renumber(new);
        for sender in &mut self.senders {
            (sender.acted, sender.last) = (NONE, new(sender.last));
        }
        for receiver in &mut self.receivers {
            *receiver = ReceiverState { waiting: new(receiver.waiting), last_ack: new(receiver.last_ack) };
        }
        self.requested = self.requested.map(new);
        self.received_last = new(self.received_last);
        for latest in &mut self.latest {
            for moment in [&mut latest.sender, &mut latest.receiver, &mut latest.requester] {
                moment.why = Why::Began;
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::air::{Attempt, Part, Tx};

    #[test]
    fn records_have_the_documented_sizes() {
        let of_air = [size_of::<Tx>(), size_of::<Attempt>(), size_of::<Part>()];
        assert_eq!((size_of::<Packet>(), size_of::<Hop>(), of_air), (72, 40, [56, 32, 16]));
    }
}
