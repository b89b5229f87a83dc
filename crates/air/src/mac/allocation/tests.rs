use nodeb_base::rng::{Streams, uniform};
use nodeb_base::units::Duration;
use proptest::prelude::*;

use super::*;
use crate::mac::band::{Band, MAX_GROUPS};
use crate::mac::sched::{SchedulerSpec, View};

const TTI: Duration = Duration::from_millis(1);

const SCHEDULERS: [&str; 6] =
    ["round_robin", "max_ci", "proportional_fair", "normalized", "earliest_deadline", "tcp_aware"];

fn scheduler(name: &str, users: usize) -> Box<dyn Scheduler> {
    let spec: SchedulerSpec = serde_json::from_str(&format!("\"{name}\"")).unwrap();
    spec.build(users, TTI)
}

/// Without [`Scheduler::weigh`], like a plug-in that only picks users.
#[derive(Debug)]
struct WithoutWeights(Box<dyn Scheduler>);

impl Scheduler for WithoutWeights {
    fn view(&self) -> View {
        self.0.view()
    }

    fn pick(&mut self, tti: u64, candidates: &[Candidate]) -> usize {
        self.0.pick(tti, candidates)
    }

    fn served(&mut self, tti: u64, user: usize, units: u32) {
        self.0.served(tti, user, units);
    }
}

#[derive(Clone, Debug)]
struct Drawn {
    blocks: u16,
    grants: usize,
    /// 0 if the group is unusable.
    rates: Vec<Vec<u16>>,
    /// By group, in this TTI.
    halved: Vec<bool>,
    waiting: Vec<u32>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let sizes = (6..=110u16, 1..12usize, 1..10usize);
    sizes.prop_flat_map(|(blocks, users, grants)| {
        let rate = prop_oneof![1 => Just(0u16), 8 => 1..60u16, 1 => Just(7u16)];
        let rates = prop::collection::vec(prop::collection::vec(rate, MAX_GROUPS), users);
        let waiting = prop::collection::vec(prop_oneof![1..200u32, Just(100_000)], users);
        let halved = prop::collection::vec(any::<bool>(), MAX_GROUPS);
        (rates, halved, waiting).prop_map(move |(rates, halved, waiting)| Drawn {
            blocks,
            grants,
            rates,
            halved,
            waiting,
        })
    })
}

impl Drawn {
    fn band(&self) -> Band {
        Band::new(self.blocks, 4, 180e3)
    }

    fn rows(&self, unusable: f32) -> Vec<Row> {
        let row = |rates: &Vec<u16>| {
            std::array::from_fn(|group| if rates[group] == 0 { unusable } else { f32::from(rates[group]) })
        };
        self.rates.iter().map(row).collect()
    }

    fn candidates(&self) -> Vec<Candidate> {
        let rate = |user: usize| self.rates[user].iter().map(|rate| u32::from(*rate)).sum();
        let candidate = |user| Candidate {
            deadline: 100 - u64::from(rate(user)) % 7,
            ..Candidate::at_rate(user, rate(user))
        };
        (0..self.rates.len()).map(candidate).collect()
    }

    /// The scheduler has served each user before.
    fn parts(&self, scheduler: &mut dyn Scheduler, reserved: Groups) -> Vec<Part> {
        self.parts_of(scheduler, reserved, spans_of(&self.rows(UNUSABLE)))
    }

    fn parts_of(&self, scheduler: &mut dyn Scheduler, reserved: Groups, mut spans: Vec<Spans>) -> Vec<Part> {
        let waiting: Vec<f32> = self.waiting.iter().map(|units| *units as f32).collect();
        let (x, rates) = (self.rows(UNUSABLE), self.rows(0.0));
        let yields = std::array::from_fn(|group| if self.halved[group] { 0.5 } else { 1.0 });
        for (user, rates) in self.rates.iter().enumerate() {
            scheduler.served(user as u64, user, u32::from(rates[0]) + 1);
        }
        let mut allocator = GroupAllocator::default();
        let room = Room { groups: self.band().all().without(reserved), grants: self.grants };
        allocator.begin(20, scheduler, &self.candidates(), room);
        while !allocator.proceed(Offers {
            x: &x,
            spans: &spans,
            rates: &rates,
            sizes: &ALL_ONE,
            yields: &yields,
            waiting: &waiting,
        }) {
            allocator.unmeasured().iter().for_each(|user| spans[*user] = Spans::of(&x[*user]));
        }
        allocator.parts().to_vec()
    }

    fn double_amount(&self, user: usize, group: usize) -> u32 {
        u32::from(self.rates[user][group]) * if self.halved[group] { 1 } else { 2 }
    }

