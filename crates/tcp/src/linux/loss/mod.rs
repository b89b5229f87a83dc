//! What an ACK or a timeout means for the episode of a connection: how one leads to another, and back when a
//! reduction turns out to be a mistake (Linux: `tcp_fastretrans_alert` and what it calls, version 6).
//!
//! What only a loss needs is marked cold, so that it lies apart from what every ACK runs through: with more
//! than the 32 kB of an instruction cache in use, each ACK would wait for its code.

mod detection;
mod dupacks;
mod episode;
mod probe;
mod timeout;
mod undo;

use nodeb_base::units::{Duration, Time};

pub use self::episode::Episode;
pub use self::probe::Probe;
pub use self::undo::Undo;
use super::prr::Prr;
use super::sender::{Harvest, Sender};
use crate::segment::Segment;

/// What a timer of loss detection adds at least (Linux: `TCP_TIMEOUT_MIN_US`).
const LEAST_WAIT: Duration = Duration::from_millis(2);

impl Sender {
    /// Draws the consequences of an ACK: ends episodes, finds losses, begins episodes.
    pub(super) fn judge(&mut self, now: Time, ack: &Segment, harvest: &mut Harvest) {
        self.answer_probe(now, harvest);
        let marked = ack.ecn.echo && self.params.ecn;
        let usual = (harvest.advances() || harvest.opened) && !harvest.sacked && !marked;
        if usual && self.episode == Episode::Open && !self.disordered {
            return;
        }
        self.judge_unusual(now, ack, harvest, marked);
    }

    #[inline(never)]
    fn judge_unusual(&mut self, now: Time, ack: &Segment, harvest: &mut Harvest, marked: bool) {
        if marked {
            self.undo.justify();
        }
        if self.episode == Episode::Open && !self.disordered {
            self.undo.forget_repeats();
        }
        if self.end_episode(now, ack) {
            return;
        }
        match self.episode {
            Episode::Recovery { repairs: true, .. } => self.judge_recovery(now, ack, harvest, marked),
            Episode::Loss { .. } => self.judge_loss(now, ack, harvest, marked),
            Episode::Open | Episode::Recovery { .. } => self.judge_open(now, harvest, marked),
        }
    }

    /// Ends an episode whose end is acknowledged; returns true if it is held nevertheless. After a mark it lasts
    /// until something sent since is acknowledged, so that the receiver has heard of the reduction.
    fn end_episode(&mut self, now: Time, ack: &Segment) -> bool {
        let una = self.board.una();
        match self.episode {
            Episode::Recovery { until, repairs: true, .. } if until <= una => {
                self.dupacks = 0;
                self.finish(now, ack)
            }
            Episode::Recovery { until, repairs: false, .. } if until < una => {
                self.reopen(now);
                false
            }
            _ => false,
        }
    }

    /// Finishes a recovery, which may turn out to have been a mistake (`tcp_try_undo_recovery`). Returns true if
    /// it is held.
    #[cold]
    fn finish(&mut self, now: Time, ack: &Segment) -> bool {
        if self.is_mistake(ack) {
            self.take_back(false);
        } else {
            self.rack.on_recovered();
        }
        if self.is_held() {
            if !self.board.has_repeated() {
                self.undo.forget_repeats();
            }
            return true;
        }
        self.reopen(now);
        false
    }

    #[cold]
    fn judge_recovery(&mut self, now: Time, ack: &Segment, harvest: &mut Harvest, marked: bool) {
        if harvest.advances() && self.undo_partially(now, ack, harvest) {
            self.may_repair = false;
            return;
        }
        if self.undo_by_dsack() {
            self.try_to_open(now, harvest, marked);
        }
        harvest.lost += self.find_losses(now, harvest);
        if !self.episode.is_recovery() && self.board.has_losses() {
            self.recover(now, marked);
        }
    }

