//! AMD PDUs that are not acknowledged in sequence. The windows of both ends share one list of these
//! PDUs.

use std::collections::VecDeque;
use std::ops::Range;

// Clause: TS 36.322, 7.2: window of acknowledged mode
/// Number of PDUs in the window of sender and receiver, AM_Window_Size (TS 36.322, 7.2).
pub const WINDOW: usize = 512;

/// AMD PDU in the window, with its state at the sender and at the receiver.
#[derive(Debug)]
pub struct Pdu {
    /// Octets of the SDU stream in the data field.
    pub octets: Range<u64>,
    /// RETX_COUNT, or `None` if the PDU was never considered for retransmission (TS 36.322, 5.2.1).
    pub retransmissions: Option<u32>,
    /// Whether the sender has received a positive acknowledgement of the PDU.
    pub acknowledged: bool,
    /// Number of octets of the data field that the receiver has received.
    pub received: u64,
}

impl Pdu {
    /// Returns the number of octets in the data field.
    #[inline]
    pub fn size(&self) -> u64 {
        self.octets.end - self.octets.start
    }

    /// Returns true if the receiver has received all octets of the data field.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.received == self.size()
    }
}

/// PDUs in the window, in order of their sequence numbers, which never wrap here.
#[derive(Debug, Default)]
pub struct Pdus {
    /// Number of the first PDU that is not acknowledged, VT(A).
    first: u64,
    pdus: VecDeque<Pdu>,
}

impl Pdus {
    /// Returns the number of the first PDU that is not acknowledged, VT(A).
    #[inline]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number that the next new PDU will have, VT(S).
    #[inline]
    pub fn end(&self) -> u64 {
        self.first + self.pdus.len() as u64
    }

    /// Returns true if the window is full, so that no new PDU can be sent.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.pdus.len() >= WINDOW
    }

    /// Adds a new PDU with the data field `octets`. Returns its sequence number.
    #[inline]
    pub fn push(&mut self, octets: Range<u64>) -> u64 {
        self.pdus.push_back(Pdu { octets, retransmissions: None, acknowledged: false, received: 0 });
        self.end() - 1
    }

    /// Returns PDU number `sn`, or `None` if it is acknowledged in sequence or was never sent.
    #[inline]
    pub fn get(&self, sn: u64) -> Option<&Pdu> {
        self.pdus.get(usize::try_from(sn.checked_sub(self.first)?).ok()?)
    }

    /// Returns PDU number `sn` mutably, or `None` if it is acknowledged in sequence or was never
    /// sent.
    #[inline]
    pub fn get_mut(&mut self, sn: u64) -> Option<&mut Pdu> {
        self.pdus.get_mut(usize::try_from(sn.checked_sub(self.first)?).ok()?)
    }

    /// Returns the number of the PDU whose data field contains `octet`. The caller ensures that this
    /// PDU has been sent and is at or after VT(A), that is, not acknowledged in sequence.
    pub fn find(&self, octet: u64) -> u64 {
        self.first + self.pdus.partition_point(|pdu| pdu.octets.end <= octet) as u64
    }

    /// Returns the lowest number, from `sn` on, of a PDU that the receiver has not received
    /// completely, or that was not sent yet.
    #[inline]
    pub fn first_incomplete(&self, sn: u64) -> u64 {
        let mut sn = sn.max(self.first);
        while self.get(sn).is_some_and(Pdu::is_complete) {
            sn += 1;
        }
        sn
    }

    /// Returns the number of the last PDU that is not acknowledged, or `None` if there is none.
    pub fn last_open(&self) -> Option<u64> {
        let place = self.pdus.iter().rposition(|pdu| !pdu.acknowledged)?;
        Some(self.first + place as u64)
    }

    /// Moves VT(A) to the first PDU that is not acknowledged. Returns the number of the first octet
    /// that is not acknowledged in sequence, or `None` if VT(A) does not move.
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
