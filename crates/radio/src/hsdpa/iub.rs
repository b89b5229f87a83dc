//! TS 25.435, 5.9 (capacity request), 5.10 (capacity allocation) and 6.3.3: CAPACITY ALLOCATION frames state
//! how much data the RNC may send for a user. In this model the Node B checks its queues periodically and
//! allocates their free capacity, minus earlier allocations and data in flight. Not modelled: headers of the
//! frame protocol, capacity requests of the RNC, and loss on the Iub.

use nodeb_base::params;
use std::collections::VecDeque;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Size, Time};

use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::umts::payload::Payload;

params! {
    /// Iub between RNC and Node B, with its flow control.
    ///
    /// Defaults: those of EURANE, that is, credits every 15 TTIs, a round trip of 30 ms, and 250
    /// PDUs of 40 octets in the Node B. This number of PDUs limits a user to 1.33 Mbps.
    pub struct Iub {
        /// One-way delay between RNC and Node B.
        pub delay: Duration = Duration::from_millis(15),
        /// Rate of the link from RNC to Node B, shared by all users. Default: unlimited, frames take no time.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate: Option<Rate>,
        /// Time between two allocations of credits by the Node B, in whole TTIs.
        pub period: Duration = Duration::from_millis(30),
        /// Capacity of a user's queue at the Node B.
        pub room: Size = Size(10_000),
    }
}

impl Iub {
    /// `portion`, the least that the RNC sends at a time, must fit in a user's queue.
    pub fn check_with(&self, portion: Size, numerology: Numerology, check: &mut Check) {
        let tti = numerology.tti;
        check.at_most("delay", self.delay, Duration::from_secs(10));
        check.require(
            self.period.0 > 0
                && self.period.0.is_multiple_of(tti.0)
                && self.period <= Duration::from_secs(10),
            "period",
            || {
                format!(
                    "{} is not a number of whole TTIs; expected {tti}, {}, ... 10 s",
                    self.period,
                    Duration(2 * tti.0)
                )
            },
        );
        check.require(self.rate.is_none_or(|rate| rate.0 >= 1_000), "rate", || {
            format!("{} is out of range; expected at least 1 kbps", self.rate.unwrap_or_default())
        });
        check.require(self.room >= portion, "room", || {
            format!("{} is too small for a PDU; expected at least {portion}", self.room)
        });
    }
}

impl Checked for Iub {
    fn check(&self, check: &mut Check) {
        self.check_with(Size(1), Numerology::HSDPA, check);
    }
}

pub trait Endpoints {
    /// At most `most` units; the units taken.
    fn take(&mut self, now: Time, user: usize, most: u64) -> u64;
    fn put(&mut self, user: usize, units: u64);
}

#[derive(Clone, Copy, Debug)]
struct Account {
    credits: u64,
    /// Units in the Node B's queue, credits at the RNC, and units and credits in flight; an allocation raises
    /// it to the queue's capacity.
    counted: u64,
}

/// Arrival time, user and units.
type InFlight = VecDeque<(Time, usize, u64)>;

#[derive(Debug)]
pub struct FlowControl {
    numerology: Numerology,
    delay: Duration,
    rate: Option<Rate>,
    unit_bits: u64,
    /// Rounded down to whole nanoseconds.
    free_at: Time,
    /// Rounded off in `free_at`, in units of 1 / `rate` nanoseconds.
    remainder: u64,
    period: u64,
    limit: u64,
    accounts: Vec<Account>,
    allocations: InFlight,
    frames: InFlight,
    /// Users with free capacity at the Node B that is not allocated.
    short: Vec<usize>,
    /// Frames without an event yet, with the times of sending; `None` without a listener.
    pub recorded: Option<Vec<(Time, Frame)>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub user: usize,
    /// PDUs or octets.
    pub units: u64,
    /// At the Node B.
    pub arrives: Time,
}

