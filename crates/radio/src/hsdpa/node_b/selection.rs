//! Read by the scheduler in every TTI, in arrays apart from the users. CQIs are computed for several TTIs at
//! once, and changes of queues and processes are known until the user's next event, so the blocks of several
//! TTIs are cached.

use super::user::User;
use nodeb_air::cell::channel::ends::Ends;
use nodeb_air::cell::profile::BLOCK;
use nodeb_air::mac::user_set::UserSet;

#[derive(Debug)]
pub struct SelectionCache {
    /// At the last refresh.
    readiness: Vec<Readiness>,
    /// By cell, for the current TTI.
    pub waiting: Vec<UserSet>,
    /// By cell, the two best of the last search ([`NodeBs::find_best`](super::NodeBs::find_best)).
    pub last_best: Vec<[usize; 2]>,
    /// In any order.
    later: Vec<usize>,
    pub score_bounds: Vec<ScoreBound>,
    pub quality_bounds: Vec<QualityBound>,
    pub cached: Vec<CachedBlocks>,
    ends: Ends,
}

#[derive(Clone, Copy, Debug)]
struct Readiness {
    /// First TTI with something to send, `u64::MAX` if there is nothing.
    ready: u64,
    /// At most the units of the user's largest block.
    usable: u64,
    cell: u8,
}

impl Readiness {
    fn of(state: &User) -> Self {
        Self { ready: state.ready(), usable: state.usable(), cell: state.mobility.serving as u8 }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ScoreBound {
    pub score: f64,
    /// First TTI without validity.
    pub until: u64,
}

impl ScoreBound {
    const UNKNOWN: Self = Self { score: f64::INFINITY, until: 0 };
}

#[derive(Clone, Copy, Debug)]
pub struct QualityBound {
    pub units: u32,
    pub quality: f32,
    /// First TTI without validity.
    pub until: u64,
}

impl QualityBound {
    /// Valid until the next refresh.
    pub const NONE: Self = Self { units: u32::MAX, quality: f32::INFINITY, until: u64::MAX };
    const UNKNOWN: Self = Self { until: 0, ..Self::NONE };
}

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct CachedBlocks {
    /// TTI of the first elements of `units` and `cqi`.
    pub first: u64,
    pub until: u64,
    /// 0 if nothing could be sent.
    pub units: [u32; BLOCK],
    pub cqi: [u8; BLOCK],
}

impl SelectionCache {
    pub fn new(users: &[User], cells: usize) -> Self {
        let nothing = CachedBlocks { first: 0, until: 0, units: [0; BLOCK], cqi: [0; BLOCK] };
        Self {
            readiness: users
                .iter()
                .map(|user| Readiness { ready: u64::MAX, ..Readiness::of(user) })
                .collect(),
            waiting: vec![UserSet::new(users.len()); cells],
            last_best: vec![[0; 2]; cells],
            later: Vec::new(),
            score_bounds: vec![ScoreBound::UNKNOWN; users.len()],
            quality_bounds: vec![QualityBound::UNKNOWN; users.len()],
            cached: vec![nothing; users.len()],
            ends: Ends::new(users.iter().map(|user| user.channel.ends())),
        }
    }

    /// After each change of the queue, HARQ processes or cell.
    pub fn refresh(&mut self, user: usize, state: &User) {
        self.put_off(user, Readiness::of(state));
        self.forget(user);
    }

    /// Only the queue may have changed.
    pub fn refresh_queue(&mut self, user: usize, state: &User) {
        if self.readiness[user].usable != state.usable() {
            self.refresh(user, state);
        }
    }

    pub fn refresh_sent(&mut self, user: usize, state: &User, tti: u64, is_new: bool) {
        let (last, next) = (self.readiness[user], Readiness::of(state));
        let processes = &state.processes;
        if !is_new || next.usable != last.usable || state.adapter.learns() || !processes.has_free(tti + 1) {
            self.refresh(user, state);
            return;
        }
        // The next block could be a new one, as large as before, until a retransmission is due. The
        // scheduler may rank the user lower now.
        let until = processes.first_retransmission();
        self.quality_bounds[user].until = self.quality_bounds[user].until.min(until);
        self.cached[user].until = self.cached[user].until.min(until);
        self.score_bounds[user] = ScoreBound::UNKNOWN;
        if next.ready == tti + 1 {
            self.readiness[user] = next;
        } else {
            self.put_off(user, next);
        }
    }

    /// [`Self::advance`] marks the user as waiting from TTI `ready` on.
    fn put_off(&mut self, user: usize, next: Readiness) {
        self.waiting[usize::from(self.readiness[user].cell)].remove(user);
        self.later.retain(|other| *other != user);
        self.readiness[user] = next;
        if next.ready < u64::MAX && !self.ends.precede(user, next.ready) {
            self.later.push(user);
        }
    }

    fn forget(&mut self, user: usize) {
        self.score_bounds[user] = ScoreBound::UNKNOWN;
        self.quality_bounds[user] = QualityBound::UNKNOWN;
        self.cached[user].until = 0;
    }

    /// If the size of the next block may change.
    pub fn forget_if_changed(&mut self, user: usize, state: &User) {
        if self.readiness[user].usable != state.usable() {
            self.forget(user);
        }
    }

    /// When the scheduler may score differently.
    pub fn forget_scores(&mut self) {
        self.score_bounds.fill(ScoreBound::UNKNOWN);
    }

    /// Except users whose channels have ended.
    pub fn advance(&mut self, tti: u64) {
        let Self { readiness, waiting, later, ends, .. } = self;
        ends.pass(tti, |user| {
            for users in waiting.iter_mut() {
                users.remove(user);
            }
            later.retain(|other| *other != user);
        });
        later.retain(|&user| {
            let Readiness { ready, cell, .. } = readiness[user];
            if ready <= tti {
                waiting[usize::from(cell)].insert(user);
            }
            ready > tti
        });
    }

    /// 0 if a user is waiting already.
    pub fn first(&self) -> Option<u64> {
        if self.waiting.iter().any(|users| !users.is_empty()) {
            return Some(0);
        }
        self.later.iter().map(|user| self.readiness[*user].ready).min()
    }
}

impl CachedBlocks {
    #[inline]
    pub fn recall(&self, tti: u64) -> Option<(u32, f32)> {
        if tti >= self.until {
            return None;
        }
        let at = (tti - self.first) as usize % BLOCK;
        Some((self.units[at], f32::from(self.cqi[at])))
    }

    #[inline]
    pub fn bound(&self) -> QualityBound {
        let (mut units, mut cqi) = (0, 0);
        for at in 0..BLOCK {
            (units, cqi) = (units.max(self.units[at]), cqi.max(self.cqi[at]));
        }
        QualityBound { units, quality: f32::from(cqi), until: self.until }
    }
}
