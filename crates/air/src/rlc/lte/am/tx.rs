//! TS 36.322, 5.1.3.1 and 5.2.1.

use std::ops::Range;

use nodeb_base::units::Time;

use super::Amd;
use super::params::LteAm;
use super::pdus::Pdus;
use super::polling::Poller;
use super::status::Status;
use crate::rlc::lte::header;
use crate::rlc::lte::ranges::RangeSet;
use crate::rlc::lte::stream::Stream;

#[derive(Debug)]
pub struct Sender {
    max_retransmissions: u32,
    /// To be retransmitted, in the SDU stream.
    pending: RangeSet,
    poller: Poller,
    has_failed: bool,
}

/// With the size of its header.
type Sized = (Amd, u32);

impl Sender {
    pub fn new(params: &LteAm) -> Self {
        Self {
            max_retransmissions: params.max_retransmissions.map_or(u32::MAX, std::num::NonZeroU32::get),
            pending: RangeSet::default(),
            poller: Poller::new(params),
            has_failed: false,
        }
    }

    /// The limit of retransmissions: radio link failure.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// With RLC headers but no MAC subheaders.
    #[inline]
    pub fn pending_size(&self) -> u64 {
        self.pending.octets() + u64::from(header::AMD_SEGMENT) * self.pending.len() as u64
    }

    #[inline]
    pub fn pending_ranges(&self) -> usize {
        self.pending.len()
    }

    // --- Methods that return PDUs to be sent ---

    /// Retransmissions precede new PDUs (TS 36.322, 5.1.3.1.1).
    #[inline]
    pub fn next(&mut self, now: Time, room: u32, pdus: &mut Pdus, stream: &mut Stream) -> Option<Sized> {
        let (sn, octets, size) = match self.pending.first() {
            Some(pending) => self.take_pending(pending, room, pdus, stream)?,
            None => self.take_new(now, room, pdus, stream)?,
        };
        let is_last = (self.pending.is_empty() && stream.is_empty()) || is_stalled(pdus, stream);
        let poll = self.poller.poll(now, is_last, pdus.end());
        Some((Amd { sn, octets, poll }, size))
    }

    /// `None` if the window is full, no SDU waits, too many SDUs are in flight, or nothing fits.
    #[inline]
    fn take_new(
        &mut self,
        now: Time,
        room: u32,
        pdus: &mut Pdus,
        stream: &mut Stream,
    ) -> Option<(u64, Range<u64>, u32)> {
        let room = room.checked_sub(header::AMD)?;
        if pdus.is_full() {
            return None;
        }
        let (octets, indicators) = stream.cut(now, room, header::LARGEST_SEGMENTED);
        if octets.is_empty() {
            return None;
        }
        self.poller.on_new(octets.end - octets.start);
        Some((pdus.push(octets.clone()), octets, header::AMD + indicators))
    }

    // Clause: TS 36.322, 5.1.3.1, 5.2.1: re-segmentation
    /// A segment if only some of its octets wait or fit.
    fn take_pending(
        &mut self,
        pending: Range<u64>,
        room: u32,
        pdus: &Pdus,
        stream: &Stream,
    ) -> Option<(u64, Range<u64>, u32)> {
        let sn = pdus.find(pending.start);
        let whole = &pdus.get(sn)?.octets;
        let part = pending.start..pending.end.min(whole.end);
        let (mut octets, mut indicators) = stream.fit(part.clone(), room.checked_sub(header::AMD)?);
        let mut fixed = header::AMD;
        if octets != *whole {
            (octets, indicators) = stream.fit(part, room.checked_sub(header::AMD_SEGMENT)?);
            fixed = header::AMD_SEGMENT;
        }
        if octets.is_empty() {
            return None;
        }
        self.pending.remove(octets.clone());
        Some((sn, octets, fixed + indicators))
    }

    // --- Methods for status reports ---

    /// First octet that is not acknowledged in sequence, if it has changed.
    pub fn on_status(&mut self, status: &Status, pdus: &mut Pdus) -> Option<u64> {
        self.acknowledge(status, pdus);
        for nack in &status.nacks {
            let Some(pdu) = pdus.get(nack.sn) else { continue };
            let octets = nack.octets.clone().unwrap_or_else(|| pdu.octets.clone());
            self.retransmit(nack.sn, octets, pdus);
        }
        self.poller.on_report(|sn| status.mentions(sn));
        pdus.slide()
    }

    /// Positively acknowledged PDUs need no retransmission.
    fn acknowledge(&mut self, status: &Status, pdus: &mut Pdus) {
        let mut nacks = status.nacks.iter().map(|nack| nack.sn).peekable();
        for sn in pdus.first()..status.acknowledged {
            while nacks.next_if(|nack| *nack < sn).is_some() {}
            let Some(pdu) = pdus.get_mut(sn) else { break };
            if nacks.peek() == Some(&sn) || pdu.acknowledged {
                continue;
            }
            pdu.acknowledged = true;
            if !self.pending.is_empty() {
                self.pending.remove(pdu.octets.clone());
            }
        }
    }

    // Clause: TS 36.322, 5.2.1: limit of retransmissions
    // Simplified: after the limit the entity goes on, without re-establishment
    /// RETX_COUNT starts at 0 and increases with each call, except while the octets already wait (TS 36.322,
    /// 5.2.1).
    fn retransmit(&mut self, sn: u64, octets: Range<u64>, pdus: &mut Pdus) {
        let Some(pdu) = pdus.get_mut(sn).filter(|pdu| !pdu.acknowledged) else { return };
        let is_pending = self.pending.contains(&octets);
        let count = match pdu.retransmissions {
            None => 0,
            Some(count) => count + u32::from(!is_pending),
        };
        pdu.retransmissions = Some(count);
        self.has_failed |= count >= self.max_retransmissions;
        self.pending.insert(octets);
    }

    // --- Methods for the poll timer ---

    #[inline]
    pub fn due(&self) -> Option<Time> {
        self.poller.due()
    }

    /// If no PDU can be sent that could carry the poll, the last unacknowledged one is retransmitted (TS
    /// 36.322, 5.2.2.3).
    pub fn on_time(&mut self, now: Time, pdus: &mut Pdus, stream: &Stream) {
        if self.poller.expire(now)
            && self.pending.is_empty()
            && (stream.is_empty() || is_stalled(pdus, stream))
            && let Some(sn) = pdus.last_open()
            && let Some(pdu) = pdus.get(sn)
        {
            self.retransmit(sn, pdu.octets.clone(), pdus);
        }
    }
}

/// The window is full or too many SDUs are in flight.
#[inline]
pub fn is_stalled(pdus: &Pdus, stream: &Stream) -> bool {
    pdus.is_full() || stream.is_stalled()
}
