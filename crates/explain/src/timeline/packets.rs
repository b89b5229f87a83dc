//! The packets of a flow: the places that they pass, and what made each be sent.

use nodeb_base::event::{Clock, Hold, Place, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_tcp::segment::{Kind, Segment};

use super::flying::{Flying, Kept};

/// No such record.
pub(crate) const NONE: u32 = u32::MAX;

/// Bytes of a transfer for each packet, data and ACKs, about.
const BYTES_A_PACKET: u64 = 700;

/// Packets for which there is room at most before they are sent.
const MAX_AT_ONCE: usize = 1 << 18;

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub id: PacketId,
    pub at: Time,
    pub site: Site,
    pub kind: Kind,
    pub size: u32,
    pub seq: u64,
    pub again: bool,
    /// What kept its sender from sending it before.
    pub hold: Hold,
    /// What made it be sent.
    pub moment: Moment,
    /// The last place that it came to.
    pub hop: u32,
    over: Time,
    /// Whether it was lost.
    is_lost: bool,
    /// Whether it was sent before the transfer began.
    pub is_earlier: bool,
}

impl Packet {
    /// When its way was over, if it was.
    pub fn over(&self) -> Option<Time> {
        (self.over < Time(u64::MAX)).then_some(self.over)
    }

    /// When it left the last place that it came to; the end of time if it is still there, or was lost there.
    pub fn left(&self) -> Time {
        if self.is_lost { Time(u64::MAX) } else { self.over }
    }
}

/// A packet's stay at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    /// The place before.
    pub before: u32,
    pub packet: u32,
    pub place: Place,
    pub entered: Time,
    /// When it would have arrived without jitter.
    pub arrives: Time,
    /// Its turn among the own packets served at the place.
    pub service: u32,
}

/// A moment at which something made an end act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub at: Time,
    pub why: Why,
}

/// What made an end act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// A transfer began, or the run.
    Began,
    /// A packet arrived.
    Received(u32),
    /// A packet passed.
    Passed(u32),
    /// A timer rang, which had run since its basis.
    Rang(Clock, Basis),
}

/// Since when a timer had run, or something was held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// Since a packet was sent.
    Sent(u32),
    /// Since a packet had arrived.
    Received(u32),
    /// Since an end had last acted: its place in the list of such moments.
    Acted(u32),
    /// Since before anything that is known.
    Unknown,
}

/// What is known of one sender.
#[derive(Clone, Copy, Debug)]
struct SenderState {
    hold: Hold,
    /// When it last acted.
    acted: u32,
    last: u32,
}

/// What is known of one receiver.
#[derive(Clone, Copy, Debug)]
struct ReceiverState {
    /// The first packet that no ACK has answered.
    waiting: u32,
    last_ack: u32,
}

/// What last happened at a site, to its sender, its receiver and its requests.
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

/// Sites at which packets begin.
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

/// The packets of one flow.
#[derive(Debug)]
pub(crate) struct Packets {
    pub list: Vec<Packet>,
    pub hops: Vec<Hop>,
    /// Moments that something was held back since.
    pub moments: Vec<Moment>,
    flying: Flying,
    latest: [Latest; 4],
    senders: [SenderState; 4],
    receivers: [ReceiverState; 4],
    requested: [u32; 4],
    received_last: u32,
    has_begun: bool,
}

impl Default for Packets {
    fn default() -> Self {
        let sender = SenderState { hold: Hold::default(), acted: NONE, last: NONE };
        Self {
            list: Vec::new(),
            hops: Vec::new(),
            moments: Vec::new(),
            flying: Flying::default(),
            latest: [Latest::default(); 4],
            senders: [sender; 4],
            receivers: [ReceiverState { waiting: NONE, last_ack: NONE }; 4],
            requested: [NONE; 4],
            received_last: NONE,
            has_begun: false,
        }
    }
}

impl Packets {
    /// A packet's number in the list, if it is the flow's and on its way.
    pub fn number(&self, packet: PacketId) -> Option<u32> {
        self.flying.get(packet)
    }

