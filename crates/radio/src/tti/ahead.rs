//! TTIs that have been run ahead of time for a user alone on its bearer, until their time has come and
//! they are told.

use std::collections::VecDeque;

use super::grid::Grid;
use crate::context::{Context, Counted, Sent};
use crate::event::{Event, Mask, Record};
use crate::units::Time;

/// TTIs in a row that were alike.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    ttis: u64,
    quality: u32,
    sent: Sent,
    /// The first PDU of those that are plain: new blocks without error, each with so many PDUs.
    plain: Option<(u64, u32)>,
}

impl Run {
    /// Tells its next TTIs, if they are plain.
    fn tell_plain(&mut self, ctx: &mut Context, at: Time, ttis: u64) {
        if let Some((pdu, per_block)) = &mut self.plain {
            let (bearer, units) = (ctx.place.index, self.sent.units);
            let (block, per_block, ttis) = (*pdu, *per_block, ttis as u32);
            ctx.sink.emit(at, Event::Run { bearer, user: 0, block, units, per_block, ttis });
            *pdu += u64::from(ttis) * u64::from(units);
        }
    }
}

/// What has been run and not yet told.
#[derive(Debug, Default)]
pub struct Ahead {
    runs: Vec<Run>,
    events: VecDeque<Record>,
}

impl Ahead {
    /// So many TTIs from number `first` on have gone to the user, each with what was `sent`.
    #[inline]
    pub fn run(&mut self, first: u64, ttis: u64, quality: u32, sent: Sent) {
        self.runs.push(Run { first, ttis, quality, sent, plain: None });
    }

    /// The same of TTIs that are plain: all blocks are new, from PDU `pdu` on, and without error.
    #[inline]
    pub fn run_plain(&mut self, first: u64, ttis: u64, sent: Sent, plain: (u64, u32)) {
        self.runs.push(Run { first, ttis, quality: 0, sent, plain: Some(plain) });
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
        let Some(last) = self.runs.last() else {
            let now = ctx.now;
            return tell_events(&mut self.events, ctx, now);
        };
        let are_over = grid.beginning(last.first + last.ttis - 1) <= ctx.now;
        if are_over && !ctx.wants(Mask::TTIS.or(Mask::ANY_BLOCKS)) {
            self.count_all(ctx);
        } else {
            self.tell_some(ctx, grid);
        }
    }

    /// Counts TTIs that are over, and of which nobody wants to hear.
    fn count_all(&mut self, ctx: &mut Context) {
        let (mut ttis, mut all) = (0, Counted::default());
        for run in self.runs.drain(..) {
            ttis += run.ttis;
            all += run.sent.times(run.ttis);
        }
        ctx.count_ttis(ttis, 0, all);
    }

    #[cold]
    fn tell_some(&mut self, ctx: &mut Context, grid: &Grid) {
        let begun = grid.begun_by(ctx.now);
        let (listens, hears_runs) = (ctx.wants(Mask::TTIS.or(Mask::BLOCKS)), ctx.wants(Mask::RUNS));
        let mut told = 0;
        for run in &mut self.runs {
            let ttis = run.ttis.min(begun.saturating_sub(run.first));
            if hears_runs && ttis > 0 {
                let at = grid.beginning(run.first);
                tell_events(&mut self.events, ctx, at);
                run.tell_plain(ctx, at, ttis);
            }
            if listens {
                for tti in run.first..run.first + ttis {
                    let at = grid.beginning(tti);
                    tell_events(&mut self.events, ctx, at);
                    ctx.counts.ttis += 1;
                    ctx.blocks(at, 0, run.quality, run.sent);
                }
            } else {
                ctx.count_ttis(ttis, 0, run.sent.times(ttis));
            }
            run.first += ttis;
            run.ttis -= ttis;
            if run.ttis > 0 {
                break;
            }
            told += 1;
        }
        self.runs.drain(..told);
        let now = ctx.now;
        tell_events(&mut self.events, ctx, now);
    }
}

/// Tells the events that have happened by a time.
fn tell_events(events: &mut VecDeque<Record>, ctx: &mut Context, by: Time) {
    while let Some(&(at, event)) = events.front().filter(|(at, _)| *at <= by) {
        events.pop_front();
        ctx.sink.emit(at, event);
    }
}