    fn check(&self, parts: &[Part], reserved: Groups) -> Result<(), TestCaseError> {
        let mut free = self.band().all().without(reserved);
        let mut left: Vec<u32> = self.waiting.iter().map(|waiting| 2 * waiting).collect();
        prop_assert!(parts.len() <= self.grants);
        for part in parts {
            prop_assert!(!part.groups.is_empty() && left[part.user] > 0, "{part:?}");
            prop_assert!(part.groups.without(free).is_empty(), "a group is assigned twice: {part:?}");
            prop_assert!(part.groups.into_iter().all(|group| self.rates[part.user][group] > 0), "{part:?}");
            free = free.without(part.groups);
            let amounts = part.groups.into_iter().map(|group| self.double_amount(part.user, group));
            let (carried, worst) = (amounts.clone().sum::<u32>(), amounts.min().unwrap_or(0));
            let spare = carried.saturating_sub(left[part.user]);
            prop_assert!(part.groups.len() == 1 || spare < worst, "{part:?} is more than needed");
            left[part.user] = left[part.user].saturating_sub(carried);
        }
        for (user, left) in left.iter().enumerate() {
            let has_part = parts.iter().any(|part| part.user == user);
            let could = *left > 0 && (has_part || parts.len() < self.grants);
            let usable = free.into_iter().any(|group| self.rates[user][group] > 0);
            prop_assert!(!(could && usable), "user {user} could use the rest of the band: {parts:?}");
        }
        Ok(())
    }
}

