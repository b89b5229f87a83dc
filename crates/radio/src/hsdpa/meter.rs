//! Bandwidth that a user could have if data for this user always waited.
//!
//! A [`Meter`] has its own scheduler of the same kind as the cell's. In every TTI the candidates of
//! this scheduler are the users with data, and the measured user as if its queue were full. The
//! scheduler's state changes as if its own choices were carried out. If the scheduler selects the
//! measured user, the meter credits the payload of the user's block times the probability that the
//! block is decoded at the SNR of this TTI. This product is the goodput of a block that is
//! retransmitted until it is decoded, without combining. The user's HARQ processes and the minimum
//! distance of its TTIs limit the measured bandwidth as in the simulation. Not modelled: the gain of
//! combining, and the data that other users would have later.

use std::collections::VecDeque;

use nodeb_base::context::Context;
use nodeb_base::event::Event;
use nodeb_base::units::{Duration, Time};

use crate::hsdpa::Hsdpa;
use crate::hsdpa::adaptation::Limits;
use crate::hsdpa::node_b::NodeBs;
use crate::hsdpa::node_b::candidates::Candidates;
use crate::hsdpa::node_b::turn::Grant;
use crate::mac::sched::{Scheduler, View};

/// Meter of the bandwidth available to one user.
#[derive(Debug)]
pub struct Meter {
    /// Index of the measured user.
    pub user: usize,
    scheduler: Box<dyn Scheduler>,
    view: View,
    /// Number of TTIs between two records of the available bandwidth.
    record_ttis: u64,
    max_passed: u64,
    /// First TTI for which available bandwidth has not been computed yet.
    next: u64,
    /// TTIs in which the measured user's HARQ processes become free, in ascending order.
    free: VecDeque<u64>,
    /// First TTI in which the measured user may be served again, given the minimum distance of TTIs
    /// for its UE category.
    rested: u64,
    candidates: Candidates,
    /// Number of packet bytes that the measured user could have received since the start.
    pub bytes: f64,
    /// Records that were not emitted yet, each with its time, the bytes credited until then, and
    /// the CQI, which is NaN if no CQI is used; `None` if no records are kept.
    records: Option<Vec<(Time, f64, f32)>>,
}

/// Time between two records of the available bandwidth.
const RECORD: Duration = Duration::from_millis(20);

/// Maximum length of the part at the end of an idle time that is evaluated TTI by TTI. A
/// pedestrian's fading has about 1000 independent values in this time.
const MAX_PASSED: Duration = Duration::from_secs(200);

impl Meter {
    /// Creates the meter of user `user`, with a scheduler for `users` users.
    pub fn new(params: &Hsdpa, user: usize, users: usize) -> Self {
        let scheduler = params.scheduler.build(users, params.numerology().tti);
        Self {
            user,
            view: scheduler.view(),
            scheduler,
            record_ttis: params.numerology().ttis(RECORD).max(1),
            max_passed: params.numerology().ttis(MAX_PASSED),
            next: 0,
            free: vec![0; params.processes.get() as usize].into(),
            rested: 0,
            candidates: Candidates::default(),
            bytes: 0.0,
            records: None,
        }
    }

    /// Starts to keep a record of the available bandwidth every 20 ms. [`Self::emit_records`] emits
    /// the records.
    pub fn keep_records(&mut self) {
        self.records = Some(Vec::new());
    }

    /// Emits all records kept so far as events, and removes these records.
    pub fn emit_records(&mut self, ctx: &mut Context) {
        let (bearer, user) = (ctx.place.index, self.user as u32);
        for (at, bytes, cqi) in self.records.iter_mut().flat_map(|records| records.drain(..)) {
            ctx.sink.emit(at, Event::Available { bearer, user, bytes, cqi });
        }
    }

    fn record(&mut self, tti: u64, node_bs: &mut NodeBs) {
        if let Some(records) = &mut self.records
            && tti.is_multiple_of(self.record_ttis)
        {
            let NodeBs { users, sequence, params, .. } = node_bs;
            let user = &mut users[self.user];
            let cqi = if user.adapter.sees_channel() { user.quality(tti, sequence) } else { f32::NAN };
            records.push((params.numerology().beginning(tti), self.bytes, cqi));
        }
    }

    /// Adds to `bytes` what the measured user could have received in the TTIs before TTI `tti` that
    /// were not evaluated yet. In the simulation no user could be sent anything in these TTIs.
    ///
    /// If these TTIs take more than 200 s and no records are kept, only the last 200 s are
    /// evaluated. Their mean bandwidth is then assumed for the whole time.
    pub fn pass(&mut self, tti: u64, node_bs: &mut NodeBs) {
        let no_candidates = Candidates::default();
        let open = tti.saturating_sub(self.next);
        if self.records.is_none() && open > self.max_passed {
            self.next = tti - self.max_passed;
            let before = self.bytes;
            self.pass(tti, node_bs);
            self.bytes = before + (self.bytes - before) * (open as f64 / self.max_passed as f64);
            return;
        }
        while self.next < tti {
            self.account(self.next, &no_candidates, node_bs);
        }
    }

    /// Adds to `bytes` what the measured user could have received in TTI `tti`. `real` lists the
    /// candidates that the scheduler of the simulated cell has in this TTI.
    pub fn account(&mut self, tti: u64, real: &Candidates, node_bs: &mut NodeBs) {
        self.next = tti + 1;
        self.record(tti, node_bs);
        let limits = node_bs.limits();
        let resumes = node_bs.users[self.user].mobility.resumes;
        if self.rested.max(resumes) > tti || self.free[0] > tti {
            // The measured user cannot be served in this TTI, but the scheduler of the meter may
            // serve other users.
            self.candidates.copy_others(real, self.user);
        } else {
            self.join(tti, real, limits, node_bs);
        }
        let (measured, params) = (self.user, &node_bs.params);
        let most = params.users_per_tti.get();
        let chosen = self.candidates.choose(
            tti,
            self.scheduler.as_mut(),
            params.codes.get(),
            most,
            |user, grant, limits| {
                let state = &node_bs.users[user];
                if user == measured {
                    state.full_queue_grant(grant.quality, limits)
                } else {
                    state.limit(grant, limits)
                }
            },
        );
        for &(user, grant) in &chosen {
            self.scheduler.served(tti, user, grant.units);
            if user == measured {
                self.credit(tti, grant, chosen.len() as u32, node_bs);
            }
        }
    }

    /// Lists the candidates in `real` and the measured user, the latter as if its queue were full. If no
    /// block could be sent to the measured user even then, it is not listed.
    fn join(&mut self, tti: u64, real: &Candidates, limits: Limits, node_bs: &mut NodeBs) {
        self.candidates.copy_others(real, self.user);
        let state = &mut node_bs.users[self.user];
        let quality = state.quality(tti, &node_bs.sequence);
        if let Some(grant) = state.full_queue_grant(quality, limits) {
            let mut candidate = state.candidate(self.user, grant.units, quality, self.view);
            if state.packets.waits_since().is_none() {
                candidate.deadline = tti + state.delay_budget;
            }
            self.candidates.put(candidate, grant);
        }
    }

    fn credit(&mut self, tti: u64, grant: Grant, sharers: u32, node_bs: &mut NodeBs) {
        let state = &mut node_bs.users[self.user];
        let decoded = 1.0 - state.first_bler(tti, grant, sharers, &node_bs.sequence);
        self.bytes += decoded * node_bs.params.payload().bytes_in(grant.units);
        self.rested = tti + state.tti_distance;
        self.free.pop_front();
        self.free.push_back(node_bs.params.answer_at(tti));
    }
}