impl FlowControl {
    /// Each user starts with credits for its whole queue.
    pub fn new(params: &Iub, payload: Payload, users: usize, numerology: Numerology) -> Self {
        let limit = payload.units_for(params.room.0).max(1);
        Self {
            numerology,
            delay: params.delay,
            rate: params.rate,
            unit_bits: u64::from(payload.unit_bits()),
            free_at: Time::ZERO,
            remainder: 0,
            period: numerology.ttis(params.period).max(1),
            limit,
            accounts: vec![Account { credits: limit, counted: limit }; users],
            allocations: VecDeque::new(),
            frames: VecDeque::new(),
            short: Vec::new(),
            recorded: None,
        }
    }

    pub fn forward(&mut self, now: Time, user: usize, ends: &mut impl Endpoints) {
        let credits = &mut self.accounts[user].credits;
        if *credits == 0 {
            return;
        }
        let units = ends.take(now, user, *credits);
        if units > 0 {
            *credits -= units;
            let sent = self.transmit(now, units);
            self.frames.push_back((sent + self.delay, user, units));
            if let Some(recorded) = &mut self.recorded {
                recorded.push((now, Frame { user, units, arrives: sent + self.delay }));
            }
        }
    }

    /// Time at which the last bit is sent.
    fn transmit(&mut self, now: Time, units: u64) -> Time {
        let Some(Rate(rate)) = self.rate else {
            return now;
        };
        if self.free_at < now {
            (self.free_at, self.remainder) = (now, 0);
        }
        let bits = u128::from(units) * u128::from(self.unit_bits * NANOS_PER_S) + u128::from(self.remainder);
        self.free_at += Duration((bits / u128::from(rate)) as u64);
        self.remainder = (bits % u128::from(rate)) as u64;
        self.free_at
    }

    pub fn sent(&mut self, user: usize, units: u64) {
        let account = &mut self.accounts[user];
        if account.counted == self.limit && units > 0 {
            self.short.push(user);
        }
        account.counted -= units;
    }

    pub fn run(&mut self, now: Time, ends: &mut impl Endpoints) {
        while let Some(&(at, user, units)) = self.allocations.front().filter(|(at, ..)| *at <= now) {
            self.allocations.pop_front();
            self.accounts[user].credits += units;
            self.forward(at, user, ends);
        }
        while let Some(&(_, user, units)) = self.frames.front().filter(|(at, ..)| *at <= now) {
            self.frames.pop_front();
            ends.put(user, units);
        }
    }

    /// Only if an allocation period starts with TTI `tti`.
    pub fn allocate(&mut self, tti: u64, now: Time) {
        if !tti.is_multiple_of(self.period) {
            return;
        }
        for user in self.short.drain(..) {
            let account = &mut self.accounts[user];
            self.allocations.push_back((now + self.delay, user, self.limit - account.counted));
            account.counted = self.limit;
        }
    }

