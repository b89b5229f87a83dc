use std::ops::Range;

use nodeb_base::units::Time;

use super::params::{Reports, StatusFormat};
use super::pdu::Status;

/// TS 25.322, 9.7.2.
#[derive(Debug)]
pub struct Reporter {
    params: Reports,
    /// Requested and not sent yet.
    wanted: bool,
    prohibited_until: Option<Time>,
    next_periodic: Option<Time>,
}

impl Reporter {
    pub fn new(params: &Reports) -> Self {
        Self { params: params.clone(), wanted: false, prohibited_until: None, next_periodic: None }
    }

    /// Called when a PDU arrives.
    pub fn start_periodic(&mut self, now: Time) {
        if let (None, Some(period)) = (self.next_periodic, self.params.periodic) {
            self.next_periodic = Some(now + period);
        }
    }

    /// `missing` counts with `on_missing`.
    pub fn request(&mut self, polled: bool, missing: bool) {
        self.wanted |= polled || (missing && self.params.on_missing);
    }

    /// Starts the prohibit timer.
    pub fn is_due(&mut self, now: Time) -> bool {
        if self.next_periodic.is_some_and(|at| at <= now) {
            self.next_periodic = self.params.periodic.map(|period| now + period);
            self.wanted = true;
        }
        if !self.wanted || self.prohibited_until.is_some_and(|until| now < until) {
            return false;
        }
        self.wanted = false;
        self.prohibited_until = self.params.prohibit.map(|time| now + time);
        true
    }

    /// If no PDU arrives before.
    pub fn next(&self) -> Option<Time> {
        let waiting = self.wanted.then(|| self.prohibited_until.unwrap_or_default());
        waiting.into_iter().chain(self.next_periodic).min()
    }

    /// Until the next PDU arrives, when none is missing.
    pub fn stop_periodic(&mut self) {
        self.next_periodic = None;
    }
}

/// Header and ACK super-field of every STATUS PDU (9.2.1.5, 9.2.2.11.2).
const FIXED_BITS: u32 = 4 + 16;
/// LIST super-field without pairs: type and length.
const LIST_BITS: u32 = 4 + 4;
/// A PDU number and a run length.
const PAIR_BITS: u32 = 12 + 4;
const PAIRS_PER_LIST: u32 = 15;
const RUN_PER_PAIR: u64 = 16;
/// BITMAP super-field without its bitmap: type, length and first number.
const BITMAP_BITS: u32 = 4 + 4 + 12;
/// 16 octets.
const PDUS_PER_BITMAP: u32 = 128;

/// Holds a report about at least one missing PDU in either format.
pub const SMALLEST_PDU_BYTES: u32 = (FIXED_BITS + BITMAP_BITS + 8).div_ceil(8);

/// If one of several STATUS PDUs is lost, the others must not acknowledge missing PDUs. So the first STATUS
/// PDU acknowledges only PDUs before those that the second reports on, and all others acknowledge only the
/// PDUs received in order.
pub fn report(format: StatusFormat, pdu_bytes: u32, missing: &[Range<u64>], highest: u64) -> Vec<Status> {
    let in_order = missing.first().map_or(highest, |run| run.start);
    let mut parts: Vec<Status> = Vec::new();
    let mut rest = missing.to_vec();
    rest.reverse();
    while !rest.is_empty() || parts.is_empty() {
        let missing = match format {
            StatusFormat::List => take_list(&mut rest, pdu_bytes),
            StatusFormat::Bitmap => take_bitmap(&mut rest, pdu_bytes),
        };
        let accounted = rest.last().map_or(highest, |run| run.start);
        let acknowledged = if parts.is_empty() { accounted } else { in_order };
        parts.push(Status { acknowledged, missing });
    }
    parts
}

/// As many as LIST super-fields of one STATUS PDU hold; `rest` is in descending, the result in ascending
/// order.
fn take_list(rest: &mut Vec<Range<u64>>, pdu_bytes: u32) -> Vec<Range<u64>> {
    let mut bits = (8 * pdu_bytes).saturating_sub(FIXED_BITS);
    let (mut pairs, mut taken) = (0, Vec::new());
    while let Some(run) = rest.pop() {
        let cost = PAIR_BITS + if pairs % PAIRS_PER_LIST == 0 { LIST_BITS } else { 0 };
        if cost > bits {
            rest.push(run);
            break;
        }
        (bits, pairs) = (bits - cost, pairs + 1);
        let end = run.end.min(run.start + RUN_PER_PAIR);
        taken.push(run.start..end);
        if end < run.end {
            rest.push(end..run.end);
        }
    }
    taken
}

/// As for LIST; each BITMAP super-field starts at a missing PDU.
fn take_bitmap(rest: &mut Vec<Range<u64>>, pdu_bytes: u32) -> Vec<Range<u64>> {
    let mut bits = (8 * pdu_bytes).saturating_sub(FIXED_BITS);
    let mut taken = Vec::new();
    while let Some(first) = rest.last().map(|run| run.start)
        && bits >= BITMAP_BITS + 8
    {
        let octets = ((bits - BITMAP_BITS) / 8).min(PDUS_PER_BITMAP / 8);
        let end = first + u64::from(8 * octets);
        while let Some(run) = rest.pop_if(|run| run.start < end) {
            taken.push(run.start..run.end.min(end));
            if run.end > end {
                rest.push(end..run.end);
                break;
            }
        }
        let named = taken.last().map_or(first, |run: &Range<u64>| run.end) - first;
        bits -= BITMAP_BITS + 8 * (named as u32).div_ceil(8);
    }
    taken
}
