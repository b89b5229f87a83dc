//! One thread reads the clock, processes due events, writes arrived packets to their devices, accepts new
//! ones at the times at which they were read, and sleeps. It never spins, so it can run under `SCHED_FIFO`
//! without reaching the kernel's limit for real-time threads.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use nodeb_base::units::Time;
use nodeb_sim::Scenario;
use nodeb_sim::metrics::RunResult;
use rustix::event::epoll;

use crate::clock::{Clock, Timer};
use crate::error::{Result, system};
use crate::exchange::{End, Exchange};
use crate::lateness::Lateness;
use crate::port::{Port, Read};
use crate::report::Report;
use crate::watch::{Status, Watch};

const BATCH: usize = 16;

/// Work that bearers defer during a sleep would delay the next real packet more.
const MAX_SLEEP: u64 = 1_000_000_000;

/// Minimum interval between two status updates, ns.
const PUBLISH_INTERVAL: u64 = 200_000_000;

const TIMER: u64 = u64::MAX;
const STOP: u64 = u64::MAX - 1;

/// Of the duration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub duration: Option<Time>,
}

struct Driver<'a> {
    exchange: Exchange,
    ports: Vec<Port>,
    /// It may have more packets to read.
    ready: Vec<bool>,
    clock: Clock,
    timer: Timer,
    epoll: OwnedFd,
    watch: &'a Watch,
    late: Lateness,
    busy: Lateness,
    wakes: u64,
    published: Time,
}

/// Runs an emulation until `watch` stops it or its duration is over. `devices` has the server's device first,
/// then one for each phone. Simulated time starts at 0 with this call.
///
/// # Errors
/// Returns an error if a system call or the simulation fails.
pub fn drive(
    exchange: Exchange,
    scenario: &Scenario,
    devices: Vec<OwnedFd>,
    limits: Limits,
    watch: &Watch,
) -> Result<(Report, RunResult)> {
    let mut driver = Driver::new(exchange, devices, watch)?;
    let end = limits.duration.unwrap_or(Time(u64::MAX));
    while !watch.is_stopped() && driver.clock.now() < end {
        driver.turn(end)?;
    }
    driver.finish(scenario)
}

