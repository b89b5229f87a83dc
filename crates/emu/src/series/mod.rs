//! Constant memory: intervals of initially 0.1 s are merged in pairs, at most 240 a phone, with more than
//! four phones fewer, down to 60. Queues and CQI are sampled at fixed simulated times, so that a replay has
//! the same series. With histograms 1 MB for one phone and 48 MB for 200, all reserved at the start.

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

/// The share of a phone, clamped to [`MIN_INTERVALS`] and [`MAX_INTERVALS`], is its maximum number of intervals.
const TOTAL_INTERVALS: usize = 1_024;
/// For 17 phones or more.
const MIN_INTERVALS: usize = 60;
const MAX_INTERVALS: usize = 240;

/// Initially one per interval.
const SAMPLE_INTERVAL: u64 = FIRST_WIDTH;

#[derive(Clone, Copy, Debug, Default)]
struct Interval {
    offered: Volume,
    arrived: Volume,
    lost: [u64; CAUSES.len()],
    delays_ns: u128,
    delay_max_ns: u64,
    queue: Volume,
    samples: u64,
    cqi: f64,
    cqis: u64,
}

/// Bytes of simulated users, and deliveries of real packets.
#[derive(Clone, Copy, Debug, Default)]
struct Shared {
    simulated: Carried,
    deliveries: u64,
    late_ns: u128,
    late_max_ns: u64,
}

/// With the histogram of delays.
#[derive(Debug)]
struct Track {
    intervals: Bins<Interval>,
    delays: Bins<Delays>,
}

/// Of each phone and direction, and of all users together.
#[derive(Debug)]
pub struct Series {
    users: Vec<u32>,
    tracks: Vec<[Track; 2]>,
    shared: Bins<Shared>,
    next: Time,
    carried: Carried,
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
        self.samples += later.samples;
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
    fn new(max: usize) -> Self {
        Self { intervals: Bins::new(max), delays: Bins::new(max) }
    }
}

impl Series {
    pub fn new(users: Vec<u32>) -> Self {
        let max = (TOTAL_INTERVALS / users.len().max(1)).clamp(MIN_INTERVALS, MAX_INTERVALS) / 2 * 2;
        Self {
            tracks: users.iter().map(|_| [Track::new(max), Track::new(max)]).collect(),
            shared: Bins::new(max),
            next: Time(SAMPLE_INTERVAL),
            carried: Carried::default(),
            snapshots: vec![Snapshot::default(); users.len()],
            users,
        }
    }

    fn track(&mut self, phone: usize, direction: Direction) -> &mut Track {
        &mut self.tracks[phone][usize::from(direction == Direction::Up)]
    }

    pub fn offer(&mut self, phone: usize, direction: Direction, at: Time, bytes: usize) {
        self.track(phone, direction).intervals.at(at).offered.add(bytes);
    }

    pub fn arrive(&mut self, phone: usize, direction: Direction, accepted: Time, at: Time, bytes: usize) {
        let track = self.track(phone, direction);
        let delay = at.0 - accepted.0;
        let interval = track.intervals.at(at);
        interval.arrived.add(bytes);
        interval.delays_ns += u128::from(delay);
        interval.delay_max_ns = interval.delay_max_ns.max(delay);
        track.delays.at(at).add(delay);
    }

    pub fn lose(&mut self, phone: usize, direction: Direction, at: Time, cause: Cause) {
        let interval = self.track(phone, direction).intervals.at(at);
        for (count, (one, _)) in interval.lost.iter_mut().zip(CAUSES) {
            *count += u64::from(one == cause);
        }
    }

    /// Written to its device `late` ns after `at`.
    pub fn hand_over(&mut self, at: Time, late: u64) {
        let shared = self.shared.at(at);
        shared.deliveries += 1;
        shared.late_ns += u128::from(late);
        shared.late_max_ns = shared.late_max_ns.max(late);
    }

    /// Advances a world to each sampling time up to `now`, and samples its queues and CQI there.
    /// Events after the last sampling time are left to the caller.
    ///
    /// # Errors
    /// Returns an error if the simulation fails.
    #[inline]
    pub fn sample_until<L: Listener>(
        &mut self,
        now: Time,
        live: &mut Live<L>,
        fates: &mut Vec<Fate>,
    ) -> Result<()> {
        while self.next <= now {
            live.advance(self.next, fates);
            self.sample(live)?;
        }
        Ok(())
    }

    /// Samples the queues and CQI of a world at its current time.
    ///
    /// # Errors
    /// Returns an error if the simulation fails.
    pub fn sample<L: Listener>(&mut self, live: &mut Live<L>) -> Result<()> {
        let now = live.now();
        // The sample belongs to the interval that ends now, not to the interval that begins now.
        let at = Time(now.0.saturating_sub(1));
        for (phone, user) in self.users.iter().enumerate() {
            let snapshot = live.snapshot(*user)?;
            for (track, queue) in self.tracks[phone].iter_mut().zip([snapshot.down, snapshot.up]) {
                let interval = track.intervals.at(at);
                interval.queue.packets += queue.packets as u64;
                interval.queue.bytes += queue.bytes;
                interval.samples += 1;
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
        self.next = Time(now.0 / SAMPLE_INTERVAL * SAMPLE_INTERVAL + SAMPLE_INTERVAL);
        Ok(())
    }

    pub fn snapshots(&self) -> &[Snapshot] {
        &self.snapshots
    }

    /// To one interval length, in ns.
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