    #[cold]
    fn judge_loss(&mut self, now: Time, ack: &Segment, harvest: &mut Harvest, marked: bool) {
        self.judge_timeout(now, ack, harvest);
        harvest.lost += self.find_losses(now, harvest);
        // A retransmission lost after a timeout is a new loss (Linux: `FLAG_LOST_RETRANS`).
        if self.episode == Episode::Open || harvest.lost_again {
            self.judge_open(now, harvest, marked);
        }
    }

    /// Begins a recovery if anything is lost, also what was found during the one before and has been sent again
    /// (`tcp_time_to_recover`).
    fn judge_open(&mut self, now: Time, harvest: &mut Harvest, marked: bool) {
        if self.episode == Episode::Open {
            self.undo_by_dsack();
        }
        harvest.lost += self.find_losses(now, harvest);
        if self.board.has_losses() {
            self.recover(now, marked);
        } else {
            self.try_to_open(now, harvest, marked);
        }
    }

    /// Nothing is lost: a mark reduces the window all the same (`tcp_try_to_open`).
    fn try_to_open(&mut self, now: Time, harvest: &mut Harvest, marked: bool) {
        if !self.board.has_repeated() {
            self.undo.forget_repeats();
        }
        if marked && self.episode == Episode::Open {
            harvest.marked = true;
            self.undo.end();
            self.reduce(now, false);
        } else if !self.episode.is_reduced() {
            self.keep_open(now);
        }
    }

    /// Goes on as if nothing were lost, with more attention while something is missing (`tcp_try_keep_open`).
    fn keep_open(&mut self, now: Time) {
        self.disordered = self.board.sacked_segments() > 0
            || self.dupacks > 0
            || self.board.has_losses()
            || self.board.has_repeated();
        if self.episode != Episode::Open {
            self.reopen(now);
        }
    }

    fn reopen(&mut self, now: Time) {
        self.episode = Episode::Open;
        self.control.report(|control| control.on_recovered(now));
        self.usage.renew(now);
    }

    /// Begins a recovery (`tcp_enter_recovery`). What a mark has begun goes on to its own end, and is no mistake.
    #[cold]
    fn recover(&mut self, now: Time, marked: bool) {
        self.counts.fast_retransmits += 1;
        if !self.board.has_repeated() {
            self.undo.forget_repeats();
        }
        let reduced = self.episode.is_reduced();
        self.begin_undo(reduced || marked);
        if let Episode::Recovery { repairs, .. } = &mut self.episode {
            *repairs = true;
        } else {
            self.reduce(now, true);
        }
    }

    /// Begins a reduction that may turn out to be a mistake.
    fn begin_undo(&mut self, is_justified: bool) {
        let probes = self.probe.is_some_and(|probe| probe.repeats());
        let repeats = u64::from(self.board.repairs()) + u64::from(probes);
        self.undo.begin(self.board.una(), repeats, is_justified);
    }

    /// Reduces the window over a round trip, in which losses are repaired or not.
    #[cold]
    fn reduce(&mut self, now: Time, repairs: bool) {
        // PRR comes from the window, which is what was in flight unless the data or the receiver were the limit.
        let before = self.control.cwnd;
        let outstanding = self.board.next() - self.board.una();
        self.control.report(|control| control.on_congestion(now, outstanding));
        let spread = self.control.algorithm().reduces_proportionally();
        let prr = spread.then(|| Prr::new(self.mss, self.control.ssthresh, before));
        self.episode = Episode::Recovery { until: self.board.next(), prr, repairs };
        self.probe = None;
        self.tell_reduced = self.params.ecn;
    }

    /// Lets PRR take an ACK that delivers so many segments.
    #[inline(never)]
    pub(super) fn spread_reduction(&mut self, delivered: u64, safe: bool) {
        let in_flight = self.in_flight();
        if let Some(prr) = self.episode.prr_mut() {
            prr.on_ack(delivered, in_flight, safe);
        }
    }
}
