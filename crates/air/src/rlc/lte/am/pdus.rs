//! AMD PDUs that are not acknowledged in sequence; the windows of both ends share one list.

use std::collections::VecDeque;
use std::ops::Range;

// Clause: TS 36.322, 7.2: window of acknowledged mode
/// AM_Window_Size (TS 36.322, 7.2).
pub const WINDOW: usize = 512;

#[derive(Debug)]
pub struct Pdu {
    /// In the SDU stream.
    pub octets: Range<u64>,
    /// RETX_COUNT, or `None` if never considered for retransmission (TS 36.322, 5.2.1).
    pub retransmissions: Option<u32>,
    pub acknowledged: bool,
    /// Octets received of the data field.
    pub received: u64,
}

impl Pdu {
    #[inline]
    pub fn size(&self) -> u64 {
        self.octets.end - self.octets.start
    }

    #[inline]
    pub fn is_complete(&self) -> bool {
        self.received == self.size()
    }
}

/// In order of their numbers, which never wrap here.
#[derive(Debug, Default)]
pub struct Pdus {
    /// VT(A).
    first: u64,
    pdus: VecDeque<Pdu>,
}

impl Pdus {
    /// VT(A).
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// VT(S).
    #[inline]
    pub fn end(&self) -> u64 {
        self.first + self.pdus.len() as u64
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.pdus.len() >= WINDOW
    }

    #[inline]
    pub fn push(&mut self, octets: Range<u64>) -> u64 {
        self.pdus.push_back(Pdu { octets, retransmissions: None, acknowledged: false, received: 0 });
        self.end() - 1
    }

    /// `None` if acknowledged in sequence or never sent.
    #[inline]
    pub fn get(&self, sn: u64) -> Option<&Pdu> {
        self.pdus.get(usize::try_from(sn.checked_sub(self.first)?).ok()?)
    }

    #[inline]
    pub fn get_mut(&mut self, sn: u64) -> Option<&mut Pdu> {
        self.pdus.get_mut(usize::try_from(sn.checked_sub(self.first)?).ok()?)
    }

    /// The caller ensures that this PDU has been sent and is at or after VT(A), that is, not acknowledged in
    /// sequence.
    pub fn find(&self, octet: u64) -> u64 {
        self.first + self.pdus.partition_point(|pdu| pdu.octets.end <= octet) as u64
    }

    /// From `sn` on, incomplete at the receiver or not sent yet.
    #[inline]
    pub fn first_incomplete(&self, sn: u64) -> u64 {
        let mut sn = sn.max(self.first);
        while self.get(sn).is_some_and(Pdu::is_complete) {
            sn += 1;
        }
        sn
    }

    pub fn last_open(&self) -> Option<u64> {
        let place = self.pdus.iter().rposition(|pdu| !pdu.acknowledged)?;
        Some(self.first + place as u64)
    }

    /// First octet that is not acknowledged in sequence, if VT(A) moves.
    pub fn slide(&mut self) -> Option<u64> {
        let mut octet = None;
        while let Some(pdu) = self.pdus.front().filter(|pdu| pdu.acknowledged) {
            octet = Some(pdu.octets.end);
            self.pdus.pop_front();
            self.first += 1;
        }
        octet
    }
}