impl<'a> Driver<'a> {
    fn new(exchange: Exchange, devices: Vec<OwnedFd>, watch: &'a Watch) -> Result<Self> {
        let ports = devices.into_iter().map(Port::new).collect::<Result<Vec<_>>>()?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system("wait for devices"))?;
        let clock = Clock::default();
        let timer = Timer::new(&clock)?;
        // The timer stays readable after it expires until it is read or armed again. Edge-triggered, it wakes
        // the driver only once.
        let edge = epoll::EventFlags::IN | epoll::EventFlags::ET;
        let add = |fd: rustix::fd::BorrowedFd<'_>, data, flags| {
            epoll::add(&epoll, fd, epoll::EventData::new_u64(data), flags)
                .map_err(system("wait for a device"))
        };
        add(timer.as_fd(), TIMER, edge)?;
        add(watch.stop_event(), STOP, epoll::EventFlags::IN)?;
        for (number, port) in (0..).zip(&ports) {
            add(port.as_fd(), number, epoll::EventFlags::IN)?;
        }
        let ready = vec![false; ports.len()];
        let (late, busy) = (Lateness::default(), Lateness::default());
        let (published, wakes) = (Time::ZERO, 0);
        Ok(Self { exchange, ports, ready, clock, timer, epoll, watch, late, busy, wakes, published })
    }

    fn turn(&mut self, end: Time) -> Result<()> {
        let begun = self.clock.now();
        self.exchange.advance(begun)?;
        self.deliver();
        for number in 0..self.ports.len() {
            if self.ready[number] {
                self.accept(number)?;
            }
        }
        let now = self.clock.now();
        self.busy.add(now.0 - begun.0);
        if now.0 >= self.published.0 + PUBLISH_INTERVAL {
            self.published = now;
            if let Some(recorder) = self.exchange.recorder() {
                recorder.flush();
            }
            self.publish(now);
        }
        self.sleep(now, end)
    }

    /// Reads at most [`BATCH`] packets, so that due events do not wait for long.
    fn accept(&mut self, number: usize) -> Result<()> {
        let from = number.checked_sub(1).map_or(End::Server, End::Phone);
        for _ in 0..BATCH {
            let Some(slot) = self.exchange.slot() else {
                return self.refuse(number);
            };
            let read = self.ports[number].read(self.exchange.bytes_mut(slot))?;
            match read {
                Read::Packet(bytes) => {
                    self.exchange.accept(self.clock.now(), from, slot, bytes)?;
                    self.deliver();
                    continue;
                }
                Read::TooLong => self.exchange.refused().too_long += 1,
                Read::Nothing => self.ready[number] = false,
                Read::Gone => {
                    // The owner of the network namespace removed this device, so the driver stops watching it; the
                    // other devices continue.
                    let _ = epoll::delete(&self.epoll, &self.ports[number]);
                    self.ready[number] = false;
                }
            }
            self.exchange.give_back(slot);
            if read != Read::TooLong {
                break;
            }
        }
        Ok(())
    }

    /// No memory is left, as on a flooded host.
    fn refuse(&mut self, number: usize) -> Result<()> {
        let mut discarded = [0; 64];
        match self.ports[number].read(&mut discarded)? {
            Read::Nothing | Read::Gone => self.ready[number] = false,
            Read::Packet(_) | Read::TooLong => self.exchange.refused().no_memory += 1,
        }
        Ok(())
    }

    fn deliver(&mut self) {
        while let Some(arrival) = self.exchange.take() {
            let number = if let End::Phone(phone) = arrival.to { phone + 1 } else { 0 };
            if !self.ports[number].write(self.exchange.packet(&arrival)) {
                self.exchange.refused().unwritten += 1;
            }
            let late = self.clock.now().0.saturating_sub(arrival.at.0);
            self.late.add(late);
            self.exchange.handed_over(&arrival, late);
        }
    }

    /// At most [`MAX_SLEEP`]; not if an event is due or a device may have more packets.
    fn sleep(&mut self, now: Time, end: Time) -> Result<()> {
        let due = self.exchange.next().unwrap_or(end).min(end).min(Time(now.0 + MAX_SLEEP));
        let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let busy = self.ready.contains(&true) || due <= now;
        if !busy {
            self.timer.set(due)?;
        }
        let mut events =
            [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }; 16];
        let found = match epoll::wait(&self.epoll, &mut events[..], busy.then_some(&at_once)) {
            Err(rustix::io::Errno::INTR) => 0,
            other => other.map_err(system("wait"))?,
        };
        for event in &events[..found] {
            match event.data.u64() {
                TIMER => self.timer.expired(),
                STOP => {}
                number => self.ready[number as usize] = true,
            }
        }
        self.wakes += u64::from(!busy);
        Ok(())
    }

    fn publish(&mut self, now: Time) {
        let phones = self.exchange.phones();
        let sum = |of: fn(&crate::report::PhoneReport) -> u64| phones.iter().map(of).sum();
        let delays = phones.iter().map(|it| it.down.delay.mean_s() * it.down.delay.count() as f64);
        let snapshots = self.exchange.series().snapshots();
        let cqis = || snapshots.iter().filter_map(|it| it.cqi);
        self.watch.publish(&Status {
            time_s: now.as_secs(),
            down_packets: sum(|it| it.down.arrived.packets),
            down_bytes: sum(|it| it.down.arrived.bytes),
            up_bytes: sum(|it| it.up.arrived.bytes),
            lost: sum(|it| it.down.all_lost() + it.up.all_lost()),
            waiting: self.exchange.waiting() as u64,
            queued_down: snapshots.iter().map(|it| it.down.packets as u64).sum(),
            queued_up: snapshots.iter().map(|it| it.up.packets as u64).sum(),
            cqi: f64::from(cqis().sum::<f32>()) / cqis().count() as f64,
            delays_s: delays.sum(),
            late_s: self.late.quantile_s(0.99),
        });
    }

    fn finish(mut self, scenario: &Scenario) -> Result<(Report, RunResult)> {
        let now = self.clock.now();
        self.exchange.advance(now)?;
        self.deliver();
        self.publish(now);
        let waiting = self.exchange.waiting();
        let memory = self.exchange.memory();
        let unrecorded = self.exchange.finish_recording().err();
        let (phones, refused, series, result) = self.exchange.finish(scenario)?;
        let report = Report {
            lasted: Duration::from_nanos(now.0),
            slept: self.clock.slept(),
            phones,
            refused,
            late: self.late,
            busy: self.busy,
            waiting,
            wakes: self.wakes,
            memory,
            series,
            unrecorded,
        };
        Ok((report, result))
    }
}
