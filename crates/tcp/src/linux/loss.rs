//! Phases of a connection: open, recovery, and loss after a timeout; how one leads to another, and
//! back when a reduction turns out to be a mistake.
//!
//! What only a loss needs is marked cold, so that it lies apart from what every ACK runs through: with more
//! than the 32 kB of an instruction cache in use, each ACK would wait for its code.

use nodeb_base::units::{Duration, Time};

use super::control::{Loss, Phase};
use super::frto::Frto;
use super::prr::Prr;
use super::sender::{Harvest, Sender};
use super::timers::Pending;
use super::{clock_us, is_older};
use crate::segment::Segment;

/// What a timer of loss detection adds at least (Linux: `TCP_TIMEOUT_MIN_US`).
const LEAST_WAIT: Duration = Duration::from_millis(2);

/// Most duplicates that are waited for (Linux: `tcp_max_reordering`).
const MOST_REORDERING: u64 = 300;

/// What the sender is doing. Each phase but the first ends when `until` is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Nothing is known to be lost.
    Open,
    /// What was lost is sent again; PRR spreads the reduction, if the control wants that.
    Recovery {
        /// End of the recovery (`RecoveryPoint`).
        until: u64,
        /// The reduction.
        prr: Option<Prr>,
        /// Whether anything was lost: marks alone reduce the window too (Linux: `TCP_CA_CWR`).
        repairs: bool,
    },
    /// As a recovery, but begun by a timeout.
    Loss {
        /// End of the recovery.
        until: u64,
        /// The search for signs that the timeout was spurious.
        frto: Option<Frto>,
    },
}

impl Episode {
    /// What a control is told of it.
    pub fn phase(&self) -> Phase {
        match self {
            Self::Open => Phase::Open,
            Self::Recovery { .. } => Phase::Recovery,
            Self::Loss { .. } => Phase::Loss,
        }
    }

    /// So much is found to be lost meanwhile.
    fn note_losses(&mut self, lost: u64) {
        if let Self::Recovery { repairs, .. } = self {
            *repairs |= lost > 0;
        }
    }

    /// Whether losses are being repaired.
    pub fn repairs(&self) -> bool {
        match self {
            Self::Open => false,
            Self::Recovery { repairs, .. } => *repairs,
            Self::Loss { .. } => true,
        }
    }

    /// The reduction under way.
    pub fn prr(&self) -> Option<&Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_ref() } else { None }
    }

    /// The reduction under way.
    pub fn prr_mut(&mut self) -> Option<&mut Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_mut() } else { None }
    }

    /// Its end.
    pub fn until(&self) -> Option<u64> {
        match self {
            Self::Open => None,
            Self::Recovery { until, .. } | Self::Loss { until, .. } => Some(*until),
        }
    }
}

/// What it takes to know that the last reduction was a mistake.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    /// When the first retransmission was sent.
    first: Option<Time>,
    /// Retransmissions not reported to be duplicates.
    retransmissions: u32,
}

impl Undo {
    /// A segment is sent again.
    pub fn note_retransmission(&mut self, now: Time) {
        self.first.get_or_insert(now);
        self.retransmissions += 1;
    }
}

