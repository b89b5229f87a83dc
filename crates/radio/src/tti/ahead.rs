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
    /// Whether the new blocks in each of them are told in runs.
    has_new: bool,
}

/// New blocks of a TTI.
#[derive(Clone, Copy, Debug)]
pub struct New {
    /// The first PDU.
    pub pdu: u64,
    /// PDUs in all of them.
    pub units: u32,
    /// PDUs in one.
    pub per_block: u32,
    /// Bit `n` says that block number `n` has failed.
    pub failed: u32,
}

impl Run {
    /// Whether another that has new blocks goes on where this one ends, and is like it.
    fn goes_on(&self, mine: &New, next: &Self, new: &New) -> bool {
        // Where all that is sent is new and good, nothing was told of single blocks.
        let is_plain = |sent: Sent, new: &New| sent.failed == 0 && sent.units == new.units;
        self.first + self.ttis == next.first
            && (self.sent, self.quality, mine.per_block) == (next.sent, next.quality, new.per_block)
            && is_plain(next.sent, new)
            && is_plain(self.sent, mine)
            && mine.pdu + self.ttis * u64::from(mine.units) == new.pdu
    }
}

impl New {
    /// They were sent in a TTI, and others like them in those after it.
    pub fn event(&self, ctx: &Context, user: u32, ttis: u32) -> Event {
        let &Self { pdu: block, units, per_block, failed } = self;
        Event::Run { bearer: ctx.place.index, user, block, units, per_block, ttis, failed }
    }

    /// Tells that.
    pub fn tell(&self, ctx: &mut Context, at: Time, user: u32, ttis: u32) {
        let event = self.event(ctx, user, ttis);
        ctx.sink.emit(at, event);
    }
}

/// What has been run and not yet told.
#[derive(Debug, Default)]
pub struct Ahead {
    runs: Vec<Run>,
    /// The new blocks of those runs that have them, in order.
    new: Vec<New>,
    events: VecDeque<Record>,
}

impl Ahead {
    /// So many TTIs from number `first` on have gone to the user, each with what was `sent`.
    #[inline]
    pub fn run(&mut self, first: u64, ttis: u64, quality: u32, sent: Sent) {
        self.runs.push(Run { first, ttis, quality, sent, has_new: false });
    }

    /// The same of one TTI whose new blocks are told in runs.
    #[cold]
    pub fn run_new(&mut self, tti: u64, quality: u32, sent: Sent, new: New) {
        let run = Run { first: tti, ttis: 1, quality, sent, has_new: true };
        if let (Some(last), Some(mine)) = (self.runs.last_mut(), self.new.last())
            && last.has_new
            && last.goes_on(mine, &run, &new)
        {
            last.ttis += 1;
        } else {
            self.runs.push(run);
            self.new.push(new);
        }
    }

    /// New blocks, which are told in runs, are all that was sent in the TTIs that were run last.
    #[cold]
    pub fn tell_last(&mut self, new: New) {
        if let Some(last) = self.runs.last_mut() {
            last.has_new = true;
            self.new.push(new);
        }
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
        let Self { runs, new, events } = self;
        let begun = grid.begun_by(ctx.now);
        let listens = ctx.wants(Mask::TTIS.or(Mask::BLOCKS));
        let (mut told, mut told_new) = (0, 0);
        let (mut counted, mut all) = (0, Counted::default());
        for run in runs.iter_mut() {
            let ttis = run.ttis.min(begun.saturating_sub(run.first));
            if run.has_new && ttis > 0 {
                let at = grid.beginning(run.first);
                let new = &mut new[told_new];
                tell_events(events, ctx, at);
                new.tell(ctx, at, 0, ttis as u32);
                new.pdu += ttis * u64::from(new.units);
            }
            if listens {
                for tti in run.first..run.first + ttis {
                    let at = grid.beginning(tti);
                    tell_events(events, ctx, at);
                    ctx.counts.ttis += 1;
                    ctx.blocks(at, 0, run.quality, run.sent);
                }
            } else {
                counted += ttis;
                all += run.sent.times(ttis);
            }
            run.first += ttis;
            run.ttis -= ttis;
            if run.ttis > 0 {
                break;
            }
            told += 1;
            told_new += usize::from(run.has_new);
        }
        runs.drain(..told);
        new.drain(..told_new);
        if !listens {
            ctx.count_ttis(counted, 0, all);
        }
        let now = ctx.now;
        tell_events(events, ctx, now);
    }
}

/// Tells the events that have happened by a time.
fn tell_events(events: &mut VecDeque<Record>, ctx: &mut Context, by: Time) {
    while let Some(&(at, event)) = events.front().filter(|(at, _)| *at <= by) {
        events.pop_front();
        ctx.sink.emit(at, event);
    }
}
