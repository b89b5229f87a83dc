//! Bandwidth that a user could have if data for this user always waited. A [`Meter`] has its own scheduler of
//! the same kind as the cell's. In every TTI the candidates of this scheduler are the users with data, and
//! the measured user as if its queue were full. The scheduler's state changes as if its own choices were
//! carried out. If the scheduler selects the measured user, the meter credits the payload of the user's block
//! times the probability that the block is decoded at the SNR of this TTI. The user's HARQ processes and the
//! minimum distance of its TTIs limit the measured bandwidth as in the simulation. Not modelled: the gain of
//! combining, and the data that other users would have later.

use std::collections::VecDeque;

use nodeb_base::context::Context;
use nodeb_base::event::Event;
use nodeb_base::units::{Duration, Time};

use crate::hsdpa::Hsdpa;
use crate::hsdpa::adaptation::Limits;
use crate::hsdpa::node_b::NodeBs;
use crate::hsdpa::node_b::candidates::Candidates;
use crate::hsdpa::node_b::grant::Grant;
use nodeb_air::mac::sched::{Scheduler, View};

#[derive(Debug)]
pub struct Meter {
    pub user: usize,
    scheduler: Box<dyn Scheduler>,
    view: View,
    /// TTIs between two records.
    record_ttis: u64,
    max_passed: u64,
    next: u64,
    /// In ascending order.
    free: VecDeque<u64>,
    /// First TTI that the minimum distance of the UE category allows.
    rested: u64,
    candidates: Candidates,
    /// Since the start.
    pub bytes: f64,
    /// Time, bytes until then, and CQI (NaN without CQIs) of records not emitted yet.
    records: Option<Vec<(Time, f64, f32)>>,
}

const RECORD: Duration = Duration::from_millis(20);

/// Longest part of an idle time that is evaluated TTI by TTI: a pedestrian's fading has about 1000
/// independent values in it.
const MAX_PASSED: Duration = Duration::from_secs(200);

impl Meter {
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

    /// Every 20 ms, for [`Self::emit_records`].
    pub fn keep_records(&mut self) {
        self.records = Some(Vec::new());
    }

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

    /// TTIs in which no user could be sent anything. Of more than 200 s without records only the last 200 s
    /// are evaluated, whose mean is assumed for the whole time.
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

    /// The measured user as if its queue were full, unless even then no block could be sent.
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
