use nodeb_base::event::{Event, Mask, Purpose, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_tcp::Window;

use crate::metrics::series::{
    BandwidthRecord, CwndRow, QueueRow, RttRow, SegmentEvent, SegmentRow, Series, TransferRow, TtiRecord,
};
use crate::scenario::{Direction, Record, Scenario};

#[derive(Clone, Copy, Debug)]
struct Followed {
    id: PacketId,
    flow: u32,
    seq: u64,
    is_retransmission: bool,
    is_data: bool,
}

#[derive(Debug)]
pub struct Recorder {
    mask: Mask,
    /// Of downloads, over the radio: the proxy if there is one, else the server.
    air_sender: Site,
    /// By number of the connection.
    directions: Vec<Direction>,
    /// Numbers in the scenario by bearer and position on it.
    users: Vec<Vec<u32>>,
    /// By [`PacketId::place`].
    followed: Vec<Option<Followed>>,
    series: Series,
}

/// Memory reserved at the start, so that a short run allocates once.
const ROWS: usize = 128;

fn mask(record: Record) -> Mask {
    let Record { cwnd, segments, rtt, queue, transfers, scheduler, bandwidth } = record;
    [
        Mask::PACKETS.when(segments),
        Mask::WINDOW.when(cwnd),
        Mask::ROUND_TRIPS.when(rtt),
        Mask::QUEUE.when(queue),
        Mask::TRANSFERS.when(transfers),
        Mask::TTIS.when(scheduler),
        Mask::BANDWIDTH.when(bandwidth),
    ]
    .into_iter()
    .fold(Mask::NONE, Mask::or)
}

impl Recorder {
    /// `users` has those of each bearer.
    pub fn new(scenario: &Scenario, users: Vec<Vec<u32>>) -> Self {
        let record = scenario.record;
        let air_sender = if scenario.proxy.is_some() { Site::Proxy } else { Site::Server };
        let directions = scenario.connections().iter().map(|connection| connection.direction).collect();
        let mut series = Series::default();
        series.cwnd.reserve_exact(ROWS * usize::from(record.cwnd));
        series.segments.reserve_exact(ROWS * usize::from(record.segments));
        series.queue.reserve_exact(ROWS * usize::from(record.queue));
        Self { mask: mask(record), air_sender, directions, users, followed: Vec::new(), series }
    }

    /// Rows of bandwidth are sorted by user, then by time, and so are rows of TTIs if there are several
    /// bearers; others by time.
    pub fn into_series(mut self) -> Series {
        if self.users.len() > 1 {
            self.series.scheduler.sort_by_key(|row| row.user);
        }
        self.series.bandwidth.sort_by_key(|row| row.user);
        self.series
    }

    fn user(&self, bearer: u32, user: u32) -> usize {
        self.users[bearer as usize][user as usize] as usize
    }

    fn segment(&mut self, at: Time, followed: Followed, event: SegmentEvent) {
        let Followed { flow, seq, is_retransmission, .. } = followed;
        let row = SegmentRow { user: u64::from(flow), at, event, seq, retransmission: is_retransmission };
        self.series.segments.push(row);
    }

    /// Of the TCP sender over the radio, and of the receiver.
    fn ends(&self, flow: u32) -> (Site, Site) {
        match self.directions[flow as usize] {
            Direction::Down => (self.air_sender, Site::Phone),
            Direction::Up => (Site::Phone, Site::Server),
        }
    }

    /// A row for data of the sender over the radio or of a Snoop agent; these and the receiver's ACKs are
    /// followed until they arrive or are lost.
    fn sent(&mut self, at: Time, site: Site, followed: Followed) {
        let (sender, receiver) = self.ends(followed.flow);
        match (site, followed.is_data) {
            (Site::Snoop, _) => self.segment(at, followed, SegmentEvent::Resend),
            (site, true) if site == sender => self.segment(at, followed, SegmentEvent::Send),
            (site, false) if site == receiver => {}
            _ => return,
        }
        let place = followed.id.place();
        if place >= self.followed.len() {
            self.followed.resize(place + 1, None);
        }
        self.followed[place] = Some(followed);
    }

    /// `None` if the packet was not followed.
    fn ended(&mut self, id: PacketId) -> Option<Followed> {
        self.followed.get_mut(id.place())?.take_if(|followed| followed.id == id)
    }

    fn received(&mut self, at: Time, site: Site, id: PacketId) {
        let Some(followed) = self.ended(id) else {
            return;
        };
        let (sender, receiver) = self.ends(followed.flow);
        match (followed.is_data, site) {
            (true, site) if site == receiver => self.segment(at, followed, SegmentEvent::Deliver),
            (false, site) if site == sender => self.segment(at, followed, SegmentEvent::Ack),
            _ => {}
        }
    }

    fn lost(&mut self, at: Time, id: PacketId) {
        if let Some(followed) = self.ended(id).filter(|followed| followed.is_data) {
            self.segment(at, followed, SegmentEvent::Drop);
        }
    }

    pub fn mask(&self) -> Mask {
        self.mask
    }

    pub fn on_event(&mut self, at: Time, event: &Event) {
        if !self.mask.has(event.class()) {
            return;
        }
        match *event {
            Event::Sent { place, packet: id, flow, purpose, seq, again: is_retransmission, .. } => {
                let is_data = purpose == Purpose::Data;
                if is_data || purpose == Purpose::Ack {
                    self.sent(at, place.site, Followed { id, flow, seq, is_retransmission, is_data });
                }
            }
            Event::Received { place, packet } => self.received(at, place.site, packet),
            Event::Lost { packet, .. } => self.lost(at, packet),
            Event::Queue { bearer, user, packets, bytes } => {
                let user = self.user(bearer, user) as u64;
                self.series.queue.push(QueueRow { user, at, packets: u64::from(packets), bytes });
            }
            Event::Tti { bearer, user, quality, units, failed } => {
                let user = self.user(bearer, user);
                self.series.scheduler.push(TtiRecord { at, user, ci: quality, pdus: units, failed });
            }
            Event::Available { bearer, user, bytes, cqi } => {
                let user = self.user(bearer, user);
                self.series.bandwidth.push(BandwidthRecord { at, user, available_bytes: bytes, cqi });
            }
            Event::Window { flow, cwnd, ssthresh } => {
                let row = CwndRow { user: u64::from(flow), at, window: Window { cwnd, ssthresh } };
                self.series.cwnd.push(row);
            }
            Event::RoundTrip { flow, rtt } => {
                self.series.rtt.push(RttRow { user: u64::from(flow), at, rtt });
            }
            Event::Transfer { flow, begun, arrived, bytes } => {
                let row = TransferRow { user: u64::from(flow), begun, arrived, end: at, bytes };
                self.series.transfers.push(row);
            }
            _ => {}
        }
    }
}
