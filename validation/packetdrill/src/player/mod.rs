//! Player of a script in virtual time.

mod compare;
mod connection;
mod names;
mod negotiated;
mod stamps;

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};
use nodeb_tcp::linux::FIRST_BYTE;

use self::connection::Connection;
use self::negotiated::{Negotiated, READS, Role, WRITES, negotiate};
use crate::expression::{Code, Outcome};
use crate::report::{Difference, Passed, Verdict};
use crate::script::{Action, Call, Event, Packet, Script, When};
use crate::settings::{Settings, tests_counters};

/// packetdrill's default.
const TOLERANCE: Duration = Duration::from_millis(4);
/// The tolerance is at least 1/8 of the time since the previous event (packetdrill's 12.5 %).
const SHARE: u64 = 8;

const MAX_TIMERS: u32 = 1_000_000;
/// Maximum number of memory fragments in a packet of Linux (`MAX_SKB_FRAGS`).
const MAX_PARTS: u32 = 17;
const MAX_BYTES: u64 = 1 << 30;
/// Maximum payload of a segment on an Ethernet without TCP options. A kernel gets larger ones only from
/// packetdrill, or merged by its network card.
const MAX_SEGMENT: u64 = 1_460;

/// `tolerance` replaces the tolerance of packets' times that the script sets; without either it is 4 ms.
pub fn play(script: &Script, tolerance: Option<Duration>) -> Verdict {
    let first = script.events.first().map_or(1, |event| event.line);
    match Player::new(script, tolerance) {
        Ok(mut player) => player.play(script),
        Err((line, what)) => Verdict::NotModelled { line: line.unwrap_or(first), what },
    }
}

enum Stop {
    Differs(Box<Difference>),
    NotModelled(String),
    /// The script closes the connection, which nodeb does not model, so the rest of the script is not played.
    Closed,
}

impl From<String> for Stop {
    fn from(what: String) -> Self {
        Self::NotModelled(what)
    }
}

/// `None` for any time.
type Window = Option<(Time, Time)>;

struct Player {
    settings: Settings,
    tolerance: Duration,
    connection: Connection,
    agreed: Negotiated,
    now: Time,
    /// Time of the previous event of the script, from which the tolerance of the next packet is computed.
    before: Time,
    sent: VecDeque<(Time, Packet)>,
    timers: u32,
    written: u64,
    read: u64,
    largest: u64,
    /// It is needed to detect that Nagle's algorithm would delay data.
    short_end: u64,
    code: Code,
    passed: Passed,
}

impl Player {
    fn new(script: &Script, tolerance: Option<Duration>) -> Result<Self, (Option<usize>, String)> {
        let mut settings = Settings::default();
        for (line, command) in &script.setup {
            settings.command(command).map_err(|what| (Some(*line), what))?;
        }
        let said = |(name, value): &(String, String)| {
            let us = value.parse::<u32>().ok().filter(|_| name == "tolerance_usecs")?;
            Some(Duration(u64::from(us) * 1_000))
        };
        let tolerance = tolerance.or_else(|| script.options.iter().find_map(said)).unwrap_or(TOLERANCE);
        for event in &script.events {
            if let Action::Call(call) = &event.action {
                let changed = match call.name.as_str() {
                    "socket" => Settings::protocol(call),
                    "setsockopt" => settings.socket_option(call),
                    _ => Ok(()),
                };
                changed.map_err(|what| (Some(event.line), what))?;
            }
        }
        let agreed = negotiate(script, &mut settings).map_err(|what| (None, what))?;
        Ok(Self {
            connection: Connection::new(agreed, &settings.tcp),
            settings,
            tolerance,
            agreed,
            now: Time::ZERO,
            before: Time::ZERO,
            sent: VecDeque::new(),
            timers: 0,
            written: 0,
            read: 0,
            largest: 0,
            short_end: 0,
            code: Code::default(),
            passed: Passed::default(),
        })
    }

    fn play(&mut self, script: &Script) -> Verdict {
        for event in &script.events {
            let line = event.line;
            match self.happen(event) {
                Ok(()) => {}
                Err(Stop::Differs(difference)) => return Verdict::Differs(difference),
                Err(Stop::NotModelled(what)) => return Verdict::NotModelled { line, what },
                Err(Stop::Closed) => {
                    self.passed.until = Some(line);
                    break;
                }
            }
        }
        if self.passed.compared() == 0 {
            let line = self.passed.until.or(script.events.last().map(|event| event.line)).unwrap_or(1);
            return Verdict::NotModelled { line, what: "nothing up to here can be compared".to_owned() };
        }
        Verdict::Passed(std::mem::take(&mut self.passed))
    }

