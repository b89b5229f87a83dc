//! TS 36.322, 5.2.3 and 6.2.1.6.

use std::ops::Range;

use super::pdus::{Pdu, Pdus};
use crate::rlc::lte::header;
use crate::rlc::lte::ranges::RangeSet;

/// Of a PDU or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nack {
    /// NACK_SN.
    pub sn: u64,
    /// SOstart and SOend in the SDU stream, or `None` for the whole PDU.
    pub octets: Option<Range<u64>>,
}

// Clause: TS 36.322, 5.2.3, 6.2.1.6: STATUS PDUs
// Simplified: STATUS PDUs arrive after a fixed time, and take no resource blocks
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// ACK_SN: earlier PDUs are received, except those in `nacks`. If `nacks` names parts of this PDU, its
    /// other missing parts did not fit.
    pub acknowledged: u64,
    /// In ascending order.
    pub nacks: Vec<Nack>,
    /// Those with offsets, of a part of a PDU.
    with_offsets: u32,
}

impl Status {
    pub fn bytes(&self) -> u32 {
        header::status(self.nacks.len() as u32, self.with_offsets)
    }

    /// As far as it fits; what is neither complete nor in `partial` is missing.
    pub fn write(&mut self, pdus: &Pdus, partial: &RangeSet, numbers: Range<u64>, room: u32) {
        self.nacks.clear();
        self.with_offsets = 0;
        for sn in numbers.clone() {
            let Some(pdu) = pdus.get(sn).filter(|pdu| !pdu.is_complete()) else { continue };
            if !self.write_pdu(sn, pdu, partial, room) {
                self.acknowledged = sn;
                return;
            }
        }
        self.acknowledged = numbers.end;
    }

    /// False if not all of them fit.
    fn write_pdu(&mut self, sn: u64, pdu: &Pdu, partial: &RangeSet, room: u32) -> bool {
        if pdu.received == 0 {
            return self.push(Nack { sn, octets: None }, room);
        }
        partial.gaps(pdu.octets.clone()).all(|gap| self.push(Nack { sn, octets: Some(gap) }, room))
    }

    /// False if it does not fit.
    fn push(&mut self, nack: Nack, room: u32) -> bool {
        let with_offsets = self.with_offsets + u32::from(nack.octets.is_some());
        let fits = header::status(self.nacks.len() as u32 + 1, with_offsets) <= room;
        if fits {
            self.with_offsets = with_offsets;
            self.nacks.push(nack);
        }
        fits
    }

    /// Acknowledges `sn` positively or negatively.
    pub fn mentions(&self, sn: u64) -> bool {
        sn < self.acknowledged || self.nacks.last().is_some_and(|nack| nack.sn == sn)
    }

    /// Upper bound.
    pub fn size_of(pdus: &Pdus, partial: &RangeSet, numbers: Range<u64>) -> u32 {
        let missing = numbers.filter(|sn| pdus.get(*sn).is_some_and(|pdu| !pdu.is_complete())).count();
        // Every range of received octets leaves at most two missing parts of its PDU, one before
        // and one after it.
        let parts = 2 * partial.len();
        header::status((missing + parts) as u32, parts as u32)
    }
}