    /// An event is the arrival of an allocation at the RNC, the first start of a TTI at or after the arrival
    /// of a frame at the Node B, or an allocation in TTI `next` or a later TTI.
    pub fn next(&self, next: u64) -> Option<Time> {
        let on_grid = |at: Time| self.numerology.beginning(self.numerology.first_from(at));
        let allocation = self.allocations.front().map(|(at, ..)| *at);
        let frame = self.frames.front().map(|(at, ..)| on_grid(*at));
        let looks =
            (!self.short.is_empty()).then(|| self.numerology.beginning(next.next_multiple_of(self.period)));
        [allocation, frame, looks].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PDUS: Payload = Payload { pdu_bytes: 40, segmented: false, block_header_bits: 21 };

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[derive(Default)]
    struct Pdus {
        rnc: u64,
        node_b: u64,
    }

    impl Endpoints for Pdus {
        fn take(&mut self, _: Time, _: usize, most: u64) -> u64 {
            let units = self.rnc.min(most);
            self.rnc -= units;
            units
        }

        fn put(&mut self, _: usize, units: u64) {
            self.node_b += units;
        }
    }

    /// `waiting` PDUs arrive at the RNC at the time `at`.
    fn begin(params: &Iub, at: Time, waiting: u64) -> (FlowControl, Pdus) {
        let mut control = FlowControl::new(params, PDUS, 1, Numerology::HSDPA);
        let mut pdus = Pdus { rnc: waiting, node_b: 0 };
        control.forward(at, 0, &mut pdus);
        (control, pdus)
    }

    /// TTIs from `from` to before `to`, with up to `rate` PDUs each; the PDUs sent.
    fn advance(control: &mut FlowControl, pdus: &mut Pdus, from: u64, to: u64, rate: u64) -> u64 {
        let mut sent = 0;
        for tti in from..to {
            control.run(Numerology::HSDPA.beginning(tti), pdus);
            control.allocate(tti, Numerology::HSDPA.beginning(tti));
            let now = rate.min(pdus.node_b);
            pdus.node_b -= now;
            sent += now;
            control.sent(0, now);
        }
        sent
    }

    /// 600 PDUs arrive at once. 250 leave the RNC at 0 ms and arrive at 15 ms, for TTI 8; they are sent after
    /// TTI 10, so the allocation of 30 ms lets the next 250 leave at 45 ms and arrive at 60 ms.
    #[test]
    fn credits_are_exhausted_and_renewed() {
        let (mut control, mut pdus) = begin(&Iub::default(), Time::ZERO, 600);
        assert_eq!(advance(&mut control, &mut pdus, 0, 8, 100), 0);
        assert_eq!(advance(&mut control, &mut pdus, 8, 30, 100), 250);
        assert_eq!(control.accounts[0].credits, 0);
        assert_eq!(advance(&mut control, &mut pdus, 30, 33, 100), 250);
        // The queue is empty from 66 ms on, but the next allocation is only in TTI 45, at 90 ms.
        assert_eq!(control.next(33), Some(ms(90)));
        assert_eq!(advance(&mut control, &mut pdus, 33, 60, 100), 0);
        assert_eq!(advance(&mut control, &mut pdus, 60, 75, 100), 100);
    }

    /// The queue of 250 PDUs of 40 octets is filled once in 60 ms, the rate limit known from EURANE.
    #[test]
    fn capacity_and_two_periods_limit_the_rate() {
        let (mut control, mut pdus) = begin(&Iub::default(), Time::ZERO, 1_000_000);
        let sent = advance(&mut control, &mut pdus, 0, 30_000, 76);
        let rate = sent as f64 * 320.0 / 60.0;
        assert!((rate / (250.0 * 320.0 / 0.06) - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn an_idle_user_keeps_its_credits() {
        let (mut control, mut pdus) = begin(&Iub::default(), Time::ZERO, 0);
        advance(&mut control, &mut pdus, 0, 100, 10);
        pdus.rnc = 3;
        control.forward(ms(201), 0, &mut pdus);
        assert_eq!(control.next(101), Some(ms(216)));
        assert_eq!(advance(&mut control, &mut pdus, 101, 109, 10), 3);
    }

    /// At 333.33 kbit/s, 3 PDUs of 336 bits take 3.024 ms, 2 PDUs 2.016 ms.
    #[test]
    fn frames_are_sent_one_after_the_other() {
        let params = Iub { rate: Some(Rate(1_000_000_000 / 3_000)), ..Iub::default() };
        let mut control = FlowControl::new(&params, PDUS, 2, Numerology::HSDPA);
        let at = ms(10);
        control.forward(at, 0, &mut Pdus { rnc: 3, node_b: 0 });
        control.forward(at, 1, &mut Pdus { rnc: 2, node_b: 0 });
        let arrivals: Vec<u64> = control.frames.iter().map(|(at, ..)| at.0 / 1_000).collect();
        assert_eq!(arrivals, [28_024, 30_040]);
        control.forward(ms(100), 0, &mut Pdus { rnc: 1, node_b: 0 });
        assert_eq!(control.frames.back().map(|(at, ..)| at.0 / 1_000), Some(116_008));
    }
}
