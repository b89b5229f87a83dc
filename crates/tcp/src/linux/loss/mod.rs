//! What an ACK or a timeout means for the episode of a connection: how one leads to another, and back when a
//! reduction turns out to be a mistake.
//!
//! What only a loss needs is marked cold, so that it lies apart from what every ACK runs through: with more
//! than the 32 kB of an instruction cache in use, each ACK would wait for its code.

mod detection;
mod dupacks;
mod episode;
mod probe;
mod undo;

use nodeb_base::units::{Duration, Time};

pub use self::episode::Episode;
pub use self::probe::Probe;
pub use self::undo::Undo;
use super::control::Phase;
use super::prr::Prr;
use super::sender::{Harvest, Sender};
use super::timers::Pending;
use crate::segment::Segment;

/// What a timer of loss detection adds at least (Linux: `TCP_TIMEOUT_MIN_US`).
const LEAST_WAIT: Duration = Duration::from_millis(2);

impl Sender {
    /// Draws the consequences of an ACK: ends phases, finds losses, begins phases.
    pub(super) fn judge(&mut self, now: Time, ack: &Segment, harvest: &mut Harvest) {
        if !self.params.sack {
            self.estimate_deliveries(harvest);
            if harvest.delivered > 0 {
                self.sampler.count(now, harvest.delivered);
            }
        }
        let advanced = harvest.acked > 0;
        let of_probe = self.probe.is_some_and(|probe| probe.is_duplicate(harvest));
        if harvest.dsack.is_some() && !of_probe {
            self.rack.on_dsack(self.board.una(), self.board.next());
        }
        if self.is_mistake(ack, harvest.dsack.is_some(), advanced) {
            // Without SACK duplicates of a timeout's repetitions may still come (Linux: `tcp_try_undo_loss`).
            self.take_back(now, self.params.sack || self.episode.phase() != Phase::Loss);
        } else if self.is_spurious_timeout(harvest) {
            self.take_back(now, true);
        }
        self.end_episode(now, advanced);
        self.answer_probe(now, harvest);
        harvest.lost += self.find_losses(now, harvest);
        self.episode.note_losses(harvest.lost);
        // A retransmission lost after a timeout is a new loss (Linux: `FLAG_LOST_RETRANS`).
        let may_recover = match self.episode {
            Episode::Open => true,
            Episode::Loss { .. } => harvest.lost_again,
            Episode::Recovery { .. } => false,
        };
        if may_recover && harvest.lost > 0 {
            self.recover(now);
        }
        if ack.ecn.echo && self.params.ecn && self.episode == Episode::Open {
            harvest.marked = true;
            self.reduce(now, false);
        }
        if self.episode.prr().is_some() {
            self.spread_reduction(harvest.segments, advanced && harvest.lost == 0);
        }
    }

    /// Lets PRR take an ACK that delivers so many segments.
    #[inline(never)]
    fn spread_reduction(&mut self, delivered: u64, safe: bool) {
        let in_flight = self.in_flight();
        if let Some(prr) = self.episode.prr_mut() {
            prr.on_ack(delivered, in_flight, safe);
        }
    }

    fn end_episode(&mut self, now: Time, advanced: bool) {
        if self.is_held() {
            if advanced {
                self.dupacks = 0;
            }
        } else if self.episode.until().is_some_and(|until| self.board.una() >= until) {
            self.episode = Episode::Open;
            self.rack.on_recovered();
            self.control.report(|control| control.on_recovered(now));
        }
    }

    /// Begins a recovery.
    #[cold]
    fn recover(&mut self, now: Time) {
        self.counts.fast_retransmits += 1;
        self.undo = Some(Undo::begin(self.board.repeated_in_flight()));
        self.reduce(now, true);
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

    /// The retransmission timer has expired (RFC 6298, 5.4 to 5.6).
    #[cold]
    pub(super) fn on_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(head) = self.board.head() else {
            return;
        };
        self.counts.timeouts += 1;
        self.rtt.back_off();
        let repeated = self.is_reduced_already();
        if self.params.rack {
            self.rack.detect_on_timeout(now, &mut self.board);
        } else {
            self.board.mark_in_order(|_, _| Some(true));
        }
        self.report_losses(now);
        self.dupacks = 0;
        self.probe = None;
        self.timers.loss = None;
        if !repeated {
            self.undo = Some(Undo::begin(self.board.repeated_in_flight()));
        }
        let in_flight = self.board.pipe();
        self.control.report(|control| control.on_timeout(now, in_flight, repeated));
        self.episode = Episode::Loss { until: self.board.next(), frto: self.begin_frto() };
        self.tell_reduced = self.params.ecn;
        self.timeouts += 1;
        self.send(now, head, true, out);
        self.timers.set(now, self.rtt.rto(), Pending::Timeout);
    }

    /// Whether the window has been reduced for what is outstanding: in a recovery, or by a timeout after which
    /// nothing was acknowledged (Linux: `tcp_enter_loss`).
    fn is_reduced_already(&self) -> bool {
        let una = self.board.una();
        match self.episode {
            Episode::Open => false,
            Episode::Recovery { until, .. } => until > una,
            Episode::Loss { until, .. } => until > una && self.timeouts > 0,
        }
    }
}
