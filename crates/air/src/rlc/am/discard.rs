//! MRW and RESET inform the phone of a discard (TS 25.322, 9.7.3, 11.4, 11.6). Not modelled: a limit on their
//! retransmissions (`MaxMRW`, `MaxRST`).

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::pdu::{Command, CommandKind};

#[derive(Debug)]
pub struct Discard {
    timer: Option<Duration>,
    command_timer: Duration,
    /// Expiry and packet, in order of arrival.
    deadlines: VecDeque<(Time, u64)>,
    /// Unanswered command with the time of its retransmission, `None` to send it now.
    command: Option<(Command, Option<Time>)>,
    /// First PDU of the window when a command was issued, beyond which it must not move; a command that
    /// replaces an unanswered one keeps it.
    window_limit: Option<u64>,
}

impl Discard {
    pub fn new(timer: Option<Duration>, command_timer: Duration) -> Self {
        Self { timer, command_timer, deadlines: VecDeque::new(), command: None, window_limit: None }
    }

    pub fn start_timer(&mut self, now: Time, packet: u64) {
        if let Some(timer) = self.timer {
            self.deadlines.push_back((now + timer, packet));
        }
    }

    /// `first` is the start of the window. A new command replaces an unanswered one, and includes its effect.
    pub fn issue(&mut self, command: Command, first: u64) {
        self.command = Some((command, None));
        self.window_limit.get_or_insert(first);
    }

    pub fn has_command(&self) -> bool {
        matches!(self.command, Some((_, None)))
    }

    /// The phone has not answered a RESET; data must wait.
    pub fn is_resetting(&self) -> bool {
        self.command.is_some_and(|(command, _)| command.kind == CommandKind::Reset)
    }

    pub fn window_limit(&self) -> Option<u64> {
        self.window_limit
    }

    /// Starts the command's retransmission timer.
    pub fn take_command(&mut self, now: Time) -> Option<Command> {
        let (command, repeat) = self.command.as_mut().filter(|(_, repeat)| repeat.is_none())?;
        *repeat = Some(now + self.command_timer);
        Some(*command)
    }

    /// False if the answer is outdated.
    pub fn on_done(&mut self, done: &Command) -> bool {
        let answered = self.command.is_some_and(|(command, _)| command == *done);
        if answered {
            (self.command, self.window_limit) = (None, None);
        }
        answered
    }

    pub fn next(&self) -> Option<Time> {
        let repeat = self.command.and_then(|(_, repeat)| repeat);
        let deadline = self.deadlines.front().map(|(at, _)| *at);
        repeat.into_iter().chain(deadline).min()
    }

    /// Last packet whose discard timer has expired.
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
