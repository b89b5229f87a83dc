//! A user alone on its bearer; stored until the simulation time has reached these TTIs.

use std::collections::VecDeque;

use nodeb_base::Blocks;
use nodeb_base::context::{Context, Counted, Sent};
use nodeb_base::event::{Event, Mask, Record};
use nodeb_base::units::Time;

use super::grid::Grid;

/// Equal results are one entry.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    ttis: u64,
    quality: u32,
    sent: Sent,
}

#[derive(Debug, Default)]
pub struct Ahead {
    runs: Vec<Run>,
    /// With the first TTI of each entry; empty unless a listener subscribes to combined blocks.
    blocks: VecDeque<(u64, Blocks)>,
    events: VecDeque<Record>,
}

impl Ahead {
    #[inline]
    pub fn run(&mut self, first: u64, ttis: u64, quality: u32, sent: Sent) {
        self.runs.push(Run { first, ttis, quality, sent });
    }

    /// `tti` is the first of the TTIs stored last.
    #[cold]
    pub fn run_blocks(&mut self, tti: u64, blocks: &Blocks) {
        let joins =
            |(first, last): &mut (u64, Blocks)| *first + u64::from(last.ttis) == tti && last.join(blocks);
        if !self.blocks.back_mut().is_some_and(joins) {
            self.blocks.push_back((tti, *blocks));
        }
    }

    /// Stored instead if `at` is in the future or earlier events are stored.
    pub fn emit(&mut self, ctx: &mut Context, at: Time, event: Event) {
        if at <= ctx.now && self.events.is_empty() {
            ctx.sink.emit(at, event);
        } else if ctx.wants(event.class()) {
            self.events.push_back((at, event));
        }
    }

    #[inline]
    pub fn emit_due(&mut self, ctx: &mut Context, grid: &Grid) {
        let Some(last) = self.runs.last() else {
            let now = ctx.now;
            return emit_events(&mut self.events, ctx, now);
        };
        let are_over = grid.beginning(last.first + last.ttis - 1) <= ctx.now;
        if are_over && !ctx.wants(Mask::TTIS.or(Mask::ANY_BLOCKS)) {
            self.count_all(ctx);
        } else {
            self.emit_begun(ctx, grid);
        }
    }

    /// All must have started, without listeners to their events.
    fn count_all(&mut self, ctx: &mut Context) {
        let (mut ttis, mut all) = (0, Counted::default());
        for run in self.runs.drain(..) {
            ttis += run.ttis;
            all += run.sent.times(run.ttis);
        }
        ctx.count_ttis(ttis, 0, all);
    }

    #[cold]
    fn emit_begun(&mut self, ctx: &mut Context, grid: &Grid) {
        let begun = grid.begun_by(ctx.now);
        let listens = ctx.wants(Mask::TTIS.or(Mask::BLOCKS));
        let (mut emitted, mut counted, mut all) = (0, 0, Counted::default());
        for place in 0..self.runs.len() {
            let Run { first, quality, sent, .. } = self.runs[place];
            let ttis = self.runs[place].ttis.min(begun.saturating_sub(first));
            if listens {
                for tti in first..first + ttis {
                    self.emit_blocks(ctx, grid, tti + 1);
                    let at = grid.beginning(tti);
                    emit_events(&mut self.events, ctx, at);
                    ctx.counts.ttis += 1;
                    ctx.blocks(at, 0, quality, sent);
                }
            } else {
                counted += ttis;
                all += sent.times(ttis);
            }
            let run = &mut self.runs[place];
            run.first += ttis;
            run.ttis -= ttis;
            if run.ttis > 0 {
                break;
            }
            emitted += 1;
        }
        self.runs.drain(..emitted);
        if !listens {
            ctx.count_ttis(counted, 0, all);
        }
        self.emit_blocks(ctx, grid, begun);
        let now = ctx.now;
        emit_events(&mut self.events, ctx, now);
    }

    /// Before TTI `end`, each after the stored events that precede it.
    fn emit_blocks(&mut self, ctx: &mut Context, grid: &Grid, end: u64) {
        while let Some((tti, blocks)) = self.blocks.front_mut().filter(|(tti, _)| *tti < end) {
            let (at, ttis) = (grid.beginning(*tti), end - *tti);
            let due = if ttis < u64::from(blocks.ttis) {
                *tti = end;
                blocks.split(ttis as u32)
            } else {
                let all = *blocks;
                self.blocks.pop_front();
                all
            };
            emit_events(&mut self.events, ctx, at);
            emit_run(ctx, at, 0, due);
        }
    }
}

/// The first is sent at `at`.
pub fn emit_run(ctx: &mut Context, at: Time, user: u32, blocks: Blocks) {
    let bearer = ctx.place.index;
    ctx.sink.emit(at, Event::Run { bearer, user, blocks });
}

/// At or before `by`.
fn emit_events(events: &mut VecDeque<Record>, ctx: &mut Context, by: Time) {
    while let Some(&(at, event)) = events.front().filter(|(at, _)| *at <= by) {
        events.pop_front();
        ctx.sink.emit(at, event);
    }
}