    fn happen(&mut self, event: &Event) -> Result<(), Stop> {
        let window = self.window(event.when);
        if let Action::Outbound(packet) = &event.action {
            return self.expect(event, packet, window);
        }
        if let Some((from, _)) = window {
            self.advance(from)?;
        }
        self.before = self.now;
        match &event.action {
            Action::Inbound(packet) => self.take(packet),
            Action::Foreign(what) => Err(Stop::NotModelled(what.clone())),
            Action::Call(call) => self.call(call),
            Action::Command(command) => {
                if tests_counters(command) {
                    self.passed.unchecked.push((event.line, format!("the command `{command}`")));
                }
                Ok(self.settings.command_under_way(command)?)
            }
            Action::Code(text) => self.check(event, text),
            Action::Outbound(_) => Ok(()),
        }
    }

    fn window(&self, when: When) -> Window {
        match when {
            When::Any => None,
            When::Span { relative: true, from, to } => Some((self.now + from, self.now + to)),
            When::Span { from, to, .. } => Some((Time(from.0), Time(to.0))),
        }
    }

    /// Includes the timers that expire at `until`.
    fn advance(&mut self, until: Time) -> Result<(), Stop> {
        while self.expire(until)? {}
        self.now = self.now.max(until);
        Ok(())
    }

    /// Returns true if a timer expired.
    fn expire(&mut self, until: Time) -> Result<bool, Stop> {
        let Some(at) = self.connection.timer().filter(|&at| at <= until) else {
            return Ok(false);
        };
        self.timers += 1;
        if self.timers > MAX_TIMERS {
            return Err(Stop::NotModelled(format!("more than {MAX_TIMERS} timers")));
        }
        self.now = self.now.max(at);
        let out = self.connection.on_timer(self.now);
        self.keep(out);
        Ok(true)
    }

    fn keep(&mut self, out: Vec<Packet>) {
        for packet in out {
            let full = self.connection.info().is_none_or(|info| packet.payload >= info.snd_mss);
            if !full {
                self.short_end = packet.seq + packet.payload;
            }
            self.sent.push_back((self.now, packet));
        }
    }

    fn take(&mut self, packet: &Packet) -> Result<(), Stop> {
        if packet.flags.fin || packet.flags.rst {
            return Err(Stop::Closed);
        }
        self.largest = self.largest.max(packet.payload);
        if packet.flags.syn || packet.flags.ack {
            let out = self.connection.take(self.now, packet)?;
            self.keep(out);
        }
        Ok(())
    }

