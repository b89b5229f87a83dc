//! Candidates of a TTI and their grants.

use super::turn::Grant;
use crate::hsdpa::adaptation::Limits;
use crate::mac::sched::{Candidate, Scheduler};

/// Candidates of a TTI, in order of users, with their grants if those are known.
#[derive(Debug, Default)]
pub struct Candidates {
    pub list: Vec<Candidate>,
    pub grants: Vec<Grant>,
}

impl Candidates {
    pub fn clear(&mut self) {
        self.list.clear();
        self.grants.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn push(&mut self, candidate: Candidate, grant: Grant) {
        self.list.push(candidate);
        self.grants.push(grant);
    }

    /// Inserts a candidate, or replaces that of the same user.
    pub fn put(&mut self, candidate: Candidate, grant: Grant) {
        let user = candidate.user;
        match self.list.binary_search_by_key(&user, |other| other.user) {
            Ok(at) => (self.list[at], self.grants[at]) = (candidate, grant),
            Err(at) => {
                self.list.insert(at, candidate);
                self.grants.insert(at, grant);
            }
        }
    }

    pub fn remove(&mut self, at: usize) {
        self.list.remove(at);
        self.grants.remove(at);
    }

    /// Copies all candidates of another list except those of one user.
    pub fn copy_others(&mut self, from: &Self, user: usize) {
        self.clear();
        let both = from.list.iter().zip(&from.grants);
        for (candidate, grant) in both.filter(|(candidate, _)| candidate.user != user) {
            self.push(*candidate, *grant);
        }
    }

    /// Selects at most `most` users for TTI `tti`, who share `codes` and, equally, the power. Returns them
    /// with their grants, the scheduler's first choice first.
    ///
    /// A grant depends on the number of users who share the power, and the number of users who get codes
    /// depends on their grants. So the power is first divided among as many users as possible. If fewer get
    /// codes, it is divided again among as many as did, until no share is unused.
    pub fn choose(
        &mut self,
        tti: u64,
        scheduler: &mut dyn Scheduler,
        codes: u32,
        most: u32,
        limited: impl Fn(usize, Grant, Limits) -> Option<Grant>,
    ) -> Vec<(usize, Grant)> {
        let mut sharers = most.min(self.list.len() as u32);
        let mut chosen = Vec::with_capacity(sharers as usize);
        let all = (sharers > 1).then(|| (self.list.clone(), self.grants.clone()));
        loop {
            let mut limits = Limits { codes, sharers, units: 0 };
            chosen.clear();
            if sharers > 1 {
                self.limit(|user, grant| limited(user, grant, limits));
            }
            while chosen.len() < sharers as usize && !self.is_empty() {
                let at = scheduler.pick(tti, &self.list);
                let (user, grant) = (self.list[at].user, self.grants[at]);
                chosen.push((user, grant));
                self.remove(at);
                limits.codes -= grant.codes;
                if chosen.len() < sharers as usize {
                    self.limit(|user, grant| limited(user, grant, limits));
                }
            }
            match &all {
                Some((candidates, grants)) if chosen.len() < sharers as usize => {
                    sharers = chosen.len().max(1) as u32;
                    (self.list, self.grants) = (candidates.clone(), grants.clone());
                }
                _ => return chosen,
            }
        }
    }

    /// Replaces every grant by `limited` of it, and removes candidates without one.
    fn limit(&mut self, limited: impl Fn(usize, Grant) -> Option<Grant>) {
        let mut at = 0;
        while at < self.list.len() {
            if let Some(grant) = limited(self.list[at].user, self.grants[at]) {
                self.list[at].rate = grant.units;
                self.grants[at] = grant;
                at += 1;
            } else {
                self.remove(at);
            }
        }
    }
}
