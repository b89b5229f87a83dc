//! Download between nodeb's TCP sender and receiver over one link, recorded at the sender's interface. The
//! sender's application writes at given times.

use std::collections::VecDeque;

use nodeb_base::units::{Duration, NANOS_PER_S, Size, Time};
use nodeb_tcp::linux::{Info, Linux, Receiver, Sender};
use nodeb_tcp::segment::{HEADER_BYTES, Segment};
use nodeb_tcp::wire::{scaled_window, window_shift};
use nodeb_tcp::{Receiver as _, Sender as _};

use crate::cursor::Cursor;

const LONGEST: Time = Time(300 * NANOS_PER_S);

#[derive(Clone, Debug)]
pub struct Download {
    pub tcp: Linux,
    /// Time, and number of bytes, in ascending order.
    pub writes: Vec<(Duration, u64)>,
    /// bit/s.
    pub rate: u64,
    /// In each direction.
    pub delay: Duration,
    /// Packets, including the one being transmitted.
    pub queue: usize,
    /// Positions in the order of transmission, from 1.
    pub lost: Vec<u64>,
}

impl Default for Download {
    fn default() -> Self {
        Self {
            tcp: Linux { timestamps: false, ..Linux::default() },
            writes: vec![(Duration::ZERO, 100_000)],
            rate: 2_000_000,
            delay: Duration::from_millis(30),
            queue: 100,
            lost: Vec::new(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Step {
    Sent(Time, Segment),
    /// [`Info`] is the sender's state after the ACK was processed.
    Taken(Time, Segment, Info),
    /// [`Info`] is the sender's state after that.
    Written(Time, u64, Info),
}

/// For which the send buffer of a script has room.
pub const MAX_BYTES: u64 = 150_000;

/// Such as `0:20000,2.5:1000`: seconds and bytes.
fn writes(value: &str) -> Option<Vec<(Duration, u64)>> {
    let write = |text: &str| {
        let mut at = Cursor::new(text);
        let time = at.seconds().ok().filter(|time| time.0 < LONGEST.0)?;
        at.need(":").ok()?;
        let bytes = at.number().ok().filter(|&bytes| bytes > 0)?;
        at.is_at_end().then_some((time, bytes))
    };
    let writes = value.split(',').map(write).collect::<Option<Vec<_>>>()?;
    let total = writes.iter().try_fold(0_u64, |sum, write| sum.checked_add(write.1))?;
    (writes.is_sorted_by_key(|write| write.0) && total <= MAX_BYTES).then_some(writes)
}

impl Download {
    pub fn shift(&self) -> u8 {
        window_shift(self.tcp.receive_buffer.0)
    }

    pub fn mss(&self) -> u64 {
        self.tcp.packet_size.0 - u64::from(HEADER_BYTES)
    }

    /// Full segments, and a last one with the rest.
    pub fn parts(&self, bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let mss = self.tcp.mss();
        (0..bytes).step_by(mss as usize).map(move |at| mss.min(bytes - at))
    }

    /// # Errors
    /// If there is no such key, or the value is invalid.
    pub fn set(&mut self, argument: &str) -> Result<(), String> {
        let (key, value) =
            argument.split_once('=').ok_or_else(|| format!("{argument}: expected KEY=VALUE"))?;
        let number = |range: std::ops::RangeInclusive<u64>| {
            let number = value.parse::<u64>().ok().filter(|number| range.contains(number));
            let (least, most) = (range.start(), range.end());
            number.ok_or_else(|| format!("{argument}: expected a whole number from {least} to {most}"))
        };
        match key {
            "bytes" => self.writes = vec![(Duration::ZERO, number(1..=MAX_BYTES)?)],
            "writes" => {
                self.writes = writes(value).ok_or_else(|| {
                    format!("{argument}: expected SECONDS:BYTES with commas between, at most {MAX_BYTES} B in total")
                })?;
            }
            "rate_bps" => self.rate = number(1_000..=1_000_000_000)?,
            "delay_ms" => self.delay = Duration::from_millis(number(0..=10_000)?),
            "queue" => self.queue = number(1..=1_000_000)? as usize,
            "timestamps" => self.tcp.timestamps = number(0..=1)? == 1,
            "packet_size" => self.tcp.packet_size = Size(number(600..=1_500)?),
            "control" => {
                let name = serde_json::Value::String(value.to_owned());
                self.tcp.control =
                    serde_json::from_value(name).map_err(|error| format!("{argument}: {error}"))?;
            }
            "lost" => {
                let lost: Result<_, _> = value.split(',').map(str::parse).collect();
                self.lost = lost.map_err(|_| format!("{argument}: expected numbers with commas between"))?;
            }
            _ => {
                return Err(format!(
                    "{key}: no such key; expected bytes, writes, rate_bps, delay_ms, queue, lost, \
                     control, timestamps or packet_size"
                ));
            }
        }
        Ok(())
    }

    /// The first event is the sender's SYN.
    pub fn run(&self) -> Vec<Step> {
        Run::new(self).run()
    }
}

struct Run<'a> {
    download: &'a Download,
    sender: Sender,
    receiver: Receiver,
    steps: Vec<Step>,
    writes: VecDeque<(Time, u64)>,
    written: u64,
    /// Time at which the link has sent all packets that it has accepted. `waiting` has the time at which each
    /// of these packets leaves the link.
    free: Time,
    waiting: VecDeque<Time>,
    sent: u64,
    /// Sequence number after the highest byte sent.
    end: u64,
    /// Data packets in flight towards the receiver with their times of arrival, and likewise `acks` towards
    /// the sender.
    data: VecDeque<(Time, Segment)>,
    acks: VecDeque<(Time, Segment)>,
}

impl<'a> Run<'a> {
    fn new(download: &'a Download) -> Self {
        let tcp = &download.tcp;
        Self {
            download,
            sender: Sender::new(0, tcp),
            receiver: Receiver::new(0, 0, tcp),
            steps: Vec::new(),
            writes: download.writes.iter().map(|&(at, bytes)| (Time::ZERO + at, bytes)).collect(),
            written: 0,
            free: Time::ZERO,
            waiting: VecDeque::new(),
            sent: 0,
            end: 0,
            data: VecDeque::new(),
            acks: VecDeque::new(),
        }
    }

    fn run(mut self) -> Vec<Step> {
        let mut out = Vec::new();
        self.sender.close();
        self.sender.open(Time::ZERO, &mut out);
        self.send(Time::ZERO, out);
        while !self.writes.is_empty() || !self.sender.is_done() {
            let arrivals = [self.data.front(), self.acks.front()].map(|next| next.map(|&(at, _)| at));
            let timers = [self.sender.timer(), self.receiver.timer()];
            let write = self.writes.front().map(|&(at, _)| at);
            let instants = arrivals.into_iter().chain(timers).chain([write]);
            let Some(now) = instants.flatten().min().filter(|&at| at < LONGEST) else {
                break;
            };
            self.happen(now);
            if self.is_buffer_limited() {
                let last = self.steps.iter().rposition(|step| matches!(step, Step::Taken(..)));
                self.steps.truncate(last.unwrap_or_default());
                break;
            }
        }
        self.steps
    }

    /// Returns true if the send buffer, and not the window, keeps data back. A script that writes
    /// all data at once cannot show this case, so the recording ends there.
    fn is_buffer_limited(&self) -> bool {
        let info = self.sender.info();
        let in_flight = (info.unacked + info.retrans).saturating_sub(info.sacked + info.lost);
        info.notsent_bytes == 0 && self.end <= self.written && in_flight < info.cwnd && info.unacked > 0
    }

    /// Writes first, then timers.
    fn happen(&mut self, now: Time) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        let mut out = Vec::new();
        if let Some(&(at, bytes)) = self.writes.front()
            && at <= now
        {
            self.writes.pop_front();
            self.written += bytes;
            for part in self.download.parts(bytes) {
                self.sender.write(now, part, &mut out);
            }
            self.steps.push(Step::Written(now, bytes, self.sender.info()));
        } else if due(self.sender.timer()) {
            self.sender.on_timer(now, &mut out);
        } else if due(self.receiver.timer()) {
            let ack = self.receiver.on_timer(now);
            self.answer(now, ack);
        } else if due(self.data.front().map(|&(at, _)| at)) {
            let segment = self.data.pop_front();
            let ack = segment.and_then(|(_, segment)| self.receiver.on_segment(now, &segment));
            self.answer(now, ack);
        } else if let Some((_, ack)) = self.acks.pop_front() {
            self.sender.on_ack(now, &ack, &mut out);
            self.steps.push(Step::Taken(now, ack, self.sender.info()));
        }
        self.send(now, out);
    }

    /// The window of the ACK is rounded as the window field of a header requires.
    fn answer(&mut self, now: Time, ack: Option<Segment>) {
        let shift = self.download.shift();
        self.acks.extend(ack.map(|ack| {
            let window = u32::from(scaled_window(ack.window.into(), shift)) << shift;
            (now + self.download.delay, Segment { window, ..ack })
        }));
    }

    fn send(&mut self, now: Time, out: Vec<Segment>) {
        for segment in out {
            self.steps.push(Step::Sent(now, segment));
            if segment.is_data() {
                self.sent += 1;
                let payload = segment.size - self.download.tcp.header_bytes();
                self.end = self.end.max(segment.seq + u64::from(payload));
            }
            while self.waiting.front().is_some_and(|&at| at <= now) {
                self.waiting.pop_front();
            }
            let lost = segment.is_data() && self.download.lost.contains(&self.sent);
            if !lost && self.waiting.len() < self.download.queue {
                let takes = u64::from(segment.size) * 8 * NANOS_PER_S / self.download.rate;
                self.free = self.free.max(now) + Duration(takes);
                self.waiting.push_back(self.free);
                self.data.push_back((self.free + self.download.delay, segment));
            }
        }
    }
}
