//! Causes of a transfer's duration, over its replications.

use std::collections::BTreeMap;

use nodeb_base::cause::{Cause, Step};
use nodeb_base::event::Site;
use nodeb_base::remedy::{Aim, Change, Loss, Target};

use crate::answer::{Bar, Bars};
use crate::digits::{Shown, parts, shown};
use crate::stats::{CONFIDENCE, Interval, mean, mean_interval};
use crate::words::{fraction, joined, part_percent, sentence, spelled};

const NS_PER_S: f64 = 1e9;
/// Least number of causes with bars of their own; the others share one bar.
const NAMED: usize = 3;
/// Share of a transfer's time below which a cause may have no bar of its own.
pub const SMALL: f64 = 0.05;
/// Causes within TCP: the path does not wait for the transmission of a packet during them.
const OF_TCP: [Cause; 9] = [
    Cause::DelayedAck,
    Cause::SlowStart,
    Cause::CongestionAvoidance,
    Cause::ReceiverWindow,
    Cause::SendBuffer,
    Cause::ProxyWindow,
    Cause::Recovery,
    Cause::Timeout,
    Cause::Pacing,
];
/// Their time also counts as time of the cause of the round trip in which they occur; the busy time of a channel, for
/// example, does not.
const WITH_ROUNDS: [Cause; 3] = [Cause::DelayedAck, Cause::Segmentation, Cause::Pacing];
const SERVES: [Step; 3] = [Step::Sends, Step::OwnAhead, Step::OthersServed];

/// What spans of a critical path have in common, whose time is counted together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Share {
    pub cause: Cause,
    pub step: Option<Step>,
    /// Name; empty if it is not known.
    pub place: String,
    pub site: Option<Site>,
    /// Cause of the round trip; `None` after the last one.
    pub round: Option<Cause>,
    /// From the first repair of a loss on the path to its end.
    pub after_loss: bool,
}

impl Share {
    /// Whether one of `causes` is its cause, or that of its round trip if its own cause is one of [`WITH_ROUNDS`].
    fn is_in_round(&self, causes: &[Cause]) -> bool {
        let of_round = self.round.is_some_and(|round| causes.contains(&round));
        causes.contains(&self.cause) || of_round && WITH_ROUNDS.contains(&self.cause)
    }
}

/// Critical paths of a transfer, one per replication.
#[derive(Clone, Debug)]
pub struct Paths {
    shares: Vec<Share>,
    /// Times of all shares, replication by replication.
    ns: Vec<u64>,
    /// Times of the shares in all replications.
    sums_ns: Vec<u64>,
    runs: usize,
    more: More,
}

/// What replications have apart from the times of their paths.
#[derive(Clone, Debug, Default)]
pub struct More {
    /// Mean time in s for which each link or channel sent packets of the connection.
    pub busy: Vec<(String, f64)>,
    /// Losses in all replications, in the order of [`Loss`].
    pub lost: [u64; 4],
    /// Mean number of packets that each cause delayed, in the order of [`Cause::ALL`].
    pub packets: Vec<f64>,
}

/// A cause's time, over replications.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub cause: Cause,
    /// Of the duration.
    pub share: f64,
    pub time: Interval,
    pub packets: f64,
}

impl Paths {
    /// `ns` has the times of all shares, replication by replication.
    pub fn new(shares: Vec<Share>, ns: Vec<u64>, runs: usize, more: More) -> Self {
        let many = shares.len();
        let sums_ns = (0..many).map(|at| ns.iter().skip(at).step_by(many).sum()).collect();
        Self { shares, ns, sums_ns, runs, more }
    }

    fn seconds_of(&self, of: impl Fn(&Share) -> bool) -> Vec<f64> {
        let which: Vec<usize> = (0..self.shares.len()).filter(|at| of(&self.shares[*at])).collect();
        let run = |run: usize| {
            let ns: u64 = which.iter().map(|at| self.ns[run * self.shares.len() + at]).sum();
            ns as f64 / NS_PER_S
        };
        (0..self.runs).map(run).collect()
    }

    pub fn runs(&self) -> usize {
        self.runs
    }

    /// In the order of [`Loss`].
    pub fn lost(&self) -> [u64; 4] {
        self.more.lost
    }