    /// The last place that a packet has come to.
    pub fn hop_of(&self, packet: PacketId) -> Option<u32> {
        self.number(packet).map(|number| self.list[number as usize].hop).filter(|hop| *hop != NONE)
    }

    /// The packet that a phone received last.
    pub fn received_last(&self) -> u32 {
        self.received_last
    }

    /// The oldest of the server's packets that is on its way and has not been lost.
    pub fn oldest_data(&self) -> Option<u32> {
        let is_data = |number: &u32| self.list[*number as usize].kind == Kind::Data;
        self.flying.numbers().filter(is_data).min_by_key(|number| {
            let packet = &self.list[*number as usize];
            (packet.seq, *number)
        })
    }

    /// A transfer begins; of the one that is explained, its bytes.
    pub fn begin(&mut self, at: Time, explained: Option<u64>) {
        if let Some(bytes) = explained {
            self.has_begun = true;
            // Room for data and ACKs is had at once: lists that grow are copied.
            let packets = usize::try_from(bytes / BYTES_A_PACKET).unwrap_or(MAX_AT_ONCE).min(MAX_AT_ONCE);
            self.list.reserve(packets);
            self.hops.reserve(3 * packets);
        }
        self.latest = [Latest::all(Moment { at, why: Why::Began }); 4];
    }

    /// Notes a moment that something is held back since.
    fn note(&mut self, moment: Moment) -> u32 {
        // An end sends several packets at one moment.
        if self.moments.last() != Some(&moment) {
            self.moments.push(moment);
        }
        self.moments.len() as u32 - 1
    }

    // Not a part of `on_event`, where each short event would save registers for it.
    #[inline(never)]
    pub fn send(&mut self, at: Time, site: Site, id: PacketId, segment: &Segment) {
        let Some(end) = end(site) else {
            return;
        };
        let number = self.list.len() as u32;
        let &Segment { kind, size, seq, retransmission: again, .. } = segment;
        let moment = match kind {
            Kind::Data => self.latest[end].sender,
            Kind::Ack => self.latest[end].receiver,
            Kind::Connect | Kind::Request => self.latest[end].requester,
        };
        let moment = self.since(end, moment, kind, seq);
        let hold = if kind == Kind::Data { self.senders[end].hold } else { Hold::default() };
        let packet = Packet {
            id,
            at,
            site,
            kind,
            size,
            seq,
            again,
            hold,
            moment,
            hop: NONE,
            over: Time(u64::MAX),
            is_lost: false,
            is_earlier: !self.has_begun,
        };
        self.list.push(packet);
        self.flying.insert(id, number);
        self.remember(end, number, &packet);
    }

    /// A moment with the basis of the timer that rang, for a packet that is sent now.
    fn since(&self, end: usize, moment: Moment, kind: Kind, seq: u64) -> Moment {
        let Why::Rang(clock, _) = moment.why else {
            return moment;
        };
        let sent = |number: u32| if number == NONE { Basis::Unknown } else { Basis::Sent(number) };
        let acted = self.senders[end].acted;
        let basis = match clock {
            Clock::Retransmission | Clock::Probe | Clock::Snoop => {
                sent(self.copy(end, seq).unwrap_or(self.senders[end].last))
            }
            Clock::Request => sent(self.requested[end]),
            Clock::Acknowledgement => match self.receivers[end] {
                ReceiverState { waiting: NONE, last_ack } => sent(last_ack),
                ReceiverState { waiting, .. } => Basis::Received(waiting),
            },
            // What asked came last: only senders hear of the server's own clock.
            Clock::Server => match self.latest[end].requester.why {
                Why::Received(asked) => Basis::Received(asked),
                _ => Basis::Unknown,
            },
            Clock::Pacing | Clock::Persist | Clock::Reorder | Clock::Feedback if acted != NONE => {
                Basis::Acted(acted)
            }
            Clock::Pacing | Clock::Persist | Clock::Reorder | Clock::Feedback => Basis::Unknown,
        };
        debug_assert!(kind != Kind::Ack || clock == Clock::Acknowledgement);
        Moment { why: Why::Rang(clock, basis), ..moment }
    }

