use nodeb_base::event::{Place, SendLimit, Site, TimerKind};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_sim::scenario::Direction;
use nodeb_tcp::segment::{Kind, Segment};

use super::in_flight::{InFlight, Renumbering};

/// Missing record.
pub(crate) const NONE: u32 = u32::MAX;

/// Estimate for reserving memory, over data packets and ACKs.
const BYTES_A_PACKET: u64 = 700;

/// Packets for which memory is reserved when a transfer begins.
const MAX_AT_ONCE: usize = 1 << 18;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub id: PacketId,
    pub at: Time,
    pub site: Site,
    pub kind: Kind,
    pub size: u32,
    pub seq: u64,
    pub is_retransmission: bool,
    /// Had stopped the sender earlier; the default without data.
    pub limit: SendLimit,
    /// Triggered the transmission.
    pub moment: Moment,
    /// In `Packets::hops`, at the last link or bearer; [`NONE`] before the first.
    pub hop: u32,
    /// Arrival or loss; `Time(u64::MAX)` while in flight.
    over: Time,
    is_lost: bool,
    /// Sent before the transfer began.
    pub is_earlier: bool,
}

impl Packet {
    pub fn over(&self) -> Option<Time> {
        (self.over < Time(u64::MAX)).then_some(self.over)
    }

    /// From the last place; `Time(u64::MAX)` if still there or lost there.
    pub fn left(&self) -> Time {
        if self.is_lost { Time(u64::MAX) } else { self.over }
    }
}

/// Of a packet at a link or bearer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// Previous stay; [`NONE`] for the first.
    pub before: u32,
    pub packet: u32,
    pub place: Place,
    pub entered: Time,
    /// At the next link or node without jitter; `Time(u64::MAX)` until the whole packet is served.
    pub arrives: Time,
    /// Last transmission in `Lane::own`, or in `Timeline::granted` at a scheduled uplink; [`NONE`] before.
    pub service: u32,
}

/// At which an end (server, proxy, Snoop agent or phone) acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub at: Time,
    pub why: Why,
}

/// `u32` values are packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A transfer or the run began, or the reason was discarded before the explained transfer.
    Began,
    Received(u32),
    /// From the phone, at the Snoop agent.
    Passed(u32),
    /// With the event from which on the timer had run.
    Expired(TimerKind, Basis),
}

/// From which on a timer had run or a packet had been held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    Sent(u32),
    Received(u32),
    /// Index in [`Packets::moments`].
    Acted(u32),
    /// Not recorded.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct SenderState {
    limit: SendLimit,
    /// Last moment, or [`NONE`].
    acted: u32,
    /// Last data packet, or [`NONE`].
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct ReceiverState {
    /// First data packet since the last ACK, or [`NONE`].
    waiting: u32,
    /// Or [`NONE`].
    last_ack: u32,
}

/// By part of an end: sender, receiver and requester.
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

/// Sites that send the flow's packets.
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

#[derive(Debug)]
pub(crate) struct Packets {
    direction: Direction,
    pub list: Vec<Packet>,
    pub hops: Vec<Hop>,
    /// In the order of time; pacing or a timer may have held packets back from then on.
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

    pub fn number(&self, packet: PacketId) -> Option<u32> {
        self.in_flight.get(packet)
    }

    pub fn hop_of(&self, packet: PacketId) -> Option<u32> {
        self.number(packet).map(|number| self.list[number as usize].hop).filter(|hop| *hop != NONE)
    }

    /// Or [`NONE`].
    pub fn received_last(&self) -> u32 {
        self.received_last
    }

    /// In flight, with the lowest sequence number.
    pub fn oldest_data(&self) -> Option<u32> {
        let is_data = |number: &u32| self.list[*number as usize].kind == Kind::Data;
        self.in_flight.numbers().filter(is_data).min_by_key(|number| {
            let packet = &self.list[*number as usize];
            (packet.seq, *number)
        })
    }

    /// `explained` is the size of the explained transfer.
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

    /// Unless the last moment equals it.
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

    /// At which the sending was decided; after an expired timer, from what on it had run.
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

    /// Last packet with segment `seq` from the end `from`; a Snoop agent's may be the proxy's or server's
    /// copy. In an upload only the phone sends segments.
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

    pub fn enter(&mut self, at: Time, place: Place, id: PacketId) {
        if let Some(number) = self.number(id) {
            let hop = self.hops.len() as u32;
            let packet = &mut self.list[number as usize];
            let before = std::mem::replace(&mut packet.hop, hop);
            let (arrives, service) = (Time(u64::MAX), NONE);
            self.hops.push(Hop { before, packet: number, place, entered: at, arrives, service });
        }
    }

    pub fn pass_snoop(&mut self, at: Time, id: PacketId) {
        if let Some(number) = self.number(id) {
            self.latest[End::Snoop as usize] = Latest::all(Moment { at, why: Why::Passed(number) });
        }
    }

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
    use crate::timeline::air::{Block, Part};

    #[test]
    fn records_have_the_documented_sizes() {
        let of_air = [size_of::<Block>(), size_of::<Part>()];
        assert_eq!((size_of::<Packet>(), size_of::<Hop>(), of_air), (72, 40, [48, 16]));
    }
}