    /// Of each replication.
    pub fn times(&self) -> Vec<f64> {
        self.seconds_of(|_| true)
    }

    /// Of each replication.
    pub fn seconds(&self, cause: Cause) -> Vec<f64> {
        self.seconds_of(|share| share.cause == cause)
    }

    fn mean_s(&self, of: impl Fn(&Share) -> bool) -> f64 {
        let ns = self.shares.iter().zip(&self.sums_ns).filter(|(share, _)| of(share)).map(|(_, ns)| ns);
        ns.sum::<u64>() as f64 / NS_PER_S / self.runs as f64
    }

    /// By decreasing mean time; without those that do not occur.
    pub fn causes(&self) -> Vec<Cause> {
        let occurs = |cause: &&Cause| self.shares.iter().any(|share| share.cause == **cause);
        let mut causes: Vec<(Cause, f64)> =
            Cause::ALL.iter().filter(occurs).map(|cause| (*cause, mean(&self.seconds(*cause)))).collect();
        causes.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        causes.into_iter().map(|(cause, _)| cause).collect()
    }

    pub fn table(&self) -> Vec<Row> {
        let whole = mean(&self.times());
        let row = |cause: Cause| {
            let time = mean_interval(&self.seconds(cause), CONFIDENCE).within(0.0, f64::INFINITY);
            let packets = self.more.packets.get(cause as usize).copied().unwrap_or(0.0);
            Row { cause, share: time.mean / whole, time, packets }
        };
        self.causes().into_iter().map(row).collect()
    }

    /// At which the cause takes most of its time; empty if it does not occur.
    pub fn place(&self, cause: Cause) -> &str {
        self.most(cause, |share| share.place.as_str()).unwrap_or_default()
    }

    /// In which the cause takes most of its time.
    pub fn step(&self, cause: Cause) -> Option<Step> {
        self.most(cause, |share| share.step).flatten()
    }

    /// The first one of several with the same time.
    fn most<'a, T: PartialEq>(&'a self, cause: Cause, name: impl Fn(&'a Share) -> T) -> Option<T> {
        let mut sums: Vec<(T, u64)> = Vec::new();
        for (share, ns) in self.shares.iter().zip(&self.sums_ns).filter(|(share, _)| share.cause == cause) {
            let name = name(share);
            match sums.iter_mut().find(|(other, _)| *other == name) {
                Some((_, sum)) => *sum += *ns,
                None => sums.push((name, *ns)),
            }
        }
        sums.into_iter().rev().max_by_key(|(_, ns)| *ns).map(|(name, _)| name)
    }

    pub fn any_lost(&self) -> bool {
        self.more.lost.iter().any(|lost| *lost > 0)
    }

    fn lost_by(&self, reasons: &[Loss]) -> u64 {
        reasons.iter().map(|reason| self.more.lost[*reason as usize]).sum()
    }

    /// A queue that has neither dropped nor marked a packet would do the same if it were longer.
    pub fn allows(&self, change: Change) -> bool {
        change != Change::LongQueues || self.lost_by(&[Loss::Queues, Loss::Marks]) > 0
    }

    /// Mean time in s that a change would save if TCP did everything else at the same times, by the cause to which it
    /// is charged.
    pub fn on_path(&self, aims: &[Aim]) -> BTreeMap<Cause, f64> {
        let mut times = BTreeMap::new();
        for Aim { target, factor } in aims {
            let saved = factor * self.saved_of(*target);
            for cause in Cause::ALL {
                let own = |share: &Share| share.cause == *cause && self.is_targeted(share, *target);
                let less_s = if let Target::Beyond(_, less) = target { less.as_secs() } else { 0.0 };
                let own_s = saved * (self.mean_s(own) - less_s).max(0.0);
                if own_s > 0.0 {
                    *times.entry(*cause).or_insert(0.0) += own_s;
                }
            }
        }
        times
    }

    fn saved_of(&self, target: Target) -> f64 {
        match target {
            Target::Rounds(_) | Target::Opening => self.idle(),
            Target::Losses(reasons) => {
                let every = self.more.lost.iter().sum::<u64>().max(1);
                self.idle() * self.lost_by(reasons) as f64 / every as f64
            }
            _ => 1.0,
        }
    }

