//! TS 36.322, 5.1.2. HARQ delivers each block at most once, so no PDU is received twice.

use std::collections::VecDeque;
use std::ops::Range;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Part;
use nodeb_base::params;
use nodeb_base::units::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stream::Stream;
use super::{Filled, Framing};
use crate::allowed::T_REORDERING;
use crate::pdcp::Transmit;

/// Length of the sequence number of a UMD PDU (TS 36.322, 6.2.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum UmSnLength {
    /// Sequence numbers of 5 bits.
    #[serde(rename = "5 bit")]
    Bits5,
    /// Sequence numbers of 10 bits.
    #[default]
    #[serde(rename = "10 bit")]
    Bits10,
}

impl UmSnLength {
    /// Fixed part of a UMD PDU's header in octets.
    pub const fn header(self) -> u32 {
        match self {
            Self::Bits5 => 1,
            Self::Bits10 => 2,
        }
    }

    /// UM_Window_Size (TS 36.322, 7.2).
    pub const fn window(self) -> u64 {
        match self {
            Self::Bits5 => 16,
            Self::Bits10 => 512,
        }
    }
}

params! {
    /// Parameters of unacknowledged mode of RLC in LTE (TS 36.322).
    pub struct LteUm {
        /// Length of the sequence number of a UMD PDU. With 5 bits, a PDU that arrives after one whose number is higher by
        /// 16 or more is discarded; with 10 bits, by 512 or more.
        pub sn_length: UmSnLength,
        /// Time for which PDUs after a gap wait for the missing PDUs (t-Reordering).
        pub t_reordering: Duration = Duration::from_millis(50),
    }
}

impl Checked for LteUm {
    fn check(&self, check: &mut Check) {
        T_REORDERING.require_time(check, "t_reordering", self.t_reordering);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Received,
    Lost,
}

#[derive(Debug)]
struct Pdu {
    octets: Range<u64>,
    state: State,
}

// Clause: TS 36.322, 5.1.2: unacknowledged mode
// Simplified: PDUs that a receiver could take for missing ones are discarded
#[derive(Debug)]
pub struct Unacknowledged {
    header: u32,
    subheader: u32,
    window: u64,
    reordering: Duration,
    stream: Stream,
    /// From number `first`: in flight, or decided but possibly still reordered or awaited. A PDU's number is
    /// its sequence number.
    pdus: VecDeque<Pdu>,
    first: u64,
    /// VR(UR): first PDU that may still be reordered.
    vr_ur: u64,
    /// VR(UH).
    vr_uh: u64,
    /// Expiry of t-Reordering, and VR(UX).
    timer: Option<(Time, u64)>,
}

impl Unacknowledged {
    pub fn new(params: &LteUm, framing: Framing, transmit: Transmit) -> Self {
        Self {
            header: params.sn_length.header(),
            subheader: framing.subheader,
            window: params.sn_length.window(),
            reordering: params.t_reordering,
            stream: Stream::new(transmit, framing),
            pdus: VecDeque::new(),
            first: 0,
            vr_ur: 0,
            vr_uh: 0,
            timer: None,
        }
    }

    pub fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub fn sdus(&self) -> &Stream {
        &self.stream
    }

    /// Octets with headers (TS 36.322, 4.5).
    pub fn waiting(&self) -> u64 {
        if self.stream.is_empty() {
            return 0;
        }
        self.stream.size() + u64::from(self.header + self.subheader)
    }

    /// 0 if too many SDUs are in flight.
    pub fn sendable(&self) -> u64 {
        if self.stream.is_stalled() { 0 } else { self.waiting() }
    }

    // --- Methods of the sending end ---

    /// TS 36.322, 5.1.2.1.1; numbers of the PDUs, total sizes of headers and of data fields.
    #[inline]
    pub fn fill(&mut self, now: Time, room: u32) -> Filled {
        let fixed = self.header + self.subheader;
        let mut filled = Filled::empty(self.first + self.pdus.len() as u64);
        while let Some(left) = (room - filled.bytes()).checked_sub(fixed) {
            let (octets, indicators) = self.stream.cut(now, left, u32::MAX);
            if octets.is_empty() {
                break;
            }
            filled.add(fixed + indicators, (octets.end - octets.start) as u32);
            self.pdus.push_back(Pdu { octets, state: State::InFlight });
        }
        filled
    }

