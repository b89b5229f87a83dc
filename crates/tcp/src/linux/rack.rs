//! RFC 8985, section 6.

use nodeb_base::units::{Duration, Time};

use super::reordering::Reordering;
use super::scoreboard::{Scoreboard, SentSegment};

/// Recoveries (6.2, step 4).
const PERSIST: u32 = 16;

#[derive(Clone, Debug)]
pub struct Rack {
    /// `RACK.xmit_ts`, `RACK.end_seq`, of accepted deliveries.
    newest: Option<(Time, u64)>,
    /// Of the last accepted delivery (see [`Self::on_delivered`]); 0 before.
    rtt: Duration,
    /// `rack.advanced`: losses must be detected again.
    advanced: bool,
    /// `RACK.reo_wnd_mult`: quarters of the smallest round-trip time.
    quarters: u32,
    persist: u32,
    /// Since the window was last adapted.
    dsack_seen: bool,
    /// Latest transmission of segments delivered while `dsack_seen`.
    newest_since_dsack: Option<Time>,
    /// By a D-SACK.
    widened: Option<Time>,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            advanced: false,
            quarters: 1,
            persist: 0,
            dsack_seen: false,
            newest_since_dsack: None,
            widened: None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    /// 0 if unknown.
    pub min_rtt: Duration,
    /// Upper bound of the reordering window; 0 if unknown.
    pub srtt: Duration,
    /// After a timeout or not.
    pub recovering: bool,
    pub reordering: Reordering,
}

impl Rack {
    /// Steps 2 and 3; `echoed` is false if the ACK answers an earlier transmission. A retransmission is not
    /// accepted then or below `min_rtt`. As in `tcp_rack_advance`, every accepted delivery sets the
    /// round-trip time.
    pub fn on_delivered(
        &mut self,
        now: Time,
        segment: &SentSegment,
        min_rtt: Option<Duration>,
        echoed: bool,
    ) {
        if self.dsack_seen {
            self.newest_since_dsack = self.newest_since_dsack.max(Some(segment.sent));
        }
        let end = segment.end();
        let rtt = now.since(segment.sent);
        // The timestamp or the early arrival of the ACK shows that the ACK answers an earlier
        // transmission than the last one. So the ACK gives no valid round-trip time and is not
        // used.
        if segment.retransmitted && (!echoed || min_rtt.is_some_and(|min| rtt < min)) {
            return;
        }
        (self.rtt, self.advanced) = (rtt, true);
        if self.newest.is_none_or(|newest| (segment.sent, end) > newest) {
            self.newest = Some((segment.sent, end));
        }
    }

    /// Segments marked lost were late.
    pub fn reexamine(&mut self) {
        self.advanced = true;
    }

    pub fn take_advance(&mut self) -> bool {
        std::mem::take(&mut self.advanced)
    }