    fn is_targeted(&self, share: &Share, target: Target) -> bool {
        const OPENING: [Cause; 2] = [Cause::SlowStart, Cause::CongestionAvoidance];
        const LOSING: [Cause; 4] =
            [Cause::CongestionAvoidance, Cause::Recovery, Cause::Timeout, Cause::SlowStart];
        match target {
            Target::Causes(causes) => causes.contains(&share.cause),
            Target::CauseAt(cause, site) => share.cause == cause && share.site == Some(site),
            Target::Beyond(cause, _) => share.cause == cause,
            Target::Steps(steps) => share.step.is_some_and(|step| steps.contains(&step)),
            Target::Serving(sites) => {
                let serves = share.step.is_some_and(|step| SERVES.contains(&step));
                serves && share.site.is_some_and(|site| sites.contains(&site))
            }
            Target::Rounds(cause) => share.is_in_round(&[cause]),
            Target::Opening => {
                let opens = if self.any_lost() { &OPENING[..1] } else { &OPENING[..] };
                !share.after_loss && share.is_in_round(opens)
            }
            // Congestion avoidance always opens a reduced window, slow start only after a loss.
            Target::Losses(_) => share.is_in_round(if share.after_loss { &LOSING } else { &LOSING[..3] }),
        }
    }

    /// Share of the path's time elsewhere in which the busiest link or channel did not send anyway: neither a larger
    /// window nor the absence of a loss saves transmission.
    fn idle(&self) -> f64 {
        let whole = self.mean_s(|_| true);
        let of = |(place, busy): &(String, f64)| {
            let sends = |step: Step| [Step::Sends, Step::OwnAhead, Step::Retransmits].contains(&step);
            let seen = self.mean_s(|share| {
                share.place == *place && share.step.is_some_and(sends) && !OF_TCP.contains(&share.cause)
            });
            let elsewhere = whole - seen;
            if elsewhere > 0.0 { (1.0 - (busy - seen).max(0.0) / elsewhere).max(0.0) } else { 1.0 }
        };
        self.more.busy.iter().map(of).fold(1.0, f64::min)
    }
}

/// In answers.
pub fn called(cause: Cause) -> &'static str {
    cause.name().trim_start_matches("window: ")
}

/// CSS class of the fill on pages, such as `k-slow-start`.
pub fn paint(cause: Cause) -> String {
    format!("k-{}", called(cause).to_lowercase().replace(' ', "-"))
}

impl Row {
    pub fn shown(&self) -> Shown {
        shown(self.time.mean, self.time.low, self.time.high, "s")
    }
}

/// Share of some rows in a transfer's time, in whole per cent; all rows together have 100 %.
pub fn percent_of(table: &[Row], which: &[usize]) -> String {
    let shares: Vec<f64> = table.iter().map(|row| row.share).collect();
    part_percent(&shares, which)
}

impl Paths {
    /// The wait for the end of a link's outage.
    pub fn is_outage(&self, cause: Cause) -> bool {
        self.step(cause) == Some(Step::Outage)
    }

    /// A sentence with the largest causes: as many as make up half of a transfer's time. Empty without causes.
    pub fn main_causes(&self, exact: bool) -> String {
        let table = self.table();
        let mut whole = 0.0;
        let mut names = Vec::new();
        for row in &table {
            let outage = if self.is_outage(row.cause) { " (an outage)" } else { "" };
            names.push(format!("{}{outage}", called(row.cause)));
            whole += row.share;
            if whole >= 0.5 {
                break;
            }
        }
        if names.is_empty() {
            return String::new();
        }
        let simple = if exact { "" } else { fraction(whole) };
        let which: Vec<usize> = (0..names.len()).collect();
        let part = if simple.is_empty() { percent_of(&table, &which) } else { simple.to_owned() };
        format!("{} of that went into {}.", sentence(&part), joined(&names, "and"))
    }

