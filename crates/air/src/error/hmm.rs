//! Hidden Markov model: a chain of N states, each with its own error probability (Rabiner, "A tutorial on
//! hidden Markov models", Proc. IEEE 77(2), 1989, with Bernoulli emissions).

use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::{ErrorGaps, Stream, Streams, uniform};
use nodeb_base::units::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::matrix::{Matrix, power, stationary, times};
use super::{ErrorParams, ErrorProcess};

/// Parameters of a hidden Markov model, whose states have an error probability each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HiddenMarkov {
    /// Probability of each state in the first step. Default: the stationary distribution.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<f64>,
    /// Probabilities of the next state after a step: one row for each present state.
    pub transition: Vec<Vec<f64>>,
    /// Probability of an error in a step, for each state.
    pub error: Vec<Probability>,
}

const MAX_STATES: usize = 64;

/// Sums deviate because numbers in files are rounded.
const TOLERANCE: f64 = 1e-6;

impl Checked for HiddenMarkov {
    fn check(&self, check: &mut Check) {
        let states = self.error.len();
        check.require((1..=MAX_STATES).contains(&states), "error", || {
            format!("{states} states; expected 1 to {MAX_STATES}, each with its error probability")
        });
        let is_square = self.transition.len() == states && self.transition.iter().all(|r| r.len() == states);
        check.require(is_square, "transition", || {
            format!("expected {states} rows of {states} probabilities, as `error` names {states} states")
        });
        for (i, row) in self.transition.iter().enumerate() {
            let problem = not_a_distribution(row);
            check.require(problem.is_none(), "transition", || {
                format!("row {i} {}", problem.unwrap_or_default())
            });
        }
        let problem = not_a_distribution(&self.start).filter(|_| !self.start.is_empty());
        check.require(problem.is_none(), "start", || format!("it {}", problem.unwrap_or_default()));
        check.require(self.start.is_empty() || self.start.len() == states, "start", || {
            format!("{} probabilities for {states} states; expected one each", self.start.len())
        });
        let trap = is_square.then(|| self.trap()).flatten();
        check.require(trap.is_none(), "error", || {
            let state = trap.unwrap_or_default();
            format!("from state {state} every step is an error for ever; expected a transition out of it")
        });
    }
}

/// Error message if `row` is no probability distribution.
fn not_a_distribution(row: &[f64]) -> Option<String> {
    if let Some(p) = row.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Some(format!("has {p}, which is not a probability; expected numbers from 0 to 1"));
    }
    let sum: f64 = row.iter().sum();
    ((sum - 1.0).abs() > TOLERANCE).then(|| format!("sums to {sum}; expected 1"))
}

impl HiddenMarkov {
    fn trap(&self) -> Option<usize> {
        let states = self.error.len();
        let mut free: Vec<bool> = self.error.iter().map(|p| p.0 < 1.0).collect();
        for _ in 0..states {
            for (i, row) in self.transition.iter().enumerate() {
                free[i] |= row.iter().zip(&free).any(|(p, free)| *p > 0.0 && *free);
            }
        }
        free.iter().position(|free| !free)
    }

    fn normalised(&self) -> Matrix {
        let scaled = |row: &Vec<f64>| {
            let sum: f64 = row.iter().sum();
            row.iter().map(|p| p / sum).collect()
        };
        self.transition.iter().map(scaled).collect()
    }

    pub fn shares(&self) -> Vec<f64> {
        let uniform = vec![1.0 / self.error.len() as f64; self.error.len()];
        stationary(&self.normalised(), if self.start.is_empty() { &uniform } else { &self.start })
    }
}

impl ErrorParams for HiddenMarkov {
    fn clean(&self, steps: u32) -> f64 {
        let transition = self.normalised();
        let mut clean = self.shares();
        for step in 0..steps {
            if step > 0 {
                clean = times(&clean, &transition);
            }
            for (share, error) in clean.iter_mut().zip(&self.error) {
                *share *= 1.0 - error.0;
            }
        }
        clean.iter().sum()
    }

    fn build(&self, streams: &Streams, user: u64, _steps: u32) -> Box<dyn ErrorProcess> {
        let stream = |purpose: &str| streams.stream("radio link", user, purpose);
        let transition = self.normalised();
        let gaps = |p: f64, purpose: &str, state: usize| {
            ErrorGaps::new(p.clamp(0.0, 1.0), stream(&format!("errors: {purpose} {state}")))
        };
        let states = transition.iter().zip(&self.error).enumerate();
        let mut draws = stream("errors: states");
        let shares = if self.start.is_empty() { self.shares() } else { self.start.clone() };
        Box::new(HiddenChain {
            state: draw(&mut draws, &shares),
            errors: states.clone().map(|(i, (_, error))| gaps(error.0, "error in", i)).collect(),
            leaves: states.map(|(i, (row, _))| gaps(1.0 - row[i], "leaves", i)).collect(),
            leaps: vec![transition],
            draws,
        })
    }
}

/// Weights need not sum to 1; 0 if all are 0.
fn draw(stream: &mut Stream, weights: &[f64]) -> usize {
    let mut left = uniform(stream) * weights.iter().sum::<f64>();
    let beyond = |weight: &f64| {
        left -= weight;
        left < 0.0
    };
    let found = weights.iter().position(beyond);
    found.or_else(|| weights.iter().rposition(|weight| *weight > 0.0)).unwrap_or(0)
}

/// For each state it draws two numbers: how many steps in this state come before the next error, and how many
/// before the chain leaves the state.
#[derive(Debug)]
pub struct HiddenChain {
    state: usize,
    errors: Vec<ErrorGaps>,
    leaves: Vec<ErrorGaps>,
    /// Over 1, 2, 4, ... steps, computed when first used.
    leaps: Vec<Matrix>,
    draws: Stream,
}

impl ErrorProcess for HiddenChain {
    fn next_is_error(&mut self) -> bool {
        let state = self.state;
        let error = self.errors[state].next_is_error();
        if self.leaves[state].next_is_error() {
            let mut others = self.leaps[0][state].clone();
            others[state] = 0.0;
            self.state = draw(&mut self.draws, &others);
        }
        error
    }

    /// Each binary digit 1 of `steps` takes one draw: digit 2^n uses the transition matrix over 2^n steps.
    fn skip(&mut self, steps: u64) {
        for digit in (0..u64::BITS - steps.leading_zeros()).filter(|digit| steps >> digit & 1 == 1) {
            let leap = power(&mut self.leaps, digit as usize);
            self.state = draw(&mut self.draws, &leap[self.state]);
        }
    }
}
