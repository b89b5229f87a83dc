//! What happened over time, in a memory that does not grow with the time.
//!
//! Counts go into equal intervals from time zero on, 0.1 s long at first; when there are too many, each two become
//! one. How the world stands is asked at fixed times of the world, so that a flight that is flown again has the same
//! series. Each phone has at most 240 intervals, of more than four phones fewer, down to 60: with the delays of every
//! interval they take 1 MB for one phone and 48 MB for 200, all of it reserved at the start.

mod bins;
mod delays;
pub mod tables;

use nodeb_base::event::Cause;
use nodeb_base::units::Time;
use nodeb_sim::world::{Carried, Direction, Fate, Listener, Live, Snapshot};

use self::bins::{Bins, FIRST_WIDTH, Merge};
use self::delays::Delays;
use crate::error::Result;
use crate::report::{CAUSES, Volume};

/// Intervals of all phones together, and of each at least and at most.
const INTERVALS: usize = 1_024;
const FEWEST: usize = 60;
const MOST: usize = 240;

/// How long the world goes on between two looks at it, ns: each of the first intervals has one.
const LOOK_EVERY: u64 = FIRST_WIDTH;

/// What happened to a phone's packets one way in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    offered: Volume,
    arrived: Volume,
    lost: [u64; CAUSES.len()],
    delays_ns: u128,
    delay_max_ns: u64,
    /// Sums over looks, and their number.
    queue: Volume,
    looks: u64,
    cqi: f64,
    cqis: u64,
}

/// What happened to everybody in an interval.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    simulated: Carried,
    deliveries: u64,
    late_ns: u128,
    late_max_ns: u64,
}

/// A phone's packets one way.
#[derive(Debug)]
struct Track {
    intervals: Bins<Interval>,
    delays: Bins<Delays>,
}

/// What happened over time.
#[derive(Debug)]
pub struct Series {
    users: Vec<u32>,
    /// Of each phone what goes down and what goes up.
    tracks: Vec<[Track; 2]>,
    shared: Bins<Shared>,
    /// When the world is looked at next.
    next: Time,
    /// What simulated users were carried by the last look.
    carried: Carried,
    /// How phones stood then.
    snapshots: Vec<Snapshot>,
}

impl Merge for Interval {
    fn merge(&mut self, later: &Self) {
        for (mine, more) in [
            (&mut self.offered, later.offered),
            (&mut self.arrived, later.arrived),
            (&mut self.queue, later.queue),
        ] {
            mine.packets += more.packets;
            mine.bytes += more.bytes;
        }
        for (count, more) in self.lost.iter_mut().zip(later.lost) {
            *count += more;
        }
        self.delays_ns += later.delays_ns;
        self.delay_max_ns = self.delay_max_ns.max(later.delay_max_ns);
        self.looks += later.looks;
        self.cqi += later.cqi;
        self.cqis += later.cqis;
    }
}

impl Merge for Shared {
    fn merge(&mut self, later: &Self) {
        self.simulated.down += later.simulated.down;
        self.simulated.up += later.simulated.up;
        self.deliveries += later.deliveries;
        self.late_ns += later.late_ns;
        self.late_max_ns = self.late_max_ns.max(later.late_max_ns);
    }
}

impl Track {
    fn new(most: usize) -> Self {
        Self { intervals: Bins::new(most), delays: Bins::new(most) }
    }
}

impl Series {
    /// Nothing has happened to the packets of these users.
    pub fn new(users: Vec<u32>) -> Self {
        let most = (INTERVALS / users.len().max(1)).clamp(FEWEST, MOST) / 2 * 2;
        Self {
            tracks: users.iter().map(|_| [Track::new(most), Track::new(most)]).collect(),
            shared: Bins::new(most),
            next: Time(LOOK_EVERY),
            carried: Carried::default(),
            snapshots: vec![Snapshot::default(); users.len()],
            users,
        }
    }