    /// The copy of a segment that was sent last at an end, or, at a Snoop agent, by the sender before it.
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
            _ => last(Site::Server),
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
        let (Some(number), Some(end)) = (self.flying.remove(id), end(site)) else {
            return;
        };
        let packet = &mut self.list[number as usize];
        packet.over = at;
        let is_data = packet.kind == Kind::Data;
        self.latest[end] = Latest::all(Moment { at, why: Why::Received(number) });
        if is_data {
            let waiting = &mut self.receivers[end].waiting;
            *waiting = if *waiting == NONE { number } else { *waiting };
            if site == Site::Phone {
                self.received_last = number;
            }
        }
    }

    pub fn lose(&mut self, at: Time, id: PacketId) {
        if let Some(number) = self.flying.remove(id) {
            let packet = &mut self.list[number as usize];
            (packet.over, packet.is_lost) = (at, true);
        }
    }

    /// A packet comes to a place.
    pub fn enter(&mut self, at: Time, place: Place, id: PacketId) {
        if let Some(number) = self.number(id) {
            let hop = self.hops.len() as u32;
            let packet = &mut self.list[number as usize];
            let before = std::mem::replace(&mut packet.hop, hop);
            let (arrives, service) = (Time(u64::MAX), NONE);
            self.hops.push(Hop { before, packet: number, place, entered: at, arrives, service });
        }
    }

    /// A Snoop agent sees a packet of the phone's.
    pub fn pass_snoop(&mut self, at: Time, id: PacketId) {
        if let Some(number) = self.number(id) {
            self.latest[End::Snoop as usize] = Latest::all(Moment { at, why: Why::Passed(number) });
        }
    }

    /// A sender has sent what it could, and is held from sending more.
    pub fn hold(&mut self, site: Site, hold: Hold) {
        if let Some(end) = end(site) {
            let moment = self.latest[end].sender;
            let acted = self.note(moment);
            let sender = &mut self.senders[end];
            (sender.hold, sender.acted) = (hold, acted);
        }
    }

    pub fn ring(&mut self, at: Time, site: Site, clock: Clock) {
        let Some(end) = end(site) else {
            return;
        };
        let moment = Moment { at, why: Why::Rang(clock, Basis::Unknown) };
        let latest = &mut self.latest[end];
        match clock {
            Clock::Acknowledgement => latest.receiver = moment,
            Clock::Request => latest.requester = moment,
            _ => latest.sender = moment,
        }
    }

    /// Forgets all packets that are not on their way; those that are kept.
    pub(super) fn forget(&mut self) -> Kept {
        let mut kept: Vec<u32> = self.flying.numbers().collect();
        kept.sort_unstable();
        let kept = Kept::of(kept);
        let mut hops = Vec::new();
        let mut list = Vec::new();
        for (new, &old) in (0..).zip(kept.old()) {
            let mut packet = self.list[old as usize];
            packet.moment.why = Why::Began;
            if packet.hop != NONE {
                let hop = Hop { packet: new, before: NONE, service: NONE, ..self.hops[packet.hop as usize] };
                packet.hop = hops.len() as u32;
                hops.push(hop);
            }
            list.push(packet);
        }
        let known = |number: u32| kept.renumbered(number).unwrap_or(NONE);
        (self.list, self.hops, self.moments) = (list, hops, Vec::new());
        self.flying.renumber(known);
        for sender in &mut self.senders {
            (sender.acted, sender.last) = (NONE, known(sender.last));
        }
        for receiver in &mut self.receivers {
            *receiver =
                ReceiverState { waiting: known(receiver.waiting), last_ack: known(receiver.last_ack) };
        }
        self.requested = self.requested.map(known);
        self.received_last = known(self.received_last);
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
    fn records_are_as_large_as_is_said_of_them() {
        let of_air = [size_of::<Tx>(), size_of::<Attempt>(), size_of::<Part>()];
        assert_eq!((size_of::<Packet>(), size_of::<Hop>(), of_air), (72, 40, [56, 32, 16]));
    }
}