    fn call(&mut self, call: &Call) -> Result<(), Stop> {
        match call.name.as_str() {
            "close" | "shutdown" => Err(Stop::Closed),
            "connect" if self.agreed.active => {
                let out = self.connection.open(self.now);
                self.keep(out);
                Ok(())
            }
            name if WRITES.contains(&name) => self.write(call),
            name if READS.contains(&name) => {
                self.read += call.result.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, call: &Call) -> Result<(), Stop> {
        for flag in ["MSG_MORE", "MSG_OOB", "MSG_EOR", "MSG_FASTOPEN"] {
            if call.arguments.contains(flag) {
                return Err(Stop::NotModelled(flag.to_owned()));
            }
        }
        if let Some(parts) = parts(call).filter(|&parts| parts > MAX_PARTS) {
            return Err(Stop::NotModelled(format!("a message of {parts} parts")));
        }
        let Some(bytes) = call.result.and_then(|bytes| u64::try_from(bytes).ok()) else {
            return Ok(());
        };
        self.written += bytes;
        if self.written > MAX_BYTES {
            return Err(Stop::NotModelled(format!("more than {MAX_BYTES} B written")));
        }
        if let Some(info) = self.connection.info() {
            let waits = self.short_end > info.bytes_acked + 1 && !self.written.is_multiple_of(info.snd_mss);
            if waits && !self.settings.no_delay {
                return Err(Stop::NotModelled("Nagle's algorithm".to_owned()));
            }
        }
        let out = self.connection.write(self.now, bytes);
        self.keep(out);
        Ok(())
    }

    /// Runs the Python code of an event. Failed assertions end the script as a difference, and code that
    /// cannot be evaluated is counted as unchecked.
    fn check(&mut self, event: &Event, text: &str) -> Result<(), Stop> {
        let (info, options) = (self.connection.info(), self.agreed.options);
        let known = |name: &str| names::value(info.as_ref()?, options, name);
        match self.code.run(text, &known) {
            Outcome::Holds(count) => self.passed.assertions += count,
            Outcome::Unknown(what) => self.passed.unchecked.push((event.line, what)),
            Outcome::Fails(assertion, seen) => {
                let line = event.line + text.lines().position(|line| line.contains(&assertion)).unwrap_or(0);
                return Err(differs(line, assertion, seen, self.now));
            }
        }
        Ok(())
    }

    /// If no packet was sent, expires timers until one is sent or the allowed time ends.
    fn expect(&mut self, event: &Event, packet: &Packet, window: Window) -> Result<(), Stop> {
        if packet.flags.fin || packet.flags.rst {
            return Err(Stop::Closed);
        }
        if packet.payload == 0 && !packet.flags.syn && std::mem::take(&mut self.connection.owes_handshake) {
            return Ok(());
        }
        let slack = self.slack(window);
        let latest = window.map_or(self.now + crate::script::LONGEST, |(_, to)| to + slack);
        while self.sent.is_empty() && self.expire(latest)? {}
        let Some((at, got)) = self.next_sent(packet.payload) else {
            let until = format!("nothing until {:.6} s", latest.as_secs());
            self.limit(packet, None)?;
            return Err(differs(event.line, event.text.clone(), until, latest));
        };
        let in_time = window.is_none_or(|(from, to)| at + slack >= from && at <= to + slack);
        if !in_time || !compare::agrees(packet, &got, &self.agreed) {
            self.limit(packet, Some(&got))?;
            let expected = match window {
                Some((from, _)) if !in_time => format!("{} at {:.6} s", event.text, from.as_secs()),
                _ => event.text.clone(),
            };
            return Err(differs(event.line, expected, format!("{got}"), at));
        }
        let stamps = |packet: &Packet| packet.named_options().timestamps.map(|(value, _)| value);
        if let (Some(theirs), Some(own)) = (stamps(packet), stamps(&got)) {
            self.connection.stamps.note(theirs, own);
        }
        self.passed.packets += u64::from(!packet.flags.syn);
        self.before = window.map_or(self.now, |(from, _)| from);
        Ok(())
    }

    /// Checks whether a limitation of the player explains that nodeb sent `got`, or nothing, instead of
    /// `expected`.
    ///
    /// # Errors
    /// A description of the limitation.
    fn limit(&self, expected: &Packet, got: Option<&Packet>) -> Result<(), String> {
        let is_receiver = matches!(self.agreed.role, Role::Receiver { .. });
        if got.is_some_and(|got| expected.named_options().sack.len() > got.named_options().sack.len().max(3))
        {
            return Err("a fourth SACK block".to_owned());
        }
        if is_receiver && self.largest > MAX_SEGMENT {
            return Err(format!("segments beyond the MTU, here of {} B", self.largest));
        }
        let is_unread = expected.ack.unwrap_or_default().saturating_sub(FIRST_BYTE) > self.read;
        let window = got.map(|got| Packet { window: expected.window, ..got.clone() });
        if self.agreed.role == (Role::Receiver { reads: true })
            && is_unread
            && got.is_some_and(|got| got.window != expected.window)
            && window.is_some_and(|got| compare::agrees(expected, &got, &self.agreed))
        {
            return Err("an application that leaves data unread".to_owned());
        }
        Ok(())
    }

    /// The larger of the fixed tolerance and 1/8 of the time since the previous event.
    fn slack(&self, window: Window) -> Duration {
        let since = window.map_or(0, |(from, _)| from.since(self.before).0);
        Duration(self.tolerance.0.max(since / SHARE))
    }

    /// Takes the first packet sent, together with packets sent at the same time that continue it, up to
    /// `payload` bytes. The kernel shows such packets as one (segmentation offload).
    fn next_sent(&mut self, payload: u64) -> Option<(Time, Packet)> {
        let (at, mut first) = self.sent.pop_front()?;
        while first.payload > 0 && first.payload < payload {
            let end = first.seq + first.payload;
            let follows = |(then, next): &&(Time, Packet)| *then == at && next.payload > 0 && next.seq == end;
            let Some((_, next)) = self.sent.front().filter(follows) else {
                break;
            };
            first.payload += next.payload;
            self.sent.pop_front();
        }
        Some((at, first))
    }
}

/// Such as 3 for `msg_iov(3)`.
fn parts(call: &Call) -> Option<u32> {
    call.arguments.split_once("msg_iov(")?.1.split_once(')')?.0.parse().ok()
}

fn differs(line: usize, expected: String, got: String, at: Time) -> Stop {
    Stop::Differs(Box::new(Difference { line, expected, got, at }))
}