    /// Except for PDUs that the receiver no longer needs.
    pub fn carried(&self, units: Range<u64>) -> Vec<Part> {
        let held = units.start.max(self.first)..units.end.max(self.first);
        let pdus = held.filter_map(|sn| self.pdus.get((sn - self.first) as usize));
        pdus.flat_map(|pdu| self.stream.parts(&pdu.octets)).collect()
    }

    // --- Methods of the receiving end ---

    /// `lost` if HARQ has given them up; their packets are lost at once, although the receiver detects it
    /// only later.
    #[inline]
    pub fn receive(&mut self, now: Time, units: Range<u64>, lost: bool) {
        for sn in units {
            let place = sn.checked_sub(self.first).map(|place| place as usize);
            let Some(pdu) = place.and_then(|place| self.pdus.get_mut(place)) else { continue };
            if pdu.state != State::InFlight {
                continue;
            }
            if lost || Self::is_mistaken(sn, self.vr_uh, self.window) {
                pdu.state = State::Lost;
                self.stream.lose(&pdu.octets);
            } else {
                pdu.state = State::Received;
                self.place(now, sn);
            }
        }
        self.release();
    }

    /// Only if at least UM_Window_Size PDUs are missing before `sn` (TS 36.322, 5.1.2.2.2).
    #[inline]
    const fn is_mistaken(sn: u64, vr_uh: u64, window: u64) -> bool {
        sn >= vr_uh && (sn - vr_uh) % (2 * window) >= window
    }

    /// TS 36.322, 5.1.2.2.2 and 5.1.2.2.3.
    #[inline]
    fn place(&mut self, now: Time, sn: u64) {
        if sn < self.vr_ur {
            return;
        }
        if sn >= self.vr_uh {
            self.vr_uh = sn + 1;
            self.reassemble_before(self.vr_uh.saturating_sub(self.window));
        }
        self.reassemble_received();
        self.timer = self.timer.filter(|(_, vr_ux)| *vr_ux > self.vr_ur);
        self.start_timer(now);
    }

    /// If it does not run and a PDU is missing before the highest one.
    #[inline]
    fn start_timer(&mut self, now: Time) {
        if self.timer.is_none() && self.vr_uh > self.vr_ur {
            self.timer = Some((now + self.reordering, self.vr_uh));
        }
    }

    /// VR(UR) is then at least `sn`; missing PDUs are given up.
    fn reassemble_before(&mut self, sn: u64) {
        while self.vr_ur < sn {
            self.reassemble();
        }
    }

    /// VR(UR) is then the first PDU that was not received.
    #[inline]
    fn reassemble_received(&mut self) {
        while self.is_received(self.vr_ur) {
            self.reassemble();
        }
    }

    fn is_received(&self, sn: u64) -> bool {
        let pdu = self.pdus.get((sn - self.first) as usize);
        pdu.is_some_and(|pdu| pdu.state == State::Received)
    }

    /// PDU VR(UR) is given up if it was not received.
    #[inline]
    fn reassemble(&mut self) {
        let pdu = &self.pdus[(self.vr_ur - self.first) as usize];
        if pdu.state != State::Received {
            self.stream.lose(&pdu.octets);
        }
        self.stream.deliver_before(pdu.octets.end);
        self.vr_ur += 1;
    }

    /// PDUs that can no longer be reordered.
    #[inline]
    fn release(&mut self) {
        while self.first < self.vr_ur
            && let Some(pdu) = self.pdus.front().filter(|pdu| pdu.state != State::InFlight)
        {
            self.stream.release(pdu.octets.end);
            self.pdus.pop_front();
            self.first += 1;
        }
    }

    pub fn due(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }

    /// TS 36.322, 5.1.2.2.4.
    pub fn on_time(&mut self, now: Time) {
        if let Some((at, vr_ux)) = self.timer
            && at <= now
        {
            self.timer = None;
            self.reassemble_before(vr_ux);
            self.reassemble_received();
            self.start_timer(now);
            self.release();
        }
    }
}
