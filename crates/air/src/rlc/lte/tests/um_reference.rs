//! Follows the text of TS 36.322, with numbers modulo 32 or 1024.

use std::collections::BTreeMap;

use super::reference::above;

/// SDU, offset, octets, and whether the part ends the SDU.
pub type Element = (u64, u32, u32, bool);

/// State variables of TS 36.322.
pub struct UmReceiver {
    modulus: u16,
    buffer: BTreeMap<u16, Vec<Element>>,
    vr_ur: u16,
    vr_uh: u16,
    vr_ux: u16,
    reordering: u64,
    expires: Option<u64>,
    /// SDU being reassembled, and how many of its octets were received.
    partial: Option<(u64, u32)>,
    /// In order.
    pub delivered: Vec<u64>,
}

impl UmReceiver {
    pub fn new(modulus: u16, reordering: u64) -> Self {
        Self {
            modulus,
            buffer: BTreeMap::new(),
            vr_ur: 0,
            vr_uh: 0,
            vr_ux: 0,
            reordering,
            expires: None,
            partial: None,
            delivered: Vec::new(),
        }
    }

    /// Distance above the lower edge of the reordering window.
    fn at(&self, sn: u16) -> u16 {
        above((self.vr_uh + self.modulus / 2) % self.modulus, sn, self.modulus)
    }

    fn is_inside(&self, sn: u16) -> bool {
        self.at(sn) < self.modulus / 2
    }

    /// A PDU before the highest one may be missing and is not given up yet.
    pub fn has_gap(&self) -> bool {
        self.vr_uh != self.vr_ur
    }

    /// 5.1.2.2.2 and 5.1.2.2.3.
    pub fn receive(&mut self, now: u64, sn: u16, elements: Vec<Element>) {
        let is_known = self.buffer.contains_key(&sn);
        if self.is_inside(sn) && (is_known || self.at(sn) < self.at(self.vr_ur)) {
            return;
        }
        let is_outside = !self.is_inside(sn);
        self.buffer.insert(sn, elements);
        if is_outside {
            self.vr_uh = (sn + 1) % self.modulus;
            let edge = (self.vr_uh + self.modulus / 2) % self.modulus;
            if !self.is_inside(self.vr_ur) {
                self.move_to(edge);
            }
        }
        self.move_over_received();
        let is_over = self.at(self.vr_ux) <= self.at(self.vr_ur);
        if is_over || (!self.is_inside(self.vr_ux) && self.vr_ux != self.vr_uh) {
            self.expires = None;
        }
        self.start(now);
    }

    fn start(&mut self, now: u64) {
        if self.expires.is_none() && self.vr_uh != self.vr_ur {
            self.expires = Some(now + self.reordering);
            self.vr_ux = self.vr_uh;
        }
    }

    fn move_over_received(&mut self) {
        while self.buffer.contains_key(&self.vr_ur) {
            self.move_to((self.vr_ur + 1) % self.modulus);
        }
    }

    fn move_to(&mut self, sn: u16) {
        while self.vr_ur != sn {
            match self.buffer.remove(&self.vr_ur) {
                Some(elements) => elements.into_iter().for_each(|element| self.reassemble(element)),
                None => self.partial = None,
            }
            self.vr_ur = (self.vr_ur + 1) % self.modulus;
        }
    }

    fn reassemble(&mut self, (sdu, offset, octets, last): Element) {
        let continues = self.partial == Some((sdu, offset));
        self.partial = (offset == 0 || continues).then_some((sdu, offset + octets));
        if last && self.partial.take().is_some() {
            self.delivered.push(sdu);
        }
    }

    /// TS 36.322, 5.1.2.2.4.
    pub fn on_time(&mut self, now: u64) {
        if self.expires.is_some_and(|at| at <= now) {
            self.expires = None;
            self.move_to(self.vr_ux);
            self.move_over_received();
            self.start(now);
        }
    }
}
