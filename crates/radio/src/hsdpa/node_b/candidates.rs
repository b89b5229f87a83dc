use super::grant::Grant;
use crate::hsdpa::adaptation::Limits;
use nodeb_air::mac::sched::{Candidate, Scheduler};

/// In ascending order of user index; no grants if they have not been computed, as some users may get none.
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

    pub fn copy_others(&mut self, from: &Self, user: usize) {
        self.clear();
        let both = from.list.iter().zip(&from.grants);
        for (candidate, grant) in both.filter(|(candidate, _)| candidate.user != user) {
            self.push(*candidate, *grant);
        }
    }

    /// The scheduler's first choice first. A grant depends on the number of users who share the power, and
    /// that number on the grants: the power is first divided among as many users as possible, and again among
    /// fewer until each share has a user.
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
