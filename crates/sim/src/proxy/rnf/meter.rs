//! `fiorenzi`, III.B: in every interval, the bytes that could have been sent to the phone if data had always
//! been waiting, and the packets that wait, go to the proxy in a message.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};
use nodeb_net::loss::Loss;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// Over the last interval, in bytes of IP packets per second.
    pub bandwidth: f64,
    /// At the RNC or Node B, when the interval ends.
    pub queue: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterCounts {
    /// With lost ones.
    pub sent: u64,
    pub lost: u64,
}

#[derive(Debug)]
pub struct Meter {
    interval: Duration,
    delay: Duration,
    loss: Loss,
    /// `None` before the start and after the stop.
    next: Option<Time>,
    /// Bytes up to the previous sample; `None` before the first, or if the bearer did not measure it.
    before: Option<f64>,
    /// With times of arrival.
    in_flight: VecDeque<(Time, Message)>,
    pub counts: MeterCounts,
}

impl Meter {
    /// Messages arrive after `delay`.
    pub fn new(interval: Duration, delay: Duration, loss: Loss) -> Self {
        let (next, before, in_flight) = (None, None, VecDeque::new());
        Self { interval, delay, loss, next, before, in_flight, counts: MeterCounts::default() }
    }

    /// The beginning of the connection.
    pub fn start(&mut self, at: Time) {
        self.next = Some(at);
    }

    /// Messages in flight are discarded.
    pub fn stop(&mut self) {
        self.next = None;
        self.in_flight.clear();
    }

    /// Next sample or arrival of a message.
    pub fn timer(&self) -> Option<Time> {
        let arrival = self.in_flight.front().map(|(at, _)| *at);
        [self.next, arrival].into_iter().flatten().min()
    }

    pub fn is_due(&self, now: Time) -> bool {
        self.next.is_some_and(|at| at <= now)
    }

    /// `available` bytes could have been sent since the start of the run, `None` if the bearer does not
    /// measure it; no message at the first sample, or if either is `None`.
    pub fn sample(&mut self, now: Time, available: Option<f64>, queue: usize) {
        self.next = Some(now + self.interval);
        if let (Some(before), Some(available)) = (self.before, available) {
            let bandwidth = (available - before) / self.interval.as_secs();
            self.send(now, Message { bandwidth, queue });
        }
        self.before = available;
    }

    fn send(&mut self, now: Time, message: Message) {
        let position = self.counts.sent;
        self.counts.sent += 1;
        if self.loss.loses(position, false) {
            self.counts.lost += 1;
        } else {
            self.in_flight.push_back((now + self.delay, message));
        }
    }

    pub fn arrived(&mut self, now: Time) -> Option<Message> {
        self.in_flight.front().filter(|(at, _)| *at <= now)?;
        self.in_flight.pop_front().map(|(_, message)| message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn meter(interval_ms: u64, delay_ms: u64, loss: Loss) -> Meter {
        let mut meter = Meter::new(Duration::from_millis(interval_ms), Duration::from_millis(delay_ms), loss);
        meter.start(ms(5));
        meter
    }

    #[test]
    fn message_reports_the_mean_of_its_interval() {
        let mut meter = meter(100, 30, Loss::Never);
        // No message is sent before the first interval is over.
        assert!(meter.is_due(ms(5)));
        meter.sample(ms(5), Some(1_000.0), 7);
        assert_eq!((meter.timer(), meter.counts.sent), (Some(ms(105)), 0));
        meter.sample(ms(105), Some(3_000.0), 8);
        assert_eq!(meter.timer(), Some(ms(135)));
        assert_eq!((meter.arrived(ms(134)), meter.is_due(ms(135))), (None, false));
        assert_eq!(meter.arrived(ms(135)), Some(Message { bandwidth: 20_000.0, queue: 8 }));
        meter.sample(ms(205), Some(3_000.0), 0);
        assert_eq!(meter.arrived(ms(235)), Some(Message { bandwidth: 0.0, queue: 0 }));
        meter.stop();
        assert_eq!(meter.timer(), None);
    }

    #[test]
    fn messages_arrive_in_order_with_their_delay() {
        let mut meter = meter(10, 25, Loss::listed(vec![1]));
        let mut arrivals = Vec::new();
        while let Some(at) = meter.timer().filter(|at| *at < ms(80)) {
            if meter.is_due(at) {
                meter.sample(at, Some(at.as_secs() * at.as_secs()), 0);
            }
            while let Some(message) = meter.arrived(at) {
                arrivals.push((at.0 / 1_000_000, (message.bandwidth * 1e3).round()));
            }
        }
        // The available bytes are t^2, so message k (from 0) reports the mean slope of t^2 between 5 + 10 k and
        // 15 + 10 k ms, which is 20 + 20 k thousandths. Message 1 is lost.
        assert_eq!(arrivals, [(40, 20.0), (60, 60.0), (70, 80.0)]);
        assert_eq!(meter.counts, MeterCounts { sent: 7, lost: 1 });
    }

    #[test]
    fn no_message_without_a_measurement() {
        let mut meter = meter(10, 0, Loss::Never);
        meter.sample(ms(5), None, 3);
        meter.sample(ms(15), None, 3);
        assert_eq!((meter.counts.sent, meter.arrived(ms(15))), (0, None));
    }
}