proptest! {
    // Tests the feature: schedulers on groups of resource blocks (property)
    #[test]
    fn deals_are_valid_and_complete(drawn in drawn(), which in 0..SCHEDULERS.len(), reserved in any::<u32>()) {
        let reserved: Groups = (0..MAX_GROUPS).filter(|group| reserved >> group & 3 == 3).collect();
        let mut own = scheduler(SCHEDULERS[which], drawn.rates.len());
        drawn.check(&drawn.parts(own.as_mut(), reserved), reserved)?;
        let mut plain = WithoutWeights(scheduler(SCHEDULERS[which], drawn.rates.len()));
        drawn.check(&drawn.parts(&mut plain, reserved), reserved)?;
    }

    #[test]
    fn users_that_cannot_get_a_group_need_no_measurement(drawn in drawn(), beyond in prop::collection::vec(prop::option::of(0..20u16), 12)) {
        let mut spans = spans_of(&drawn.rows(UNUSABLE));
        for ((spans, rates), beyond) in spans.iter_mut().zip(&drawn.rates).zip(beyond) {
            let bound = beyond.zip(rates.iter().max()).map(|(beyond, highest)| beyond + highest);
            *spans = bound.map_or(*spans, |bound| Spans::up_to(bound.into()));
        }
        let [mut late, mut early] = [0; 2].map(|_| scheduler("proportional_fair", drawn.rates.len()));
        let parts = drawn.parts_of(late.as_mut(), Groups::NONE, spans);
        prop_assert_eq!(parts, drawn.parts(early.as_mut(), Groups::NONE));
    }

    /// As in f64 for all users one by one; all have enough data and grants.
    #[test]
    fn groups_go_to_the_highest_score(drawn in drawn()) {
        let users = drawn.rates.len();
        let drawn = Drawn { grants: users, waiting: vec![1_000_000; users], ..drawn };
        for name in ["max_ci", "proportional_fair", "normalized", "tcp_aware"] {
            let parts = drawn.parts(scheduler(name, users).as_mut(), Groups::NONE);
            let mut twin = scheduler(name, users);
            (0..users).for_each(|user| twin.served(user as u64, user, u32::from(drawn.rates[user][0]) + 1));
            let mut weights = vec![Weight::default(); users];
            twin.weigh(20, &drawn.candidates(), &mut weights);
            for group in drawn.band().all() {
                let score = |user: usize| {
                    f64::from(weights[user].scale) * f64::from(drawn.rates[user][group]) + f64::from(weights[user].offset)
                };
                let best = (0..users).filter(|user| drawn.rates[*user][group] > 0).map(score).fold(f64::NEG_INFINITY, f64::max);
                let owner = parts.iter().find(|part| part.groups.contains(group));
                prop_assert_eq!(owner.is_some(), best > f64::NEG_INFINITY);
                if let Some(part) = owner {
                    prop_assert!(score(part.user) >= best - 1e-5 * best.abs().max(1.0), "{} {} {:?}", name, group, part);
                }
            }
        }
    }

    /// Also if the number of users does not divide the number of groups.
    #[test]
    fn round_robin_deals_spare_groups_in_turn(users in 1..12usize, groups in 12..=MAX_GROUPS, ttis in 1..60u64) {
        let rows = vec![[1.0; MAX_GROUPS]; users];
        let waiting = vec![1e6; users];
        let offers = Offers { x: &rows, spans: &spans_of(&rows), rates: &rows, sizes: &ALL_ONE, yields: &ALL_ONE, waiting: &waiting };
        let candidates: Vec<Candidate> = (0..users).map(|user| Candidate::at_rate(user, 1)).collect();
        let (mut scheduler, mut allocator) = (scheduler("round_robin", users), GroupAllocator::default());
        let mut counts = vec![0; users];
        for tti in 0..ttis {
            let room = Room { groups: Groups::first(groups), grants: users };
            for part in allocator.allocate(tti, scheduler.as_mut(), &candidates, offers, room) {
                counts[part.user] += part.groups.len();
                scheduler.served(tti, part.user, 1);
            }
            let [least, most] = [counts.iter().min(), counts.iter().max()];
            prop_assert!(most.copied() <= least.map(|least| least + 1), "TTI {}: {:?}", tti, counts);
        }
    }

    /// With fewer grants than users and groups of different sizes: turns differ by at most 1, with equally
    /// many resource blocks per turn.
    #[test]
    fn round_robin_shares_evenly_among_many_users(users in 2..60usize, grants in 1..=20usize, blocks in 24..=100u16) {
        let band = Band::new(blocks, 4, 180e3);
        let rows = vec![*band.sizes(); users];
        let waiting = vec![1e6; users];
        let offers = Offers { x: &rows, spans: &spans_of(&rows), rates: &rows, sizes: band.sizes(), yields: &ALL_ONE, waiting: &waiting };
        let candidates: Vec<Candidate> = (0..users).map(|user| Candidate::at_rate(user, 1)).collect();
        let (mut scheduler, mut allocator) = (scheduler("round_robin", users), GroupAllocator::default());
        let (mut got, mut turns) = (vec![0; users], vec![0; users]);
        for tti in 0..1_000 {
            let room = Room { groups: band.all(), grants };
            for part in allocator.allocate(tti, scheduler.as_mut(), &candidates, offers, room) {
                got[part.user] += band.blocks_in(part.groups);
                turns[part.user] += 1;
                scheduler.served(tti, part.user, 1);
            }
            prop_assert!(turns.iter().max().copied() <= turns.iter().min().map(|least| least + 1), "{:?}", turns);
        }
        let of_turn = f64::from(blocks) / grants.min(users).min(band.groups()) as f64;
        for (got, turns) in got.into_iter().zip(turns) {
            let beyond = f64::from(got) - f64::from(turns) * of_turn;
            prop_assert!(beyond.abs() <= 16.0, "{}", beyond);
        }
    }

    /// The same score as that of the user whom `pick` selects.
    #[test]
    fn one_group_goes_to_the_user_picked(rates in prop::collection::vec(1..30u32, 1..20), seed in any::<u64>()) {
        let users = rates.len();
        let rows: Vec<Row> = rates.iter().map(|rate| [*rate as f32; MAX_GROUPS]).collect();
        let waiting = vec![1e6; users];
        let offers = Offers { x: &rows, spans: &spans_of(&rows), rates: &rows, sizes: &ALL_ONE, yields: &ALL_ONE, waiting: &waiting };
        for name in SCHEDULERS {
            let [mut grid, plain, mut whole] = [0; 3].map(|_| scheduler(name, users));
            let mut plain = WithoutWeights(plain);
            let mut stream = Streams::new(seed, 0).stream("test", 0, "served");
            let mut allocator = GroupAllocator::default();
            let room = Room { groups: Groups::first(1), grants: 1 };
            for tti in 0..60 {
                let candidate = |user: usize| Candidate { deadline: 1_000 + user as u64 % 3, ..Candidate::at_rate(user, rates[user]) };
                let candidates: Vec<Candidate> = (0..users).map(candidate).collect();
                let picked = whole.pick(tti, &candidates);
                let dealt = allocator.allocate(tti, grid.as_mut(), &candidates, offers, room)[0].user;
                let mut weights = vec![Weight::default(); users];
                whole.weigh(tti, &candidates, &mut weights);
                let [a, b] = [dealt, picked].map(|user| weights[user].score(rates[user] as f32));
                let exact = ["round_robin", "max_ci", "earliest_deadline"].contains(&name);
                prop_assert!(dealt == picked || !exact && (a - b).abs() <= 1e-5 * b.abs(), "{name}: {dealt}, not {picked}");
                let ranked = allocator.allocate(tti, &mut plain, &candidates, offers, room)[0].user;
                prop_assert_eq!(ranked, picked, "{}", name);
                // In some TTIs another user is served, so that the scheduler's state does not only
                // result from its own choices.
                let user = if uniform(&mut stream) < 0.3 { (tti as usize * 7) % users } else { picked };
                grid.served(tti, user, rates[user]);
                whole.served(tti, user, rates[user]);
                plain.served(tti, user, rates[user]);
            }
        }
    }
}
