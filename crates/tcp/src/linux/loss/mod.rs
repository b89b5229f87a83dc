//! Linux 6: `tcp_fastretrans_alert` and its callees. Functions that only losses need are marked cold, so that
//! the code of every ACK fits into an instruction cache of 32 kB.

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
use super::sender::{AckResult, Sender};
use crate::segment::Segment;

/// `TCP_TIMEOUT_MIN_US`: added to RACK's timer and, with several segments outstanding, the tail loss probe's.
const MIN_WAIT: Duration = Duration::from_millis(2);

impl Sender {
    pub(super) fn update_episode(&mut self, now: Time, ack: &Segment, result: &mut AckResult) {
        let marked = ack.ecn.echo && self.params.ecn;
        // A D-SACK requires further checks, like a SACK or an ECN mark (`FLAG_CA_ALERT`).
        let alert = result.sacked || result.dsack.is_some() || marked;
        let usual = (result.advances() || result.updates_window) && !alert;
        if usual && self.episode == Episode::Open && !self.disordered {
            return;
        }
        self.update_unusual_episode(now, ack, result, marked);
    }

    #[inline(never)]
    fn update_unusual_episode(&mut self, now: Time, ack: &Segment, result: &mut AckResult, marked: bool) {
        if marked {
            self.undo.justify();
        }
        if self.episode == Episode::Open && !self.disordered {
            self.undo.forget_retransmission_time();
        }
        if self.end_episode(now, ack) {
            return;
        }
        match self.episode {
            Episode::Recovery { repairs: true, .. } => self.process_in_recovery(now, ack, result, marked),
            Episode::Loss { .. } => self.process_in_loss(now, ack, result, marked),
            Episode::Open | Episode::Recovery { .. } => self.process_in_open(now, result, marked),
        }
    }

    /// True if the end is delayed; a reduction by an ECN mark lasts until later data is acknowledged, so that
    /// the receiver has seen CWR.
    fn end_episode(&mut self, now: Time, ack: &Segment) -> bool {
        let una = self.scoreboard.una();
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

    /// `tcp_try_undo_recovery`; true if the end is delayed.
    #[cold]
    fn finish(&mut self, now: Time, ack: &Segment) -> bool {
        if self.is_spurious_reduction(ack) {
            self.undo_reduction(now, false);
        } else {
            self.rack.on_recovered();
        }
        if self.is_end_delayed() {
            if !self.scoreboard.has_retransmitted() {
                self.undo.forget_retransmission_time();
            }
            return true;
        }
        self.reopen(now);
        false
    }

    #[cold]
    fn process_in_recovery(&mut self, now: Time, ack: &Segment, result: &mut AckResult, marked: bool) {
        if result.advances() && self.undo_partially(now, ack, result) {
            self.may_repair = false;
            return;
        }
        if self.undo_by_dsack(now) {
            self.try_to_open(now, result, marked);
        }
        result.lost += self.find_losses(now, result);
        if !self.episode.is_recovery() && self.scoreboard.has_losses() {
            self.recover(now, marked);
        }
    }

    #[cold]
    fn process_in_loss(&mut self, now: Time, ack: &Segment, result: &mut AckResult, marked: bool) {
        self.evaluate_timeout(now, ack, result);
        result.lost += self.find_losses(now, result);
        // A retransmission that was lost after a timeout counts as a new loss (Linux:
        // `FLAG_LOST_RETRANS`).
        if self.episode == Episode::Open || result.lost_again {
            self.process_in_open(now, result, marked);
        }
    }

    /// Also an ACK that reveals a lost retransmission after a timeout; segments marked in the previous
    /// recovery count, too (`tcp_time_to_recover`).
    fn process_in_open(&mut self, now: Time, result: &mut AckResult, marked: bool) {
        if self.episode == Episode::Open {
            self.undo_by_dsack(now);
        }
        result.lost += self.find_losses(now, result);
        if self.scoreboard.has_losses() {
            self.recover(now, marked);
        } else {
            self.try_to_open(now, result, marked);
        }
    }

    /// `tcp_try_to_open`, without new losses.
    fn try_to_open(&mut self, now: Time, result: &mut AckResult, marked: bool) {
        if !self.scoreboard.has_retransmitted() {
            self.undo.forget_retransmission_time();
        }
        if marked && self.episode == Episode::Open {
            result.marked = true;
            self.undo.end();
            self.reduce(now, false);
        } else if !self.episode.is_reduced() {
            self.keep_open(now);
        }
    }

    /// `tcp_try_keep_open`: disordered if segments are missing or retransmitted.
    fn keep_open(&mut self, now: Time) {
        self.disordered = self.scoreboard.sacked_segments() > 0
            || self.dupacks > 0
            || self.scoreboard.has_losses()
            || self.scoreboard.has_retransmitted();
        if self.episode != Episode::Open {
            self.reopen(now);
        }
    }

    fn reopen(&mut self, now: Time) {
        self.episode = Episode::Open;
        self.control.report(|control| control.on_recovered(now));
        self.usage.renew(now);
    }

    /// `tcp_enter_recovery`; a reduction by an ECN mark continues and cannot be undone.
    #[cold]
    fn recover(&mut self, now: Time, marked: bool) {
        self.counts.fast_retransmits += 1;
        if !self.scoreboard.has_retransmitted() {
            self.undo.forget_retransmission_time();
        }
        let reduced = self.episode.is_reduced();
        self.begin_undo(reduced || marked);
        if let Episode::Recovery { repairs, .. } = &mut self.episode {
            *repairs = true;
        } else {
            self.reduce(now, true);
        }
    }

    /// `is_justified` by an ECN mark.
    fn begin_undo(&mut self, is_justified: bool) {
        let probes = self.probe.is_some_and(|probe| probe.is_retransmission());
        let is_retransmission = u64::from(self.scoreboard.repairs()) + u64::from(probes);
        self.undo.begin(self.scoreboard.una(), is_retransmission, is_justified);
    }

    /// Over a round trip with PRR; not `repairs` after an ECN mark.
    #[cold]
    fn reduce(&mut self, now: Time, repairs: bool) {
        // PRR starts from the congestion window, although less data may be in flight because of the
        // application or the receiver's window.
        let before = self.control.cwnd;
        let outstanding = self.scoreboard.next() - self.scoreboard.una();
        self.control.report(|control| control.on_congestion(now, outstanding));
        let spread = self.control.algorithm().reduces_proportionally();
        let prr = spread.then(|| Prr::new(self.mss, self.control.ssthresh, before));
        self.episode = Episode::Recovery { until: self.scoreboard.next(), prr, repairs };
        self.probe = None;
        self.send_cwr = self.params.ecn;
    }

    /// `SafeACK` of RFC 9937: new data, no new loss.
    #[inline(never)]
    pub(super) fn spread_reduction(&mut self, delivered: u64, safe: bool) {
        let in_flight = self.in_flight();
        if let Some(prr) = self.episode.prr_mut() {
            prr.on_ack(delivered, in_flight, safe);
        }
    }
}
