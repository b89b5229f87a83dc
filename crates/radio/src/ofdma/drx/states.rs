use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use nodeb_air::UserRadio;
use nodeb_base::context::Context;
use nodeb_base::event::{Event, Mask};
use nodeb_base::table;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};

use super::{DrxTimers, Listening};

#[derive(Debug)]
struct DrxState {
    listening: Listening,
    /// Last wait of which no block was sent since: from the TTI in which the phone did not listen to the
    /// one in which it does.
    waits: Option<(u64, u64)>,
    /// Of the same data: the phone listened, but was sent no block.
    earlier: Vec<(u64, u64)>,
    /// Waits whose data were sent, and the sum of their lengths in TTIs.
    counted: (u64, u64),
}

/// Shared by downlink and uplink, and by clones.
#[derive(Clone, Debug)]
pub struct DrxStates {
    phones: Rc<RefCell<Vec<DrxState>>>,
    tti: Duration,
}

impl DrxStates {
    pub fn new(timers: DrxTimers, users: &[UserRadio], tti: Duration) -> Self {
        let state = |user: &UserRadio| DrxState {
            listening: Listening::new(timers, user.id),
            waits: None,
            earlier: Vec::new(),
            counted: (0, 0),
        };
        Self { phones: Rc::new(RefCell::new(users.iter().map(state).collect())), tti }
    }

    fn phones(&self) -> RefMut<'_, Vec<DrxState>> {
        self.phones.borrow_mut()
    }

    /// First TTI at or after `ready` with reception; extends the last wait if it ends after `ready`,
    /// else records a new one.
    pub fn wake(&self, user: usize, ready: u64) -> u64 {
        let DrxState { listening, waits, earlier, .. } = &mut self.phones()[user];
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

    /// Emits an event for each recorded wait; `is_new` is false if all blocks are retransmissions.
    pub fn sent(&self, ctx: &mut Context, user: usize, tti: u64, is_new: bool) {
        let DrxState { listening, waits, earlier, counted } = &mut self.phones()[user];
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
                let [from, until] = [from, until].map(|tti| Time(tti * self.tti.0));
                let bearer = ctx.place.index;
                ctx.emit(Event::Slept { bearer, user: user as u32, from, until });
            }
        }
    }

    pub fn has_nothing(&self, user: usize) {
        let DrxState { waits, earlier, .. } = &mut self.phones()[user];
        *waits = None;
        earlier.clear();
    }

    /// Its retransmission comes in `begin` or later.
    pub fn failed(&self, user: usize, tti: u64, begin: u64) {
        self.phones()[user].listening.failed(tti, begin);
    }

    /// As the grant of a new block does.
    pub fn active(&self, user: usize, tti: u64) {
        self.phones()[user].listening.granted(tti);
    }

    /// True if downlink data wait for the phone to listen, which may now end.
    pub fn follow(&self, user: usize, record: impl FnOnce(&mut Listening)) -> bool {
        let state = &mut self.phones()[user];
        record(&mut state.listening);
        state.waits.is_some()
    }

    pub fn listens(&self, user: usize, tti: u64) -> bool {
        self.phones()[user].listening.next(tti) == tti
    }

    pub fn disconnected(&self, user: usize, from: u64, until: u64) {
        self.phones()[user].listening.disconnected(from, until);
    }

    /// To TTI `tti`, exclusive; `ends` gives the end of a user's connection.
    pub fn table(&self, tti: u64, ends: impl Fn(usize) -> u64) -> Table {
        let row = |(user, state): (usize, &mut DrxState)| DrxRow {
            user,
            awake: Duration(state.listening.awake_by(tti.min(ends(user))) * self.tti.0),
            lasts: Duration(tti * self.tti.0),
            waits: state.counted.0,
            waited: Duration(state.counted.1 * self.tti.0),
        };
        DRX.table(&self.phones().iter_mut().enumerate().map(row).collect::<Vec<_>>())
    }
}

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
