//! Results of TTIs that have not begun yet.

use nodeb_base::context::{Context, Counted, Sent};

use super::grid::Grid;

/// TTIs with equal results.
#[derive(Clone, Copy, Debug)]
struct Run {
    ttis: u64,
    sent: Sent,
}

/// Of a user alone on its bearer; counted when the simulation time has reached these TTIs, which end before
/// [`Grid::next`].
#[derive(Debug, Default)]
pub struct Ahead {
    runs: Vec<Run>,
}

impl Ahead {
    #[inline]
    pub fn count(&mut self, ttis: u64, sent: Sent) {
        self.runs.push(Run { ttis, sent });
    }

    #[inline]
    pub fn catch_up(&mut self, ctx: &mut Context, grid: &Grid) {
        if self.runs.is_empty() {
            return;
        }
        if grid.beginning(grid.next - 1) > ctx.now {
            return self.count_begun(ctx, grid);
        }
        let (mut ttis, mut all) = (0, Counted::default());
        for run in self.runs.drain(..) {
            ttis += run.ttis;
            all += run.sent.times(run.ttis);
        }
        ctx.count_ttis(ttis, 0, all);
    }

    #[cold]
    fn count_begun(&mut self, ctx: &mut Context, grid: &Grid) {
        let ahead = grid.next - grid.begun_by(ctx.now);
        let mut begun = self.runs.iter().map(|run| run.ttis).sum::<u64>() - ahead;
        self.runs.retain_mut(|run| {
            let ttis = run.ttis.min(begun);
            ctx.count_ttis(ttis, 0, run.sent.times(ttis));
            begun -= ttis;
            run.ttis -= ttis;
            run.ttis > 0
        });
    }
}
