use nodeb_base::params;
use std::num::NonZeroU32;

use nodeb_base::check::Checked;
use nodeb_base::registry;

use super::cell::Cell;
use super::rates;

registry! {
    /// Rate selection, as a scenario names it.
    "rate selection" SelectionSpec = OneStep {
        /// The same rate for all connections, the one with the highest throughput (`hossain`).
        "one_step" => OneStep(OneStepSelection),
        /// An individual rate for each connection, raised step by step where throughput grows most.
        "per_user" => PerUser(PerUser),
        /// The same constant rate for all connections.
        "fixed" => Fixed(FixedRate),
    }
}

nodeb_base::no_parameters! {
    /// Empty set of parameters of the one-step search.
    OneStepSelection
}

params! {
    /// Parameters of individual rates, which are raised step by step where throughput grows most.
    #[derive(Eq)]
    pub struct PerUser {
        /// Largest sum of the rates of all connections, that is, the cell's power for data in units
        /// of a code of the basic rate. Each connection has at least the lowest rate, even beyond
        /// this limit.
        pub power: NonZeroU32 = NonZeroU32::new(32).expect("a positive constant"),
    }
}

impl Checked for PerUser {}

params! {
    /// Parameters of a constant rate, which all connections use.
    #[derive(Eq)]
    pub struct FixedRate {
        /// Rate of every connection in frames per slot; must be one of `rates`.
        pub frames: NonZeroU32 = NonZeroU32::MIN,
    }
}

impl Checked for FixedRate {}

impl SelectionSpec {
    /// In the order of `active`.
    pub fn select(&self, cell: &mut Cell, active: &[usize], rates: &mut Vec<u32>) {
        let n = active.len() as u32;
        rates.clear();
        match self {
            Self::Fixed(params) => rates.resize(active.len(), params.frames.get()),
            Self::OneStep(_) => {
                let all = cell.rates().to_vec();
                let rate = rates::one_step(&all, n, |x| cell.mean_success(active, x));
                rates.resize(active.len(), rate);
            }
            Self::PerUser(params) => one_by_one(cell, active, params.power.get(), rates),
        }
    }
}

/// From the lowest rate for all, each step raises the rate with the highest resulting throughput, while it
/// fits in the power; the best of the compared rates is stored.
fn one_by_one(cell: &mut Cell, active: &[usize], power: u32, rates: &mut Vec<u32>) {
    let steps = cell.rates().to_vec();
    let mut level = vec![0usize; active.len()];
    let mut spent = steps[0] * active.len() as u32;
    let mut best = (throughput(cell, active, &steps, &level, spent), level.clone());
    while let Some(user) = next_step(cell, active, &steps, &level, spent, power) {
        spent += steps[level[user] + 1] - steps[level[user]];
        level[user] += 1;
        let now = throughput(cell, active, &steps, &level, spent);
        if now > best.0 {
            best = (now, level.clone());
        }
    }
    rates.extend(best.1.iter().map(|level| steps[*level]));
}

/// Index in `active`; `None` if no rate can be raised within the power.
fn next_step(
    cell: &mut Cell,
    active: &[usize],
    steps: &[u32],
    level: &[usize],
    spent: u32,
    power: u32,
) -> Option<usize> {
    let (mut best, mut rest) = (None, (spent, 0.0));
    for (i, user) in active.iter().enumerate() {
        let Some(higher) = steps.get(level[i] + 1) else { continue };
        let step = higher - steps[level[i]];
        if spent + step > power {
            continue;
        }
        if rest.0 != spent + step {
            rest = (spent + step, throughput(cell, active, steps, level, spent + step));
        }
        let total = rest.1 + f64::from(step) * cell.success(*user, spent + step);
        if best.is_none_or(|(most, _)| total > most) {
            best = Some((total, i));
        }
    }
    best.map(|(_, i)| i)
}

/// Equation 1, if connection `active[i]` has the rate `steps[level[i]]`; `own_cell` is the total rate of all
/// codes.
fn throughput(cell: &mut Cell, active: &[usize], steps: &[u32], level: &[usize], own_cell: u32) -> f64 {
    let pairs = active.iter().zip(level);
    rates::throughput(pairs.map(|(user, level)| (steps[*level], 1.0 - cell.success(*user, own_cell))))
}
