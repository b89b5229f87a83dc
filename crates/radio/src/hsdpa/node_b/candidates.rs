//! Users that may be sent something in a TTI, and the block (grant) that each could be sent.

use super::turn::Grant;
use crate::hsdpa::adaptation::Limits;
use crate::mac::sched::{Candidate, Scheduler};

/// Users that may be sent something in a TTI, in ascending order of user index. The list of grants
/// is empty if grants have not been computed; then some users may turn out to get no grant.
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

    /// Inserts a candidate with its grant, or replaces the candidate and grant of the same user.
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

    /// Replaces this list by a copy of the candidates in `from`, without `user`.
    pub fn copy_others(&mut self, from: &Self, user: usize) {
        self.clear();
        let both = from.list.iter().zip(&from.grants);
        for (candidate, grant) in both.filter(|(candidate, _)| candidate.user != user) {
            self.push(*candidate, *grant);
        }
    }

    /// Selects at most `most` users for TTI `tti`, who share `codes` and, equally, the power.
    /// Returns these users with their grants, the scheduler's first choice first.
    ///
    /// A grant depends on the number of users who share the power, and the number of users who get
    /// codes depends on their grants. So the power is first divided among as many users as
    /// possible. If only fewer users get codes, the selection is repeated with that number, until
    /// each share of the power has a user.
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

    /// Replaces each grant by the result of `limited`, and removes the candidate if this result is
    /// `None`.
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