    /// Step 4.
    pub fn record_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// `tcp_rack_update_reo_wnd`, here by times: at most once per round trip, for a delivery of a segment
    /// sent since the last widening.
    pub fn adapt(&mut self, now: Time) {
        let Some(sent) = self.newest_since_dsack.take() else {
            return;
        };
        self.dsack_seen = false;
        if self.widened.is_none_or(|widened| sent >= widened) {
            self.widened = Some(now);
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// `tcp_try_undo_dsack`: a widened window lasts for one more recovery.
    pub fn on_undone(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// After [`PERSIST`] recoveries without another widening, back to a quarter.
    pub fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// Step 4.
    fn window(&self, path: Conditions, sacked_segments: u32) -> Duration {
        let keeps_order = !path.reordering.is_seen();
        if keeps_order && (path.recovering || sacked_segments >= path.reordering.degree()) {
            return Duration::ZERO;
        }
        Duration((path.min_rtt.0 / 4 * u64::from(self.quarters)).min(path.srtt.0))
    }

    /// Step 5; bytes marked, and when losses must be detected again.
    pub fn detect(&self, now: Time, path: Conditions, scoreboard: &mut Scoreboard) -> (u64, Option<Time>) {
        // In most cases all outstanding segments were sent after the newest delivered segment, so
        // there is nothing to check.
        let Some(newest) =
            self.newest.filter(|newest| scoreboard.oldest_sent().is_some_and(|sent| sent <= newest.0))
        else {
            return (0, None);
        };
        let allowance = Duration(self.rtt.0 + self.window(path, scoreboard.sacked_segments()).0);
        let mut again: Option<Time> = None;
        let lost = scoreboard.mark_in_order(|segment| {
            if segment.sent > newest.0 {
                return None;
            }
            if (segment.sent, segment.end()) >= newest {
                return Some(false);
            }
            let deadline = segment.sent + allowance;
            if deadline > now {
                again = again.max(Some(deadline));
            }
            Some(deadline <= now)
        });
        (lost, again)
    }

    /// 6.3; Linux: `tcp_timeout_mark_lost`: the first outstanding segment, and all sent a round-trip time
    /// ago; bytes marked.
    pub fn detect_on_timeout(&self, now: Time, scoreboard: &mut Scoreboard) -> u64 {
        let head = scoreboard.head();
        scoreboard.mark_where(|number, segment| Some(number) == head || segment.sent + self.rtt <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rate::Snapshot;
    use super::*;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000);

    /// Ten segments of 100 B, 1 ms apart.
    fn scoreboard() -> Scoreboard {
        let mut scoreboard = Scoreboard::new(100);
        scoreboard.write(10_000);
        for number in 0..10 {
            scoreboard.send_next(MS(number), Snapshot::default());
        }
        scoreboard
    }

    fn path(recovering: bool) -> Conditions {
        let ms = Duration::from_millis(100);
        Conditions { min_rtt: ms, srtt: ms, recovering, reordering: Reordering::default() }
    }

    fn reordering() -> Conditions {
        let mut path = path(true);
        path.reordering.record_late(0, 100, 100);
        path
    }

    /// In ns.
    fn on_dsack(rack: &mut Rack, sent: u64, now: u64) {
        rack.record_dsack();
        rack.newest_since_dsack = Some(Time(sent));
        rack.adapt(Time(now));
    }

    /// 100 ms after the segment was sent.
    fn sack(rack: &mut Rack, scoreboard: &mut Scoreboard, number: u64) -> Time {
        let now = MS(100 + number);
        scoreboard.sack([(100 * number, 100 * number + 100)].into_iter(), |delivered| {
            rack.on_delivered(now, delivered, Some(Duration::from_millis(100)), true);
        });
        now
    }

    #[test]
    fn reordering_window_is_a_quarter_of_min_rtt() {
        let (mut rack, mut scoreboard) = (Rack::default(), scoreboard());
        let now = sack(&mut rack, &mut scoreboard, 2);
        // The segments sent at 0 and 1 ms are missing. The newest delivered segment took 100 ms,
        // and the reordering window is 25 ms. So the missing segments are lost at 125 and 126 ms.
        assert_eq!(rack.detect(now, path(false), &mut scoreboard), (0, Some(MS(126))));
        assert_eq!(rack.detect(MS(125), path(false), &mut scoreboard), (100, Some(MS(126))));
        assert_eq!(rack.detect(MS(126), path(false), &mut scoreboard), (100, None));
    }

    #[test]
    fn no_reordering_window_after_three_sacks_on_ordered_path() {
        let (mut rack, mut scoreboard) = (Rack::default(), scoreboard());
        sack(&mut rack, &mut scoreboard, 1);
        sack(&mut rack, &mut scoreboard, 2);
        let now = sack(&mut rack, &mut scoreboard, 3);
        assert_eq!(rack.detect(now, path(false), &mut scoreboard), (100, None));
    }

    #[test]
    fn dsacks_widen_reordering_window() {
        let mut rack = Rack::default();
        assert_eq!(rack.window(path(true), 9), Duration::ZERO);
        assert_eq!(rack.window(reordering(), 9), Duration::from_millis(25));
        on_dsack(&mut rack, 0, 1_000);
        on_dsack(&mut rack, 500, 1_000);
        assert_eq!(rack.window(reordering(), 9), Duration::from_millis(50));
        on_dsack(&mut rack, 1_000, 2_000);
        on_dsack(&mut rack, 2_000, 3_000);
        on_dsack(&mut rack, 3_000, 4_000);
        assert_eq!(rack.window(reordering(), 9), Duration::from_millis(100));
        for _ in 0..16 {
            rack.on_recovered();
        }
        assert_eq!(rack.window(reordering(), 9), Duration::from_millis(25));
    }

    #[test]
    fn rack_detects_lost_retransmission() {
        let (mut rack, mut scoreboard) = (Rack::default(), scoreboard());
        for number in 1..=3 {
            sack(&mut rack, &mut scoreboard, number);
        }
        rack.detect(MS(103), path(false), &mut scoreboard);
        scoreboard.repair(MS(104), 0, Snapshot::default());
        scoreboard.send_next(MS(105), Snapshot::default());
        scoreboard.sack([(1_000, 1_100)].into_iter(), |delivered| {
            rack.on_delivered(MS(205), delivered, None, true);
        });
        assert_eq!(rack.detect(MS(205), path(true), &mut scoreboard).0, 100 * 7);
        assert_eq!(scoreboard.next_lost(), Some(0));
    }

    /// `tcp_rack_advance`: after an outage, segments sent at about the same time as a late one are not lost.
    #[test]
    fn every_delivery_sets_rtt() {
        let (mut rack, mut scoreboard) = (Rack::default(), scoreboard());
        sack(&mut rack, &mut scoreboard, 9);
        let late = MS(900);
        scoreboard.acknowledge(100, |delivered| {
            rack.on_delivered(late, delivered, Some(Duration::from_millis(100)), true);
        });
        assert_eq!((rack.rtt, rack.newest), (Duration::from_millis(900), Some((MS(9), 1_000))));
        assert_eq!(rack.detect(late, path(true), &mut scoreboard).0, 0);
    }

    #[test]
    fn reordering_window_is_at_most_srtt() {
        // By section 6.2, step 4, a D-SACK in each of seven round trips would widen the window to
        // two round-trip times. The smoothed round-trip time is the upper bound.
        let mut rack = Rack::default();
        for round in 0..7 {
            on_dsack(&mut rack, 1_000 * round, 1_000 * (round + 1));
        }
        assert_eq!(rack.window(reordering(), 9), Duration::from_millis(100));
        // After sixteen recoveries without another D-SACK the widening ends. A D-SACK restarts this
        // count.
        for _ in 0..15 {
            rack.on_recovered();
        }
        on_dsack(&mut rack, 9_000, 10_000);
        rack.on_recovered();
        assert_eq!(rack.quarters, 9);
        for _ in 0..15 {
            rack.on_recovered();
        }
        assert_eq!(rack.quarters, 1);
    }
}
