//! Follows the text of TS 36.322, with sets of octets and numbers modulo 1024.

use std::collections::{BTreeMap, BTreeSet};

/// Distance of `sn` above `base`.
pub fn above(base: u16, sn: u16, modulus: u16) -> u16 {
    (sn + modulus - base) % modulus
}

#[derive(Clone, Debug)]
pub struct AirAmd {
    pub sn: u16,
    pub so: u32,
    pub octets: u32,
    /// LSF: the last octet of the segment is the last of its PDU.
    pub last: bool,
    pub poll: bool,
}

/// With the PDU's length if it is known.
#[derive(Clone, Debug, Default)]
struct Buffered {
    octets: BTreeSet<u32>,
    length: Option<u32>,
}

impl Buffered {
    fn is_complete(&self) -> bool {
        self.length.is_some_and(|length| self.octets.len() as u32 == length)
    }

    fn in_sequence(&self) -> u64 {
        (0..).zip(&self.octets).take_while(|(expected, octet)| expected == *octet).count() as u64
    }

    /// SOstart and the octet after SOend, `None` for the end of the PDU.
    fn missing(&self) -> Vec<(u32, Option<u32>)> {
        let mut parts = Vec::new();
        let mut from = 0;
        for octet in &self.octets {
            if *octet > from {
                parts.push((from, Some(*octet)));
            }
            from = octet + 1;
        }
        if self.length.is_none() {
            parts.push((from, None));
        }
        parts
    }
}

/// ACK_SN, and for each NACK_SN the missing part, or `None` for the whole PDU.
pub type AirStatus = (u16, Vec<(u16, Option<(u32, Option<u32>)>)>);

/// State variables of TS 36.322.
pub struct AmReceiver {
    buffer: BTreeMap<u16, Buffered>,
    vr_r: u16,
    vr_ms: u16,
    vr_h: u16,
    vr_x: u16,
    reordering: u64,
    expires: Option<u64>,
    polled: BTreeSet<u16>,
    triggered: bool,
    prohibit: u64,
    prohibited_until: u64,
    /// Octets of the PDUs before VR(R).
    delivered: u64,
}

const AM: u16 = 1024;
const AM_WINDOW: u16 = 512;

impl AmReceiver {
    pub fn new(reordering: u64, prohibit: u64) -> Self {
        Self {
            buffer: BTreeMap::new(),
            vr_r: 0,
            vr_ms: 0,
            vr_h: 0,
            vr_x: 0,
            reordering,
            expires: None,
            polled: BTreeSet::new(),
            triggered: false,
            prohibit,
            prohibited_until: 0,
            delivered: 0,
        }
    }

    fn at(&self, sn: u16) -> u16 {
        above(self.vr_r, sn, AM)
    }

    fn is_complete(&self, sn: u16) -> bool {
        self.buffer.get(&sn).is_some_and(Buffered::is_complete)
    }

    fn first_incomplete(&self, from: u16) -> u16 {
        (0..AM).map(|step| (from + step) % AM).find(|sn| !self.is_complete(*sn)).unwrap()
    }

    pub fn in_sequence(&self) -> u64 {
        self.delivered + self.buffer.get(&self.vr_r).map_or(0, Buffered::in_sequence)
    }

    pub fn receive(&mut self, now: u64, amd: &AirAmd) {
        let octets: Vec<u32> = (amd.so..amd.so + amd.octets).collect();
        let held = self.buffer.get(&amd.sn);
        let is_outside = self.at(amd.sn) >= AM_WINDOW;
        let is_known = held.is_some_and(|held| octets.iter().all(|octet| held.octets.contains(octet)));
        let is_discarded = is_outside || is_known;
        if !is_discarded {
            let buffered = self.buffer.entry(amd.sn).or_default();
            buffered.octets.extend(octets);
            if amd.last {
                buffered.length = Some(amd.so + amd.octets);
            }
            self.placed(now, amd.sn);
        }
        if amd.poll {
            if is_discarded || self.at(amd.sn) >= AM_WINDOW || self.at(amd.sn) < self.at(self.vr_ms) {
                self.triggered = true;
            } else {
                self.polled.insert(amd.sn);
            }
        }
    }

    /// After octets of PDU `sn` were placed in the buffer (TS 36.322, 5.1.3.2.3).
    fn placed(&mut self, now: u64, sn: u16) {
        if self.at(sn) >= self.at(self.vr_h) {
            self.vr_h = (sn + 1) % AM;
        }
        if self.is_complete(self.vr_ms) {
            self.vr_ms = self.first_incomplete(self.vr_ms);
        }
        if sn == self.vr_r && self.is_complete(self.vr_r) {
            let next = self.first_incomplete(self.vr_r);
            while self.vr_r != next {
                self.delivered += u64::from(self.buffer.remove(&self.vr_r).unwrap().length.unwrap());
                self.vr_r = (self.vr_r + 1) % AM;
            }
        }
        self.answer_polls();
        if self.expires.is_some() && (self.vr_x == self.vr_r || self.at(self.vr_x) > AM_WINDOW) {
            self.expires = None;
        }
        if self.expires.is_none() && self.at(self.vr_h) > 0 {
            self.expires = Some(now + self.reordering);
            self.vr_x = self.vr_h;
        }
    }

    fn answer_polls(&mut self) {
        let waiting = std::mem::take(&mut self.polled);
        let (r, ms) = (self.vr_r, self.at(self.vr_ms));
        for sn in waiting {
            let at = above(r, sn, AM);
            if at < ms || at >= AM_WINDOW {
                self.triggered = true;
            } else {
                self.polled.insert(sn);
            }
        }
    }

    /// TS 36.322, 5.1.3.2.4.
    pub fn on_time(&mut self, now: u64) {
        if self.expires.is_some_and(|at| at <= now) {
            self.expires = None;
            self.vr_ms = self.first_incomplete(self.vr_x);
            self.answer_polls();
            if self.at(self.vr_h) > self.at(self.vr_ms) {
                self.expires = Some(now + self.reordering);
                self.vr_x = self.vr_h;
            }
            self.triggered = true;
        }
    }

    /// `None` also if `room` is below 2 octets (5.2.3 and 6.2.1.6).
    pub fn report(&mut self, now: u64, room: u32) -> Option<AirStatus> {
        if !self.triggered || now < self.prohibited_until || room < 2 {
            return None;
        }
        (self.triggered, self.prohibited_until) = (false, now + self.prohibit);
        let (mut bits, mut nacks) = (15, Vec::new());
        let mut sn = self.vr_r;
        while sn != self.vr_ms {
            if !self.is_complete(sn) {
                let missing = match self.buffer.get(&sn) {
                    None => vec![None],
                    Some(held) => held.missing().into_iter().map(Some).collect(),
                };
                for part in missing {
                    bits += if part.is_some() { 12 + 30 } else { 12 };
                    if bits > 8 * room {
                        return Some((sn, nacks));
                    }
                    nacks.push((sn, part));
                }
            }
            sn = (sn + 1) % AM;
        }
        Some((sn, nacks))
    }
}
