//! What a user could be sent, had it always something to send.
//!
//! A [`Meter`] has a scheduler of its own, of the same kind as the cell's. In every TTI it sees who really
//! has something to send, and the user it measures with a full queue instead of what that has; it
//! goes on as if its own choices had been carried out. When it chooses the measured user, that is
//! credited with the payload of its block times the probability that the block is decoded at the SNR of
//! this TTI: the goodput of a block that is repeated until it is decoded, every transmission for itself.
//! What combining adds to that is left out, and so is that the other users would have had more to send
//! later. The user's HARQ processes and the distance of its TTIs limit it as they do in earnest.

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

/// Measures one user.
#[derive(Debug)]
pub struct Meter {
    /// Whom it measures.
    pub user: usize,
    scheduler: Box<dyn Scheduler>,
    view: View,
    /// TTIs between two records, and at the end of an idle time that are looked at one by one.
    record_ttis: u64,
    max_passed: u64,
    /// First TTI that is not accounted for.
    next: u64,
    /// TTIs in which the HARQ processes are free, soonest first.
    free: VecDeque<u64>,
    /// First TTI that is far enough from the last.
    rested: u64,
    candidates: Candidates,
    /// Bytes of packets credited.
    pub bytes: f64,
    /// When, bytes of packets credited by then, CQI.
    records: Option<Vec<(Time, f64, f32)>>,
}

/// Time between two records.
const RECORD: Duration = Duration::from_millis(20);

/// The end of an idle time, whose TTIs are looked at one by one: a pedestrian's fading has about 1000
/// independent values in it.
const MAX_PASSED: Duration = Duration::from_secs(200);

impl Meter {
    /// A meter of one of `users` users.
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

    /// Keeps records from now on.
    pub fn keep_records(&mut self) {
        self.records = Some(Vec::new());
    }

    /// Emits the records kept.
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
            let cqi = if user.adapter.has_cqis() { user.quality(tti, sequence) } else { f32::NAN };
            records.push((params.numerology().beginning(tti), self.bytes, cqi));
        }
    }

    /// Accounts for all TTIs before number `tti`, in which nobody has anything to send.
    ///
    /// If they are very many and nobody keeps records, the last of them stand for all.
    pub fn pass(&mut self, tti: u64, node_bs: &mut NodeBs) {
        let nobody = Candidates::default();
        let open = tti.saturating_sub(self.next);
        if self.records.is_none() && open > self.max_passed {
            self.next = tti - self.max_passed;
            let before = self.bytes;
            self.pass(tti, node_bs);
            self.bytes = before + (self.bytes - before) * (open as f64 / self.max_passed as f64);
            return;
        }
        while self.next < tti {
            self.account(self.next, &nobody, node_bs);
        }
    }

    /// Accounts for TTI number `tti`, in which others are as `real` says.
    pub fn account(&mut self, tti: u64, real: &Candidates, node_bs: &mut NodeBs) {
        self.next = tti + 1;
        self.record(tti, node_bs);
        let limits = node_bs.limits();
        let resumes = node_bs.users[self.user].resumes;
        if self.rested.max(resumes) > tti || self.free[0] > tti {
            // It has no part in this TTI, but the others have.
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

    /// Lists the others and the measured user with a full queue.
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
