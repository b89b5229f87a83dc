//! Phases of a connection: open, recovery, and loss after a timeout; how one leads to another, and
//! back when a reduction turns out to be a mistake.

use super::control::{Loss, Phase};
use super::frto::Frto;
use super::prr::Prr;
use super::sender::{Harvest, Sender};
use super::{DUP_THRESH, clock_us, is_older};
use crate::segment::Segment;
use crate::units::{Duration, Time};

/// What a delayed ACK may add to the round trip of a single segment (RFC 8985, 7.2: `WCDelAckT`).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

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

    /// The reduction under way.
    pub fn prr(&self) -> Option<&Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_ref() } else { None }
    }

    /// The reduction under way.
    pub fn prr_mut(&mut self) -> Option<&mut Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_mut() } else { None }
    }

    /// The search for signs that the timeout was spurious.
    pub fn frto_mut(&mut self) -> Option<&mut Frto> {
        if let Self::Loss { frto, .. } = self { frto.as_mut() } else { None }
    }

    fn until(&self) -> Option<u64> {
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
        }
        let advanced = harvest.acked > 0;
        if harvest.dsack {
            self.rack.on_dsack(self.board.una(), self.board.next());
        }
        if self.is_mistake(ack, harvest.dsack, advanced) || self.is_spurious_timeout(harvest) {
            self.take_back(now);
        }
        self.end_episode(now);
        self.answer_probe(now, harvest);
        harvest.lost += self.find_losses(now, harvest);
        if harvest.lost > 0 && self.episode == Episode::Open {
            self.recover(now);
        }
        if ack.ecn.echo && self.params.ecn && self.episode == Episode::Open {
            harvest.marked = true;
            self.reduce(now);
        }
        let (delivered, safe) = (harvest.delivered, advanced && harvest.lost == 0);
        let in_flight = self.in_flight();
        if let Some(prr) = self.episode.prr_mut() {
            prr.on_ack(delivered, in_flight, safe);
        }
    }

    /// Without SACK a duplicate ACK stands for a segment delivered somewhere beyond the gap, which a
    /// later ACK must not count again (RFC 6937, 3).
    fn estimate_deliveries(&mut self, harvest: &mut Harvest) {
        if harvest.duplicate {
            self.dupacks += 1;
            harvest.delivered = self.mss;
        } else if harvest.acked > 0 {
            let known = match self.episode {
                Episode::Open => self.dupacks,
                _ => self.dupacks.min((harvest.acked / self.mss).saturating_sub(1) as u32),
            };
            self.dupacks -= known;
            harvest.delivered = harvest.acked.saturating_sub(u64::from(known) * self.mss);
        }
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

    /// Eifel response (RFC 4015): window and threshold are as if nothing had happened.
    fn take_back(&mut self, now: Time) {
        self.undo = None;
        self.control.undo();
        self.board.unmark_lost();
        if self.episode != Episode::Open {
            self.episode = Episode::Open;
            self.control.on_recovered(now);
        }
    }

    fn end_episode(&mut self, now: Time) {
        if self.episode.until().is_some_and(|until| self.board.una() >= until) {
            self.episode = Episode::Open;
            self.rack.on_recovered();
            self.control.on_recovered(now);
        }
    }

    /// Marks what is lost by now; returns the bytes.
    fn find_losses(&mut self, now: Time, harvest: &Harvest) -> u64 {
        let lost = if self.params.rack {
            self.find_losses_by_time(now)
        } else if self.params.sack {
            self.board.mark_by_count()
        } else {
            self.find_loss_by_dupacks(harvest)
        };
        self.report_losses(now);
        lost
    }

    fn find_losses_by_time(&mut self, now: Time) -> u64 {
        let path = self.conditions();
        let (lost, again) = self.rack.detect(now, path, &mut self.board);
        self.timers.reorder = again;
        lost
    }

    /// Tells the control what has been given up, segment by segment.
    fn report_losses(&mut self, now: Time) {
        let Self { board, sampler, control, .. } = self;
        for segment in board.drain_given_up() {
            let (range, snapshot) = (segment.range(), segment.snapshot);
            let lost = sampler.note_lost(segment.bytes(), snapshot);
            let delivered = sampler.delivered();
            control.on_loss(&Loss { now, range, snapshot, lost, delivered });
        }
    }

    /// NewReno (RFC 6582): the third duplicate ACK tells that the first segment is lost, a partial
    /// ACK that the next one is.
    fn find_loss_by_dupacks(&mut self, harvest: &Harvest) -> u64 {
        let Some(head) = self.board.head() else {
            return 0;
        };
        let lost = match self.episode {
            Episode::Open => self.dupacks == DUP_THRESH && harvest.duplicate,
            _ => harvest.acked > 0 && self.board.get(head).is_some_and(|segment| !segment.retransmitted),
        };
        if lost { self.board.mark_lost(head) } else { 0 }
    }

    /// Begins a recovery.
    fn recover(&mut self, now: Time) {
        self.counts.fast_retransmits += 1;
        self.undo = Some(Undo::default());
        self.reduce(now);
    }

    /// Reduces the window over a round trip.
    fn reduce(&mut self, now: Time) {
        // PRR's RecoverFS is what was in flight before the loss (RFC 6937, 3).
        let flight = self.board.next() - self.board.una();
        self.control.on_congestion(now, flight);
        let spread = self.control.reduces_proportionally();
        let prr = spread.then(|| Prr::new(self.mss, self.control.ssthresh(), flight));
        self.episode = Episode::Recovery { until: self.board.next(), prr };
        self.timers.probe = None;
        self.tell_reduced = self.params.ecn;
    }

    pub(super) fn on_reorder_timer(&mut self, now: Time) {
        let lost = self.find_losses_by_time(now);
        self.report_losses(now);
        if lost > 0 && self.episode == Episode::Open {
            self.recover(now);
        }
    }

    /// The retransmission timer has expired (RFC 6298, 5.4 to 5.6).
    pub(super) fn on_timeout(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(head) = self.board.head() else {
            return;
        };
        self.counts.timeouts += 1;
        self.rtt.back_off();
        let repeated = matches!(self.episode, Episode::Loss { .. })
            && self.board.get(head).is_some_and(|segment| segment.retransmitted);
        if self.params.rack {
            let path = self.conditions();
            self.rack.detect_on_timeout(now, path, &mut self.board);
        } else {
            self.board.mark_in_order(|_, _| Some(true));
        }
        self.report_losses(now);
        self.dupacks = 0;
        self.probe = None;
        self.timers.probe = None;
        self.timers.reorder = None;
        if !repeated {
            self.undo = Some(Undo::default());
        }
        self.control.on_timeout(now, self.board.pipe(), repeated);
        self.episode = Episode::Loss { until: self.board.next(), frto: self.begin_frto() };
        self.tell_reduced = self.params.ecn;
        self.send(now, head, true, out);
    }

    /// Arms the tail loss probe (RFC 8985, 7.2).
    pub(super) fn arm_probe(&mut self, now: Time) {
        self.timers.probe = None;
        let quiet = self.episode == Episode::Open && self.board.sacked_segments() == 0;
        let (Some(srtt), Some(rto)) = (self.rtt.srtt(), self.timers.rto) else {
            return;
        };
        if !self.params.tail_loss_probe || !quiet || self.probe.is_some() || self.board.head().is_none() {
            return;
        }
        let single = self.board.head() == self.board.tail();
        let wait = Duration(2 * srtt.0 + if single { MAX_ACK_DELAY.0 } else { 0 });
        self.timers.probe = Some((now + wait).min(rto));
    }

    /// Sends the probe (7.3): new data if there are any and the receiver allows, else the tail.
    pub(super) fn on_probe_timer(&mut self, now: Time, out: &mut Vec<Segment>) {
        let Some(tail) = self.board.tail() else {
            return;
        };
        let next = self.board.end();
        let again = self.board.is_exhausted() || !self.receiver_allows(next);
        self.send(now, if again { tail } else { next }, again, out);
        self.probe = Some(Probe { end: self.board.next(), again });
        self.timers.probe = None;
        self.timers.rto = Some(now + self.rtt.rto());
    }

    /// Judges what became of the probe (7.4.2): if the segment that it repeated had been lost, that
    /// was congestion all the same.
    fn answer_probe(&mut self, now: Time, harvest: &Harvest) {
        let Some(probe) = self.probe.filter(|probe| self.board.una() >= probe.end) else {
            return;
        };
        let repaired = probe.again && !harvest.dsack && self.board.una() > probe.end;
        let unneeded = !probe.again || harvest.dsack || harvest.duplicate;
        if repaired && self.episode == Episode::Open {
            self.reduce(now);
        }
        if repaired || unneeded {
            self.probe = None;
        }
    }
}