/// A tail loss probe that has not been answered (RFC 8985, 7.4).
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Next byte when it was sent (`TLP.end_seq`).
    end: u64,
    /// Whether it repeats a segment.
    again: bool,
}

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
        let of_probe = self.probe.is_some_and(|probe| probe.again && harvest.dsack == Some(probe.end));
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

    /// Without SACK a duplicate ACK stands for a segment delivered somewhere beyond the gap, which a
    /// later ACK must not count again (RFC 6937, 3).
    #[cold]
    fn estimate_deliveries(&mut self, harvest: &mut Harvest) {
        // After a timeout a duplicate counts only if it answers new data (`tcp_process_loss`), and none counts
        // while an episode is held (`tcp_fastretrans_alert` returns before `tcp_add_reno_sack`).
        let is_loss = self.episode.phase() == Phase::Loss;
        let has_sent_new = self.episode.until().is_none_or(|until| self.board.next() > until);
        if harvest.duplicate && (self.is_held() || (is_loss && !has_sent_new)) {
            return;
        }
        if harvest.duplicate {
            self.dupacks += 1;
            if !self.limit_duplicates(0) {
                (harvest.segments, harvest.delivered) = (1, self.mss);
            }
        } else if harvest.acked > 0 {
            let (segments, known) = (harvest.acked_segments, u64::from(self.dupacks));
            let unknown = segments.saturating_sub(known).max(1);
            harvest.delivered = harvest.acked * unknown / segments.max(1);
            harvest.segments = unknown;
            self.dupacks = known.saturating_sub(segments.saturating_sub(1)) as u32;
            self.limit_duplicates(segments);
            if self.episode.phase() != Phase::Recovery {
                self.dupacks = 0;
            }
            // Which of the segments had arrived before, nobody knows.
            harvest.original &= !harvest.repeated;
        }
    }

    /// There cannot be more duplicates than segments outstanding beyond the gap. If there seem to be, the
    /// network must have changed their order by as much, and so many are waited for from now on (Linux:
    /// `tcp_check_reno_reordering`). Returns whether there were.
    #[cold]
    fn limit_duplicates(&mut self, acked: u64) -> bool {
        let outstanding = self.board.outstanding_segments();
        let holes = self.board.lost_segments().max(1).min(outstanding);
        let most = outstanding - holes;
        let too_many = u64::from(self.dupacks) > most;
        if too_many {
            self.dupacks = most as u32;
            self.patience = (outstanding + acked).min(MOST_REORDERING) as u32;
        }
        too_many
    }

    fn is_mistake(&mut self, ack: &Segment, dsack: bool, advanced: bool) -> bool {
        let Some(undo) = self.undo.as_mut().filter(|_| self.params.undo) else {
            return false;
        };
        if dsack {
            undo.retransmissions = undo.retransmissions.saturating_sub(1);
            return undo.retransmissions == 0 && undo.first.is_some();
        }
        // Eifel detection (RFC 3522): the ACK was caused by something sent before.
        let stamped = self.params.timestamps && ack.echo_us != 0 && advanced;
        stamped
            && self.episode != Episode::Open
            && undo.first.is_some_and(|first| is_older(ack.echo_us, clock_us(first)))
    }

    /// Eifel response (RFC 4015): window and threshold are as if nothing had happened. The episode may end with it.
    #[cold]
    fn take_back(&mut self, now: Time, reopen: bool) {
        self.undo = None;
        self.control.report(|control| control.undo());
        self.board.unmark_lost();
        self.rack.reexamine();
        self.timeouts = 0;
        if reopen && self.episode != Episode::Open {
            self.episode = Episode::Open;
            self.control.report(|control| control.on_recovered(now));
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

    /// Without SACK an episode is held until something beyond its end is acknowledged, so that duplicates of what
    /// was sent in it do not begin another (RFC 6582, 6; Linux: `tcp_is_non_sack_preventing_reopen`). What is
    /// lost meanwhile is left to the timeout.
    fn is_held(&self) -> bool {
        !self.params.sack && self.episode.until() == Some(self.board.una())
    }

    /// Marks what is lost by now; returns the bytes.
    fn find_losses(&mut self, now: Time, harvest: &mut Harvest) -> u64 {
        let before = self.board.repeats_lost();
        let lost = if self.params.rack {
            if !self.rack.take_advance() {
                return 0;
            }
            let (lost, waits) = self.find_losses_by_time(now);
            harvest.rearm &= !waits;
            lost
        } else if self.params.sack {
            self.board.mark_by_count()
        } else {
            self.find_loss_by_dupacks(harvest)
        };
        if lost > 0 {
            harvest.lost_again = self.board.repeats_lost() > before;
            self.report_losses(now);
        }
        lost
    }

    /// Returns the bytes, and whether RACK waits for more (Linux: `tcp_rack_mark_lost`).
    fn find_losses_by_time(&mut self, now: Time) -> (u64, bool) {
        let path = self.conditions();
        let (lost, again) = self.rack.detect(now, path, &mut self.board);
        if let Some(at) = again {
            let wait = (at + LEAST_WAIT).since(now).min(self.rtt.rto());
            self.timers.set(now, wait, Pending::Reorder);
        }
        (lost, again.is_some())
    }

    /// Tells the control what has been given up, segment by segment.
    #[cold]
    fn report_losses(&mut self, now: Time) {
        let Self { board, sampler, control, .. } = self;
        for segment in board.drain_given_up() {
            let (range, snapshot) = (segment.range(), segment.snapshot);
            let lost = sampler.note_lost(segment.bytes(), snapshot);
            let delivered = sampler.delivered();
            control.report(|control| control.on_loss(&Loss { now, range, snapshot, lost, delivered }));
        }
    }

    /// NewReno (RFC 6582): the third duplicate ACK tells that the first segment is lost, a partial
    /// ACK that the next one is.
    #[cold]
    fn find_loss_by_dupacks(&mut self, harvest: &Harvest) -> u64 {
        let Some(head) = self.board.head().filter(|_| !self.is_held()) else {
            return 0;
        };
        let lost = match self.episode {
            Episode::Open => self.dupacks >= self.patience,
            Episode::Recovery { .. } => harvest.acked > 0,
            Episode::Loss { .. } => false,
        };
        if lost { self.board.mark_lost(head) } else { 0 }
    }

    /// Begins a recovery.
    #[cold]
    fn recover(&mut self, now: Time) {
        self.counts.fast_retransmits += 1;
        self.undo = Some(Undo { first: None, retransmissions: self.board.repeated_in_flight() });
        self.reduce(now, true);
    }

    /// Reduces the window over a round trip, in which losses are repaired or not.
    #[cold]
    fn reduce(&mut self, now: Time, repairs: bool) {
        // PRR comes from the window, which is what was in flight unless the data or the receiver were the limit.
        let before = self.control.cwnd;
        let outstanding = self.board.next() - self.board.una();
        self.control.report(|control| control.on_congestion(now, outstanding));
        let spread = self.control.policy().reduces_proportionally();
        let prr = spread.then(|| Prr::new(self.mss, self.control.ssthresh, before));
        self.episode = Episode::Recovery { until: self.board.next(), prr, repairs };
        self.probe = None;
        self.tell_reduced = self.params.ecn;
    }

    #[cold]
    pub(super) fn on_reorder_timer(&mut self, now: Time) {
        let (lost, waits) = self.find_losses_by_time(now);
        self.episode.note_losses(lost);
        self.report_losses(now);
        if lost > 0 && self.episode.phase() != Phase::Recovery {
            self.recover(now);
            self.spread_reduction(1, false);
        }
        if !waits {
            self.rearm_timeout(now);
        }
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
            self.undo = Some(Undo { first: None, retransmissions: self.board.repeated_in_flight() });
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

    /// Arms the tail loss probe (RFC 8985, 7.2) in the place of the timeout; returns whether there is one to
    /// wait for. An ACK that has come `afresh` puts the timeout off, which is the latest time for a probe
    /// (Linux: `tcp_schedule_loss_probe`).
    #[inline(never)]
    pub(super) fn arm_probe(&mut self, now: Time, afresh: bool) -> bool {
        let quiet = self.episode == Episode::Open && self.board.sacked_segments() == 0;
        if !self.params.tail_loss_probe || !quiet || self.board.head().is_none() {
            return false;
        }
        let Some(srtt) = self.rtt.srtt() else {
            return false;
        };
        let single = self.board.head() == self.board.tail();
        // A single segment may meet a delayed ACK (`TLP.max_ack_delay`).
        let wait = Duration(2 * srtt.0 + if single { self.params.min_rto.0 } else { LEAST_WAIT.0 });
        let timeout = if afresh { self.rtt.rto() } else { self.timeout_left(now) };
        self.timers.set(now, wait.min(timeout), Pending::Probe);
        true
    }

    /// Sends the probe (7.3): new data if there are any and the receiver allows, else the tail. Only one is
    /// sent before an answer.
    #[cold]
    pub(super) fn on_probe_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(tail) = self.board.tail() else {
            return;
        };
        if self.probe.is_none() {
            let next = self.board.end();
            let again = !self.has_new();
            self.send(now, if again { tail } else { next }, again, out);
            self.probe = Some(Probe { end: self.board.next(), again });
            // The timeout begins afresh.
            self.timers.loss = None;
        }
        self.rearm_timeout(now);
    }

    /// Judges what became of the probe (7.4.2): if the segment that it repeated had been lost, that
    /// was congestion all the same.
    fn answer_probe(&mut self, now: Time, harvest: &Harvest) {
        let Some(probe) = self.probe.filter(|probe| self.board.una() >= probe.end) else {
            return;
        };
        let una = self.board.una();
        let of_probe = harvest.dsack == Some(probe.end);
        let pure_duplicate = harvest.duplicate && !harvest.sacked;
        if !probe.again || of_probe {
            self.probe = None;
        } else if una > probe.end {
            self.probe = None;
            // The window falls at once: what was lost has been sent (`tcp_process_tlp_ack`).
            if self.episode == Episode::Open {
                let outstanding = self.board.next() - una;
                self.control.report(|control| control.on_congestion(now, outstanding));
                self.control.report(|control| control.on_recovered(now));
                self.tell_reduced = self.params.ecn;
            }
        } else if pure_duplicate {
            self.probe = None;
        }
    }
}
