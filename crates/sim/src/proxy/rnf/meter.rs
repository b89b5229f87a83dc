//! The RNC's part of radio network feedback: it measures and tells.
//!
//! Every interval it takes the bytes that the phone could have been sent in it, whether or not they
//! were there (`fiorenzi`, III.B), and sends their rate to the proxy with the number of packets that
//! wait. Messages have a delay of their own and may be lost.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};
use nodeb_net::loss::Loss;

/// What the RNC tells the proxy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Message {
    /// Mean bandwidth over the last interval, in bytes of packets per second.
    pub bandwidth: f64,
    /// Packets that wait for the phone.
    pub queue: usize,
}

/// Messages of one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterCounts {
    /// Messages sent.
    pub sent: u64,
    /// Those that were lost.
    pub lost: u64,
}

/// Measures for one connection. It is told what the bearer says and keeps the messages under way.
#[derive(Debug)]
pub struct Meter {
    interval: Duration,
    delay: Duration,
    loss: Loss,
    /// When to look next, and what had been available when it last looked.
    next: Option<Time>,
    before: Option<f64>,
    under_way: VecDeque<(Time, Message)>,
    /// What has been sent.
    pub counts: MeterCounts,
}

impl Meter {
    /// A meter that has not begun.
    pub fn new(interval: Duration, delay: Duration, loss: Loss) -> Self {
        let (next, before, under_way) = (None, None, VecDeque::new());
        Self { interval, delay, loss, next, before, under_way, counts: MeterCounts::default() }
    }

    /// The connection begins at `at`: the first interval does.
    pub fn start(&mut self, at: Time) {
        self.next = Some(at);
    }

    /// The connection is over.
    pub fn stop(&mut self) {
        self.next = None;
        self.under_way.clear();
    }

    /// When something is due: a look at the bearer or a message's arrival.
    pub fn timer(&self) -> Option<Time> {
        let arrival = self.under_way.front().map(|(at, _)| *at);
        [self.next, arrival].into_iter().flatten().min()
    }

    /// Whether the bearer must be looked at.
    pub fn is_due(&self, now: Time) -> bool {
        self.next.is_some_and(|at| at <= now)
    }

    /// The bearer says that `available` bytes could have been sent by now, and that `queue` packets wait.
    pub fn look(&mut self, now: Time, available: Option<f64>, queue: usize) {
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
            self.under_way.push_back((now + self.delay, message));
        }
    }

    /// The next message that has arrived.
    pub fn arrived(&mut self, now: Time) -> Option<Message> {
        self.under_way.front().filter(|(at, _)| *at <= now)?;
        self.under_way.pop_front().map(|(_, message)| message)
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
    fn each_message_is_the_mean_of_its_interval() {
        let mut meter = meter(100, 30, Loss::Never);
        // Nothing can be said before the first interval is over.
        assert!(meter.is_due(ms(5)));
        meter.look(ms(5), Some(1_000.0), 7);
        assert_eq!((meter.timer(), meter.counts.sent), (Some(ms(105)), 0));
        meter.look(ms(105), Some(3_000.0), 8);
        assert_eq!(meter.timer(), Some(ms(135)));
        assert_eq!((meter.arrived(ms(134)), meter.is_due(ms(135))), (None, false));
        assert_eq!(meter.arrived(ms(135)), Some(Message { bandwidth: 20_000.0, queue: 8 }));
        meter.look(ms(205), Some(3_000.0), 0);
        assert_eq!(meter.arrived(ms(235)), Some(Message { bandwidth: 0.0, queue: 0 }));
        meter.stop();
        assert_eq!(meter.timer(), None);
    }

    #[test]
    fn messages_overtake_neither_each_other_nor_the_next_look() {
        let mut meter = meter(10, 25, Loss::listed(vec![1]));
        let mut arrivals = Vec::new();
        while let Some(at) = meter.timer().filter(|at| *at < ms(80)) {
            if meter.is_due(at) {
                meter.look(at, Some(at.as_secs() * at.as_secs()), 0);
            }
            while let Some(message) = meter.arrived(at) {
                arrivals.push((at.0 / 1_000_000, (message.bandwidth * 1e3).round()));
            }
        }
        // The mean slope of t^2 between 5 + 10 k and 15 + 10 k ms is 20 + 20 k ms; the second is lost.
        assert_eq!(arrivals, [(40, 20.0), (60, 60.0), (70, 80.0)]);
        assert_eq!(meter.counts, MeterCounts { sent: 7, lost: 1 });
    }

    #[test]
    fn what_cannot_be_measured_is_not_told() {
        let mut meter = meter(10, 0, Loss::Never);
        meter.look(ms(5), None, 3);
        meter.look(ms(15), None, 3);
        assert_eq!((meter.counts.sent, meter.arrived(ms(15))), (0, None));
    }
}