    /// The largest causes always have bars of their own; so does a small cause if it would be alone in the common bar.
    pub fn bars(&self, head: &str, small: f64) -> Bars {
        let table = self.table();
        let large = table.iter().filter(|row| row.share >= small).count().max(NAMED).min(table.len());
        let named = if table.len() - large == 1 { table.len() } else { large };
        let (own, rest) = table.split_at(named);
        let mut means: Vec<f64> = own.iter().map(|row| row.time.mean).collect();
        if !rest.is_empty() {
            means.push(rest.iter().map(|row| row.time.mean).sum());
        }
        let mut values = parts(&means, "s").into_iter();
        let mut bars: Vec<Bar> = own
            .iter()
            .enumerate()
            .map(|(at, row)| Bar {
                name: called(row.cause).to_owned(),
                value: values.next().unwrap_or_default(),
                size: row.time.mean,
                paint: paint(row.cause),
                note: percent_of(&table, &[at]),
                interval: row.shown().interval(),
                ends: row.time.low.is_finite().then_some((row.time.low, row.time.high)),
                ..Bar::default()
            })
            .collect();
        bars.extend(values.map(|value| Bar {
            name: format!("{} other causes", spelled(rest.len())),
            value,
            size: means[named],
            paint: "k-many".to_owned(),
            note: percent_of(&table, &(named..table.len()).collect::<Vec<_>>()),
            ..Bar::default()
        }));
        Bars { title: "Where the time went".to_owned(), bars, head: head.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(cause: Cause, step: Option<Step>, site: Option<Site>) -> Share {
        Share { cause, step, place: String::new(), site, round: None, after_loss: false }
    }

    fn paths(shares: Vec<Share>, s: &[f64], more: More) -> Paths {
        let runs = s.len() / shares.len();
        Paths::new(shares, s.iter().map(|s| (s * NS_PER_S) as u64).collect(), runs, more)
    }

    #[test]
    fn means_and_shares_add_up_over_replications() {
        let shares = vec![share(Cause::Server, None, None), share(Cause::Rlc, None, None)];
        let found = paths(shares, &[1.0, 3.0, 2.0, 6.0], More::default());
        assert_eq!((found.times(), found.seconds(Cause::Rlc)), (vec![4.0, 8.0], vec![3.0, 6.0]));
        let table = found.table();
        assert_eq!([table[0].cause, table[1].cause], [Cause::Rlc, Cause::Server]);
        assert_eq!([table[0].share, table[1].share], [0.75, 0.25]);
        assert_eq!(found.main_causes(false), "Three quarters of that went into RLC retransmission.");
        assert_eq!(found.main_causes(true), "75 % of that went into RLC retransmission.");
    }

    #[test]
    fn a_small_cause_has_a_bar_of_its_own_if_it_is_the_only_one() {
        let causes = [Cause::Server, Cause::Rlc, Cause::Harq, Cause::Drx, Cause::Pacing];
        let shares = |many: usize| causes[..many].iter().map(|cause| share(*cause, None, None)).collect();
        let names =
            |found: &Paths| found.bars("", SMALL).bars.into_iter().map(|bar| bar.name).collect::<Vec<_>>();
        let four = paths(shares(4), &[5.0, 4.0, 3.0, 0.01], More::default());
        assert_eq!(names(&four).last().map(String::as_str), Some("DRX"));
        let five = paths(shares(5), &[5.0, 4.0, 3.0, 0.01, 0.01], More::default());
        assert_eq!(names(&five).last().map(String::as_str), Some("two other causes"));
    }

    #[test]
    fn losses_share_the_time_of_their_repairs_while_no_link_sends() {
        let shares = vec![
            share(Cause::Recovery, None, None),
            share(Cause::Transmission, Some(Step::Sends), Some(Site::Bearer)),
        ];
        let more = More { busy: vec![(String::new(), 2.0)], lost: [3, 1, 0, 0], packets: Vec::new() };
        let found = paths(shares, &[2.0, 1.0], more);
        let time = |loss: &'static [Loss]| {
            found.on_path(&[Target::Losses(loss).into()]).get(&Cause::Recovery).copied()
        };
        // The bearer sends for half of the 2 s in which the path waits for the repair.
        assert_eq!(time(&[Loss::Links]), Some(0.75));
        assert_eq!(time(&[Loss::Queues, Loss::Marks]), Some(0.25));
        assert_eq!(time(&[Loss::Radio]), None);
        assert!(found.allows(Change::LongQueues));
        let served = found.on_path(&[Aim { target: Target::Serving(&[Site::Bearer]), factor: 0.5 }]);
        assert_eq!(served.into_iter().collect::<Vec<_>>(), [(Cause::Transmission, 0.5)]);
    }
}
