//! Discard of packets, and the commands by which the phone learns of it (TS 25.322, 9.7.3, 11.4,
//! 11.6). A command is repeated until it has been answered. Left out: giving up after a number of
//! them (`MaxMRW`, `MaxRST`).

use std::collections::VecDeque;

use nodeb_base::units::{Duration, Time};

use super::pdu::{Command, CommandKind};

/// The sender's discard timers and commands.
#[derive(Debug)]
pub struct Discard {
    timer: Option<Duration>,
    command_timer: Duration,
    /// When each packet is discarded, in the order in which they came.
    deadlines: VecDeque<(Time, u64)>,
    /// The command that has not been answered, and when it is sent again; `None` when it is to be
    /// sent now.
    command: Option<(Command, Option<Time>)>,
    /// Where the window stood when the first unanswered command was given.
    held: Option<u64>,
}

impl Discard {
    /// With a timer for packets, if they have one, and one for commands.
    pub fn new(timer: Option<Duration>, command_timer: Duration) -> Self {
        Self { timer, command_timer, deadlines: VecDeque::new(), command: None, held: None }
    }

    /// Starts a packet's timer.
    pub fn watch(&mut self, now: Time, packet: u64) {
        if let Some(timer) = self.timer {
            self.deadlines.push_back((now + timer, packet));
        }
    }

    /// Has a command sent, the window beginning at PDU `first`. A command that was there before said
    /// less.
    pub fn give(&mut self, command: Command, first: u64) {
        self.command = Some((command, None));
        self.held.get_or_insert(first);
    }

    /// Whether a command is to be sent now.
    pub fn has_command(&self) -> bool {
        matches!(self.command, Some((_, None)))
    }

    /// Whether data has to wait for a reset.
    pub fn is_resetting(&self) -> bool {
        self.command.is_some_and(|(command, _)| command.kind == CommandKind::Reset)
    }

    /// The PDU that the window must not leave behind before the phone has moved its own.
    pub fn window_held_at(&self) -> Option<u64> {
        self.held
    }

    /// The command to be sent now.
    pub fn take_command(&mut self, now: Time) -> Option<Command> {
        let (command, repeat) = self.command.as_mut().filter(|(_, repeat)| repeat.is_none())?;
        *repeat = Some(now + self.command_timer);
        Some(*command)
    }

    /// A command has been carried out; whether it was the one waited for.
    pub fn on_done(&mut self, done: &Command) -> bool {
        let answered = self.command.is_some_and(|(command, _)| command == *done);
        if answered {
            (self.command, self.held) = (None, None);
        }
        answered
    }

    /// When [`Self::on_time`] must be called next.
    pub fn next(&self) -> Option<Time> {
        let repeat = self.command.and_then(|(_, repeat)| repeat);
        let deadline = self.deadlines.front().map(|(at, _)| *at);
        repeat.into_iter().chain(deadline).min()
    }

    /// Does what is due; returns the last packet whose time is over.
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
