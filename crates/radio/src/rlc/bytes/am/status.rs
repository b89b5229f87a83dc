//! Contents and sizes of STATUS PDUs (TS 36.322, 5.2.3 and 6.2.1.6).

use std::ops::Range;

use super::pdus::{Pdu, Pdus};
use crate::rlc::bytes::header;
use crate::rlc::bytes::ranges::RangeSet;

/// Negative acknowledgement of a PDU or of a part of a PDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nack {
    /// Number of the AMD PDU that is not received completely, NACK_SN.
    pub sn: u64,
    /// Octets of the SDU stream that are missing (SOstart and SOend), or `None` if the whole PDU is
    /// missing.
    pub octets: Option<Range<u64>>,
}

// Clause: TS 36.322, 5.2.3, 6.2.1.6: STATUS PDUs
// Simplified: STATUS PDUs arrive after a fixed time, and take no resource blocks
/// Contents of a STATUS PDU: acknowledgement and negative acknowledgements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// All PDUs before this number are received, except those in `nacks` (ACK_SN). If `nacks` names
    /// parts of the PDU with this number, its other missing parts did not fit.
    pub acknowledged: u64,
    /// Missing PDUs and missing parts of PDUs, in ascending order.
    pub nacks: Vec<Nack>,
    /// Number of negative acknowledgements that name a part of a PDU and therefore have offsets.
    with_offsets: u32,
}

impl Status {
    /// Returns the size of the STATUS PDU in octets.
    pub fn bytes(&self) -> u32 {
        header::status(self.nacks.len() as u32, self.with_offsets)
    }

    /// Writes a report on the PDUs `numbers`, as far as it fits into `room` octets. Complete PDUs
    /// and the octets in `partial` are received; all other octets of these PDUs are missing.
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

    /// Adds negative acknowledgements for all missing octets of a PDU. Returns false if not all of
    /// them fit into `room` octets.
    fn write_pdu(&mut self, sn: u64, pdu: &Pdu, partial: &RangeSet, room: u32) -> bool {
        if pdu.received == 0 {
            return self.push(Nack { sn, octets: None }, room);
        }
        partial.gaps(pdu.octets.clone()).all(|gap| self.push(Nack { sn, octets: Some(gap) }, room))
    }

    /// Adds a negative acknowledgement. Returns false, without adding it, if it does not fit into
    /// `room` octets.
    fn push(&mut self, nack: Nack, room: u32) -> bool {
        let with_offsets = self.with_offsets + u32::from(nack.octets.is_some());
        let fits = header::status(self.nacks.len() as u32 + 1, with_offsets) <= room;
        if fits {
            self.with_offsets = with_offsets;
            self.nacks.push(nack);
        }
        fits
    }

    /// Returns true if the report acknowledges PDU `sn` positively or names it in a negative
    /// acknowledgement.
    pub fn mentions(&self, sn: u64) -> bool {
        sn < self.acknowledged || self.nacks.last().is_some_and(|nack| nack.sn == sn)
    }

    /// Returns an upper bound of the size in octets of a report on the PDUs `numbers`.
    pub fn size_of(pdus: &Pdus, partial: &RangeSet, numbers: Range<u64>) -> u32 {
        let missing = numbers.filter(|sn| pdus.get(*sn).is_some_and(|pdu| !pdu.is_complete())).count();
        // Every range of received octets leaves at most two missing parts of its PDU, one before
        // and one after it.
        let parts = 2 * partial.len();
        header::status((missing + parts) as u32, parts as u32)
    }
}
