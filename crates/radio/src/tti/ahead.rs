//! TTIs that have been run ahead of time, until their time has come and they are told.

use std::collections::VecDeque;

use super::grid::Grid;
use crate::context::{Context, Sent};
use crate::event::{Event, Record};
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
    events: VecDeque<Record>,
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
        let Self { runs, events } = self;
        while let Some(run) = runs.front_mut()
            && grid.beginning(run.first) <= ctx.now
        {
            let at = grid.beginning(run.first);
            tell_events(events, ctx, at);
            ctx.tti(at, run.user, run.quality, run.sent);
            run.first += 1;
            run.ttis -= 1;
            if run.ttis == 0 {
                runs.pop_front();
            }
        }
        let now = ctx.now;
        tell_events(events, ctx, now);
    }
}

/// Tells the events that have happened by a time.
#[inline]
fn tell_events(events: &mut VecDeque<Record>, ctx: &mut Context, by: Time) {
    while let Some(&(at, event)) = events.front().filter(|(at, _)| *at <= by) {
        events.pop_front();
        ctx.sink.emit(at, event);
    }
}