    fn track(&mut self, phone: usize, direction: Direction) -> &mut Track {
        &mut self.tracks[phone][usize::from(direction == Direction::Up)]
    }

    /// A packet of so many bytes is accepted.
    pub fn offer(&mut self, phone: usize, direction: Direction, at: Time, bytes: usize) {
        self.track(phone, direction).intervals.at(at).offered.add(bytes);
    }

    /// A packet of so many bytes arrives that was accepted before.
    pub fn arrive(&mut self, phone: usize, direction: Direction, accepted: Time, at: Time, bytes: usize) {
        let track = self.track(phone, direction);
        let delay = at.0 - accepted.0;
        let interval = track.intervals.at(at);
        interval.arrived.add(bytes);
        interval.delays_ns += u128::from(delay);
        interval.delay_max_ns = interval.delay_max_ns.max(delay);
        track.delays.at(at).add(delay);
    }

    /// A packet is lost.
    pub fn lose(&mut self, phone: usize, direction: Direction, at: Time, cause: Cause) {
        let interval = self.track(phone, direction).intervals.at(at);
        for (count, (one, _)) in interval.lost.iter_mut().zip(CAUSES) {
            *count += u64::from(one == cause);
        }
    }

    /// A packet that arrived at a time was handed over so many nanoseconds later.
    pub fn hand_over(&mut self, at: Time, late: u64) {
        let shared = self.shared.at(at);
        shared.deliveries += 1;
        shared.late_ns += u128::from(late);
        shared.late_max_ns = shared.late_max_ns.max(late);
    }

    /// Looks at a world on its way to `now` as often as it is time to.
    ///
    /// # Errors
    /// The world's.
    #[inline]
    pub fn look_until<L: Listener>(
        &mut self,
        now: Time,
        live: &mut Live<L>,
        fates: &mut Vec<Fate>,
    ) -> Result<()> {
        while self.next <= now {
            live.advance(self.next, fates);
            self.look(live)?;
        }
        Ok(())
    }

    /// Looks at a world as it stands.
    ///
    /// # Errors
    /// The world's.
    pub fn look<L: Listener>(&mut self, live: &mut Live<L>) -> Result<()> {
        let now = live.now();
        // What is found belongs to the time that ends here.
        let at = Time(now.0.saturating_sub(1));
        for (phone, user) in self.users.iter().enumerate() {
            let snapshot = live.snapshot(*user)?;
            for (track, queue) in self.tracks[phone].iter_mut().zip([snapshot.down, snapshot.up]) {
                let interval = track.intervals.at(at);
                interval.queue.packets += queue.packets as u64;
                interval.queue.bytes += queue.bytes;
                interval.looks += 1;
            }
            if let Some(cqi) = snapshot.cqi {
                let interval = self.tracks[phone][0].intervals.at(at);
                interval.cqi += f64::from(cqi);
                interval.cqis += 1;
            }
            self.snapshots[phone] = snapshot;
        }
        let carried = live.carried();
        let simulated = &mut self.shared.at(at).simulated;
        simulated.down += carried.down - self.carried.down;
        simulated.up += carried.up - self.carried.up;
        self.carried = carried;
        self.next = Time(now.0 / LOOK_EVERY * LOOK_EVERY + LOOK_EVERY);
        Ok(())
    }

    /// How phones stood when the world was looked at.
    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// Intervals of one length up to `end`, the longest that any has: that, in ns.
    fn align(&mut self, end: Time) -> u64 {
        let last = Time(end.0.saturating_sub(1));
        self.shared.at(last);
        let mut width = self.shared.width();
        for track in self.tracks.iter_mut().flatten() {
            track.intervals.at(last);
            track.delays.at(last);
            width = width.max(track.intervals.width()).max(track.delays.width());
        }
        for track in self.tracks.iter_mut().flatten() {
            track.intervals.widen(width);
            track.delays.widen(width);
        }
        self.shared.widen(width);
        width
    }
}
