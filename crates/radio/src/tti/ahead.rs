//! TTIs that have been run ahead of time, until their time has come and they are told.

use std::collections::VecDeque;

use super::grid::Grid;
use crate::context::{Context, Sent};
use crate::event::Event;
use crate::units::Time;

/// TTIs in a row that were alike.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    ttis: u64,
    user: usize,
    quality: u32,
    sent: Sent,
}

/// What has been run and not yet told.
#[derive(Debug, Default)]
pub struct Ahead {
    runs: VecDeque<Run>,
    events: VecDeque<(Time, Event)>,
}

impl Ahead {
    /// So many TTIs from number `first` on have gone to a user, each with what was `sent`.
    #[inline]
    pub fn run(&mut self, first: u64, ttis: u64, user: usize, quality: u32, sent: Sent) {
        self.runs.push_back(Run { first, ttis, user, quality, sent });
    }

    /// Something happens `at`, which may be later than now.
    pub fn emit(&mut self, ctx: &mut Context, at: Time, event: Event) {
        if at <= ctx.now && self.events.is_empty() {
            ctx.sink.emit(at, event);
        } else if ctx.wants(event.class()) {
            self.events.push_back((at, event));
        }
    }

    /// Tells what has happened by now.
    #[inline]
    pub fn tell(&mut self, ctx: &mut Context, grid: &Grid) {
        while let Some(run) = self.runs.front_mut()
            && grid.beginning(run.first) <= ctx.now
        {
            let at = grid.beginning(run.first);
            while let Some((at, event)) = self.events.pop_front_if(|(told, _)| *told <= at) {
                ctx.sink.emit(at, event);
            }
            ctx.tti(at, run.user, run.quality, run.sent);
            run.first += 1;
            run.ttis -= 1;
            if run.ttis == 0 {
                self.runs.pop_front();
            }
        }
        while let Some((at, event)) = self.events.pop_front_if(|(at, _)| *at <= ctx.now) {
            ctx.sink.emit(at, event);
        }
    }
}
