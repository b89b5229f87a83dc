//! Phones with DRX, and the waits of data until a phone listens.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nodeb_base::context::Context;
use nodeb_base::event::{Event, Mask};
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use super::super::drx::{Drx, Listening};
use super::super::reports::TTI;
use crate::UserRadio;

/// DRX state of a phone, and the waits of data until the phone listens.
#[derive(Debug)]
struct Sleeper {
    listening: Listening,
    /// Last wait of data of which no block was sent since: the subframe since which they waited because the
    /// phone did not listen, and the subframe in which it listened or will listen again. `None` if no data
    /// have waited for this reason since the last block.
    waits: Option<(u64, u64)>,
    /// Earlier waits of the same data. After each of them the phone listened, but the base station sent it no block.
    earlier: Vec<(u64, u64)>,
    /// Number of waits of data that have been sent since, and the sum of the lengths of these waits in subframes.
    counted: (u64, u64),
}

/// DRX state of all phones of a cell, which downlink and uplink share. Clones of this value share the same state.
#[derive(Clone, Debug)]
pub struct Sleepers(Arc<Mutex<Vec<Sleeper>>>);

impl Sleepers {
    /// Creates the DRX state of `users`, who have not been active yet.
    pub fn new(drx: &Drx, users: &[UserRadio]) -> Self {
        let sleeper = |user: &UserRadio| Sleeper {
            listening: Listening::new(drx, user.id),
            waits: None,
            earlier: Vec::new(),
            counted: (0, 0),
        };
        Self(Arc::new(Mutex::new(users.iter().map(sleeper).collect())))
    }

    fn phones(&self) -> MutexGuard<'_, Vec<Sleeper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the first subframe at or after `ready` in which a user's phone listens. If the last recorded
    /// wait of the user's data ends after `ready`, sets its end to the returned subframe. Otherwise, if the
    /// returned subframe is later than `ready`, records a new wait from `ready` to the returned subframe.
    pub fn wake(&self, user: usize, ready: u64) -> u64 {
        let Sleeper { listening, waits, earlier, .. } = &mut self.phones()[user];
        let until = listening.next(ready);
        match waits {
            // The phone listens now, but the scheduler may serve others.
            Some((_, end)) if until == ready => *end = until.min(*end),
            Some((_, end)) if ready < *end => *end = until,
            _ if until > ready => earlier.extend(waits.replace((ready, until))),
            _ => {}
        }
        until
    }

    /// Records that a user is sent blocks in subframe `tti`. Emits an event for each recorded wait of the
    /// user's data, which ends in `tti` at the latest. `is_new` is false if all blocks are retransmissions.
    pub fn sent(&self, ctx: &mut Context, user: usize, tti: u64, is_new: bool) {
        let Sleeper { listening, waits, earlier, counted } = &mut self.phones()[user];
        if is_new {
            listening.granted(tti);
        } else {
            listening.repeated(tti);
        }
        for (from, until) in earlier.drain(..).chain(waits.take()) {
            let until = until.min(tti);
            if until <= from {
                continue;
            }
            *counted = (counted.0 + 1, counted.1 + until - from);
            if ctx.wants(Mask::CHANNELS) {
                let [from, until] = [from, until].map(|tti| Time(tti * TTI.0));
                let bearer = ctx.place.index;
                ctx.emit(Event::Slept { bearer, user: user as u32, from, until });
            }
        }
    }

    /// Discards the recorded waits of a user for whom no data wait any more.
    pub fn has_nothing(&self, user: usize) {
        let Sleeper { waits, earlier, .. } = &mut self.phones()[user];
        *waits = None;
        earlier.clear();
    }

    /// Records that a user's block failed in subframe `tti` and will be retransmitted.
    pub fn failed(&self, user: usize, tti: u64) {
        self.phones()[user].listening.failed(tti);
    }

    /// Starts the inactivity timer of a user in subframe `tti`, as the grant of a new block does.
    pub fn active(&self, user: usize, tti: u64) {
        self.phones()[user].listening.granted(tti);
    }

    /// Records what a user's phone sends in the uplink, or is granted there, by `record`. Returns true if downlink data
    /// wait for the phone to listen, so that they may not have to wait any longer.
    pub fn follow(&self, user: usize, record: impl FnOnce(&mut Listening)) -> bool {
        let sleeper = &mut self.phones()[user];
        record(&mut sleeper.listening);
        sleeper.waits.is_some()
    }

    /// Returns true if a user's phone listens in subframe `tti`.
    pub fn listens(&self, user: usize, tti: u64) -> bool {
        self.phones()[user].listening.next(tti) == tti
    }

    /// Records that a user's phone was not connected from subframe `from` on until subframe `until`.
    pub fn disconnected(&self, user: usize, from: u64, until: u64) {
        self.phones()[user].listening.disconnected(from, until);
    }

    /// Returns the table `drx` of all users, for the time from the start of the run to subframe `tti`,
    /// exclusive. `ends` returns the subframe in which a user's connection ends or has ended.
    pub fn table(&self, tti: u64, ends: impl Fn(usize) -> u64) -> Table {
        let row = |(user, sleeper): (usize, &mut Sleeper)| DrxRow {
            user,
            awake: Duration(sleeper.listening.awake_by(tti.min(ends(user))) * TTI.0),
            lasts: Duration(tti * TTI.0),
            waits: sleeper.counted.0,
            waited: Duration(sleeper.counted.1 * TTI.0),
        };
        DRX.table(&self.phones().iter_mut().enumerate().map(row).collect::<Vec<_>>())
    }
}

/// Results of a phone's discontinuous reception.
#[derive(Clone, Copy, Debug)]
pub struct DrxRow {
    user: usize,
    awake: Duration,
    lasts: Duration,
    waits: u64,
    waited: Duration,
}

table! {
    /// One row per user on `lte` with `drx`: time in which the phone listened, and delays of data until it did.
    pub static DRX: "drx" of DrxRow {
        /// Number of the user in the scenario, from 0.
        "user" [""] U64 = |row| row.user as u64;
        /// Time in which the phone was connected and listened to the base station.
        "awake_s" ["s"] F64 = |row| row.awake.as_secs();
        /// `awake_s` divided by the duration of the run; NaN if the run took no time.
        "awake_share" ["1"] F64 = |row| row.awake.as_secs() / row.lasts.as_secs();
        /// Number of times that data waited because the phone did not listen.
        "waits" [""] U64 = |row| row.waits;
        /// Mean length of the waits in `waits`; NaN if there were none.
        "wait_mean_s" ["s"] F64 = |row| row.waited.as_secs() / row.waits as f64;
    }
}
