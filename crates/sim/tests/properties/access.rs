//! Without TCP.

use nodeb_air::{Hop, UserRadio};
use nodeb_base::context::{Counts, Output, TestBench};
use nodeb_base::engine::{Instant, Phase};
use nodeb_base::event::{Event, Mask};
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Time};
use nodeb_radio::RadioSpec;
use nodeb_sim::metrics::series::TtiRecord;

/// A bearer still busy then counts as hung.
const LONGEST: Duration = Duration::from_secs(3_600);

/// At the Node B.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at: Time,
    pub user: usize,
    pub size: u32,
}

/// Time, user, and number among all arrivals.
pub type Out = (Time, usize, u64);

#[derive(Debug)]
pub struct Outcome {
    pub delivered: Vec<Out>,
    pub accepted: Vec<u64>,
    /// Rejected on arrival or lost later.
    pub lost: Vec<u64>,
    pub counts: Counts,
    /// In the order of time.
    pub records: Vec<TtiRecord>,
    /// Packets and bytes after the last event.
    pub backlog: (usize, u64),
    /// First time at which the backlog differed from the packets accepted but neither delivered nor lost.
    pub miscounted: Option<Time>,
}

/// One for all users, or one per user.
struct Access {
    bearers: Vec<Box<dyn Hop>>,
    around: Vec<TestBench>,
    shared: bool,
    users: usize,
}

impl Access {
    fn new(radio: &RadioSpec, users: &[UserRadio], seed: u64) -> Self {
        let bearers = radio.build(users, &Streams::new(seed, 0)).down;
        let around = || TestBench::with_mask(Mask::TTIS, Time(u64::MAX));
        let around = bearers.iter().map(|_| around()).collect();
        Self { bearers, around, shared: radio.parts().is_shared, users: users.len() }
    }

    fn place(&self, user: usize) -> (usize, usize) {
        if self.shared { (0, user) } else { (user, 0) }
    }

    fn user(&self, bearer: usize, position: usize) -> usize {
        if self.shared { position } else { bearer }
    }

    fn backlog(&self) -> (usize, u64) {
        let of_user = |user| {
            let (bearer, position) = self.place(user);
            let backlog = self.bearers[bearer].backlog(position);
            (backlog.packets, backlog.bytes)
        };
        (0..self.users).map(of_user).fold((0, 0), |(n, bytes), (m, more)| (n + m, bytes + more))
    }

    fn counts(&self) -> Counts {
        self.around.iter().map(|around| around.counts).fold(Counts::default(), |a, b| Counts {
            ttis: a.ttis + b.ttis,
            blocks: a.blocks + b.blocks,
            blocks_failed: a.blocks_failed + b.blocks_failed,
            pdus: a.pdus + b.pdus,
            packets_in: a.packets_in + b.packets_in,
            packets_delivered: a.packets_delivered + b.packets_delivered,
            packets_dropped: a.packets_dropped + b.packets_dropped,
            bytes_delivered: a.bytes_delivered + b.bytes_delivered,
        })
    }

    /// After the bearers have applied their deferred work.
    fn records(&mut self, now: Time) -> Vec<TtiRecord> {
        let mut all = Vec::new();
        for index in 0..self.bearers.len() {
            self.bearers[index].apply_deferred(&mut self.around[index].at(now));
            for (at, event) in self.around[index].take_events() {
                if let Event::Tti { user, quality, units, failed, .. } = event {
                    let user = self.user(index, user as usize);
                    all.push(TtiRecord { at, user, ci: quality, pdus: units, failed });
                }
            }
        }
        all.sort_by_key(|record| record.at);
        all
    }
}

/// # Panics
///
/// Panics if the bearers are busy for longer than [`LONGEST`].
pub fn drive(radio: &RadioSpec, users: &[UserRadio], seed: u64, arrivals: &[Arrival]) -> Outcome {
    let mut access = Access::new(radio, users, seed);
    let (mut delivered, mut accepted, mut lost, mut miscounted) = (Vec::new(), Vec::new(), Vec::new(), None);
    let mut end = Time::ZERO;
    let mut arrivals_left = arrivals.iter().enumerate().peekable();
    loop {
        let wake = access.bearers.iter().enumerate().filter_map(|(i, b)| Some((b.next_wake()?, i))).min();
        let (now, index) = match (arrivals_left.peek(), wake) {
            (None, None) => break,
            (Some(&(number, arrival)), wake)
                if wake.is_none_or(|(wake, _)| Instant::new(arrival.at, Phase::Arrival) < wake) =>
            {
                arrivals_left.next();
                let (bearer, position) = access.place(arrival.user);
                let packet =
                    Packet { flow_hash: arrival.user as u32, ..Packet::new(number as u64, arrival.size) };
                if access.bearers[bearer].accept(&mut access.around[bearer].at(arrival.at), position, packet)
                {
                    accepted.push(number as u64);
                }
                (arrival.at, bearer)
            }
            (_, Some((instant, index))) => {
                access.bearers[index].wake(&mut access.around[index].at(instant.time()), instant);
                (instant.time(), index)
            }
            (Some(_), None) => unreachable!("an arrival without a wake-up is handled above"),
        };
        for output in std::mem::take(&mut access.around[index].common.out) {
            match output {
                Output::Arrived { user, packet } => {
                    let user = access.user(index, user);
                    assert_eq!(packet.flow_hash as usize, user, "a packet reached another user's phone");
                    delivered.push((now, user, packet.id.0));
                }
                Output::Lost { packet, .. } => lost.push(packet.id.0),
                Output::CellChanged { .. } | Output::Listens { .. } => {}
            }
        }
        end = now;
        assert!(now.0 < LONGEST.0, "the radio is still busy after {LONGEST}");
        // The bearers count rejected packets as dropped too, although they never accepted them, so the rejected packets
        // are subtracted.
        let rejected = (arrivals.len() - arrivals_left.len() - accepted.len()) as u64;
        let given_up = access.counts().packets_dropped - rejected;
        let inside = accepted.len() as u64 - delivered.len() as u64 - given_up;
        if access.backlog().0 as u64 != inside {
            miscounted.get_or_insert(now);
        }
    }
    let records = access.records(end);
    let (counts, backlog) = (access.counts(), access.backlog());
    Outcome { delivered, accepted, lost, counts, records, backlog, miscounted }
}
