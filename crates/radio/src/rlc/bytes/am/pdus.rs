//! AMD PDUs that are not acknowledged in sequence: the window of both ends.

use std::collections::VecDeque;
use std::ops::Range;

/// Size of the windows of sender and receiver, AM_Window_Size (TS 36.322, 7.2).
pub const WINDOW: usize = 512;

/// An AMD PDU.
#[derive(Debug)]
pub struct Pdu {
    /// Octets of the data field.
    pub octets: Range<u64>,
    /// RETX_COUNT, or `None` if the PDU was never considered for retransmission (TS 36.322, 5.2.1).
    pub retransmissions: Option<u32>,
    /// Whether the sender has received a positive acknowledgement.
    pub acknowledged: bool,
    /// Number of octets received.
    pub received: u64,
}

impl Pdu {
    /// Returns the number of octets of the data field.
    #[inline]
    pub fn size(&self) -> u64 {
        self.octets.end - self.octets.start
    }

    /// Returns true if all octets are received.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.received == self.size()
    }
}

/// The PDUs by sequence number, which never wraps here.
#[derive(Debug, Default)]
pub struct Pdus {
    /// VT(A): number of the first PDU that is not acknowledged.
    first: u64,
    pdus: VecDeque<Pdu>,
}

impl Pdus {
    /// Returns VT(A), the number of the first PDU that is not acknowledged.
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns VT(S), the number of the next new PDU.
    #[inline]
    pub fn end(&self) -> u64 {
        self.first + self.pdus.len() as u64
    }

    /// Returns true if the window is full.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.pdus.len() >= WINDOW
    }

    /// Adds a new PDU. Returns its number.
    #[inline]
    pub fn push(&mut self, octets: Range<u64>) -> u64 {
        self.pdus.push_back(Pdu { octets, retransmissions: None, acknowledged: false, received: 0 });
        self.end() - 1
    }

    /// Returns a PDU, or `None` if it is acknowledged in sequence or was never sent.
    #[inline]
    pub fn get(&self, sn: u64) -> Option<&Pdu> {
        self.pdus.get(usize::try_from(sn.checked_sub(self.first)?).ok()?)
    }

    /// Returns a PDU mutably, or `None` if it is acknowledged in sequence or was never sent.
    #[inline]
    pub fn get_mut(&mut self, sn: u64) -> Option<&mut Pdu> {
        self.pdus.get_mut(usize::try_from(sn.checked_sub(self.first)?).ok()?)
    }

    /// Returns the number of the PDU with an octet, which must not be acknowledged in sequence.
    pub fn find(&self, octet: u64) -> u64 {
        self.first + self.pdus.partition_point(|pdu| pdu.octets.end <= octet) as u64
    }

    /// Returns the first number from `sn` of a PDU that is not complete, or was not sent yet.
    #[inline]
    pub fn first_incomplete(&self, sn: u64) -> u64 {
        let mut sn = sn.max(self.first);
        while self.get(sn).is_some_and(Pdu::is_complete) {
            sn += 1;
        }
        sn
    }

    /// Returns the number of the last PDU that is not acknowledged, if any.
    pub fn last_open(&self) -> Option<u64> {
        let place = self.pdus.iter().rposition(|pdu| !pdu.acknowledged)?;
        Some(self.first + place as u64)
    }

    /// Moves VT(A) to the first PDU that is not acknowledged. Returns the end of the octets before it, or `None`
    /// if it does not move.
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
