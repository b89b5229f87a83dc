//! Discard of packets, and the commands MRW and RESET that inform the phone (TS 25.322, 9.7.3,
//! 11.4, 11.6).
//!
//! A command is retransmitted until the phone answers it or another command replaces it. Not
//! modelled: a limit on these retransmissions (`MaxMRW`, `MaxRST`).

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::pdu::{Command, CommandKind};

/// Discard timers of a sender, and its command that the phone has not answered.
#[derive(Debug)]
pub struct Discard {
    timer: Option<Duration>,
    command_timer: Duration,
    /// Running discard timers, each as the time of its expiry and the number of its packet, in
    /// order of arrival.
    deadlines: VecDeque<(Time, u64)>,
    /// Command that the phone has not answered, and the time of its retransmission, which is `None`
    /// if the command must be sent now. The outer `None` means that there is no such command.
    command: Option<(Command, Option<Time>)>,
    /// Limit beyond which the transmission window must not move: the number of its first PDU when a
    /// command was issued. A command that replaces an unanswered one keeps the limit. `None` if no
    /// command is unanswered.
    window_limit: Option<u64>,
}

impl Discard {
    /// Creates the state of a sender without packets. `timer` is the length of the discard timer,
    /// or `None` if packets are not discarded by age.
    pub fn new(timer: Option<Duration>, command_timer: Duration) -> Self {
        Self { timer, command_timer, deadlines: VecDeque::new(), command: None, window_limit: None }
    }

    /// Starts the discard timer of packet number `packet`, if discard timers are used.
    pub fn start_timer(&mut self, now: Time, packet: u64) {
        if let Some(timer) = self.timer {
            self.deadlines.push_back((now + timer, packet));
        }
    }

    /// Issues a command, while the transmission window starts at PDU `first`. If an earlier command
    /// is unanswered, the new command replaces it, and includes its effect.
    pub fn issue(&mut self, command: Command, first: u64) {
        self.command = Some((command, None));
        self.window_limit.get_or_insert(first);
    }

    /// Returns true if a command must be sent now.
    pub fn has_command(&self) -> bool {
        matches!(self.command, Some((_, None)))
    }

    /// Returns true if the phone has not answered a RESET; data must wait until then.
    pub fn is_resetting(&self) -> bool {
        self.command.is_some_and(|(command, _)| command.kind == CommandKind::Reset)
    }

    /// Returns the number of the PDU beyond which the window must not move until the phone has
    /// acknowledged a command. Returns `None` if no command is unanswered.
    pub fn window_limit(&self) -> Option<u64> {
        self.window_limit
    }

    /// Returns the command that must be sent now, or `None` if there is none. Starts the command's
    /// retransmission timer.
    pub fn take_command(&mut self, now: Time) -> Option<Command> {
        let (command, repeat) = self.command.as_mut().filter(|(_, repeat)| repeat.is_none())?;
        *repeat = Some(now + self.command_timer);
        Some(*command)
    }

    /// Processes the phone's answer to the command `done`. Returns true if this is the unanswered
    /// command, false if the answer is outdated.
    pub fn on_done(&mut self, done: &Command) -> bool {
        let answered = self.command.is_some_and(|(command, _)| command == *done);
        if answered {
            (self.command, self.window_limit) = (None, None);
        }
        answered
    }

    /// Returns the time at which [`Self::on_time`] must be called next, or `None` if no timer runs.
    pub fn next(&self) -> Option<Time> {
        let repeat = self.command.and_then(|(_, repeat)| repeat);
        let deadline = self.deadlines.front().map(|(at, _)| *at);
        repeat.into_iter().chain(deadline).min()
    }

    /// Handles the timers that have expired until `now`. Returns the number of the last packet
    /// whose discard timer has expired, or `None` if no discard timer has.
    pub fn on_time(&mut self, now: Time) -> Option<u64> {
        if let Some((_, repeat)) = &mut self.command
            && repeat.is_some_and(|at| at <= now)
        {
            *repeat = None;
        }
        let mut expired = None;
        while let Some((_, packet)) = self.deadlines.front().filter(|(at, _)| *at <= now) {
            expired = Some(*packet);
            self.deadlines.pop_front();
        }
        expired
    }
}
