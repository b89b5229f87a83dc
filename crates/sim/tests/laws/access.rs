//! Radio bearers driven by hand: packets in, deliveries out, no TCP.

use nodeb_sim::engine::Stamps;
use nodeb_sim::packet::{Kind, Packet};
use nodeb_sim::radio::{Bearer, BearerCounts, Delivery, RadioSpec, TtiRecord, UserRadio};
use nodeb_sim::rng::Streams;
use nodeb_sim::units::{Duration, Time};

/// Nothing that random loads ask for takes so long: who is still at work then never comes to an end.
const LONGEST: Duration = Duration::from_secs(3_600);

/// A packet that comes to the Node B.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub at: Time,
    pub user: usize,
    pub size: u32,
}

/// A packet that came out: when, whose, and its number among all arrivals.
pub type Out = (Time, usize, u64);

/// What became of all packets.
#[derive(Debug)]
pub struct Outcome {
    pub delivered: Vec<Out>,
    /// Numbers of the arrivals that were taken.
    pub taken: Vec<u64>,
    pub counts: BearerCounts,
    /// All users' records in order of time.
    pub records: Vec<TtiRecord>,
    /// Packets and bytes that the bearers still claim to hold.
    pub backlog: (usize, u64),
    /// The first time at which the backlog was not what had come in and not yet gone.
    pub miscounted: Option<Time>,
}

/// The bearers of some users, whether they share one or not.
struct Access {
    bearers: Vec<Box<dyn Bearer>>,
    shared: bool,
    users: usize,
}

impl Access {
    fn new(radio: &RadioSpec, users: &[UserRadio], seed: u64) -> Self {
        let mut bearers = radio.build(users, &Streams::new(seed, 0));
        for bearer in &mut bearers {
            bearer.record_ttis();
        }
        Self { bearers, shared: radio.is_shared(), users: users.len() }
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
            self.bearers[bearer].backlog(position)
        };
        (0..self.users).map(of_user).fold((0, 0), |(n, bytes), (m, more)| (n + m, bytes + more))
    }

    fn counts(&self) -> BearerCounts {
        self.bearers.iter().map(|bearer| bearer.counts()).fold(BearerCounts::default(), |a, b| BearerCounts {
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

    fn records(&self) -> Vec<TtiRecord> {
        let mut all = Vec::new();
        for (index, bearer) in self.bearers.iter().enumerate() {
            let named = |record: &TtiRecord| TtiRecord { user: self.user(index, record.user), ..*record };
            all.extend(bearer.tti_records().iter().map(named));
        }
        all.sort_by_key(|record| record.at);
        all
    }
}

/// Drives the bearers of `users` with `arrivals` (in order of time) until nothing is left to do.
///
/// # Panics
/// If that takes longer than [`LONGEST`].
pub fn drive(radio: &RadioSpec, users: &[UserRadio], seed: u64, arrivals: &[Arrival]) -> Outcome {
    let mut access = Access::new(radio, users, seed);
    let (mut stamps, mut out) = (Stamps::default(), Vec::new());
    let (mut delivered, mut taken, mut miscounted) = (Vec::new(), Vec::new(), None);
    let mut arrivals_left = arrivals.iter().enumerate().peekable();
    loop {
        let wake = access.bearers.iter().enumerate().filter_map(|(i, b)| Some((b.next_wake()?, i))).min();
        let now = match (arrivals_left.peek(), wake) {
            (None, None) => break,
            (Some(&(number, arrival)), wake) if wake.is_none_or(|((at, _), _)| arrival.at < at) => {
                arrivals_left.next();
                let (bearer, position) = access.place(arrival.user);
                let packet = Packet {
                    size: arrival.size,
                    seq: number as u64,
                    ..Packet::control(arrival.user as u32, Kind::Segment)
                };
                if access.bearers[bearer].accept(arrival.at, position, packet, &mut stamps) {
                    taken.push(number as u64);
                }
                arrival.at
            }
            (_, Some((key, index))) => {
                access.bearers[index].wake(key, &mut stamps, &mut out);
                for Delivery { user, packet } in out.drain(..) {
                    let user = access.user(index, user);
                    assert_eq!(packet.flow as usize, user, "a packet reached somebody else's phone");
                    delivered.push((key.0, user, packet.seq));
                }
                key.0
            }
            (Some(_), None) => unreachable!("an arrival without a wake-up is taken above"),
        };
        assert!(now.0 < LONGEST.0, "the radio never comes to an end");
        // What was rejected was counted as dropped but never came in.
        let rejected = (arrivals.len() - arrivals_left.len() - taken.len()) as u64;
        let given_up = access.counts().packets_dropped - rejected;
        let inside = taken.len() as u64 - delivered.len() as u64 - given_up;
        if access.backlog().0 as u64 != inside {
            miscounted.get_or_insert(now);
        }
    }
    let (counts, records, backlog) = (access.counts(), access.records(), access.backlog());
    Outcome { delivered, taken, counts, records, backlog, miscounted }
}
