//! Links of a cell's phones and their frame error rates, by which rates are selected.

use std::collections::BTreeMap;

use super::link::{Conditions, Link};
use super::other_cells::Placement;

/// Links of a cell's phones, with their frame error rates, for the selection of rates.
#[derive(Debug)]
pub struct Cell {
    link: Link,
    placements: Vec<Placement>,
    /// Mean power that each other cell transmits (alpha G), in units of the power of a code of the
    /// basic rate.
    mean_load: f64,
    rates: Vec<u32>,
    /// Frame error rates computed so far, by class of the phone (index) and total rate of the cell
    /// (key).
    cache: Vec<BTreeMap<u32, f64>>,
    /// Class of each phone. Consecutive phones with equal reception conditions have the same class
    /// and share cached frame error rates.
    classes: Vec<usize>,
}

impl Cell {
    /// Creates a cell that may use the rates `rates`, in ascending order. Each other cell transmits
    /// the mean power `mean_load`, in units of the power of a code of the basic rate.
    pub fn new(link: Link, placements: Vec<Placement>, mean_load: f64, rates: Vec<u32>) -> Self {
        let mut classes = Vec::new();
        let mut conditions: Vec<Conditions> = Vec::new();
        for placement in &placements {
            let class = if conditions.last() == Some(&placement.conditions) {
                conditions.len() - 1
            } else {
                conditions.len()
            };
            if class == conditions.len() {
                conditions.push(placement.conditions);
            }
            classes.push(class);
        }
        Self { link, placements, mean_load, rates, cache: vec![BTreeMap::new(); conditions.len()], classes }
    }

    /// Returns the selectable rates in frames per slot, in ascending order.
    pub fn rates(&self) -> &[u32] {
        &self.rates
    }

    /// Returns the placement of each phone, in the order of users.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Returns the frame error rate of a phone. `own_cell` is the total rate of all codes of the cell,
    /// in frames per slot.
    pub fn failure(&mut self, user: usize, own_cell: u32) -> f64 {
        let Self { link, placements, mean_load, cache, classes, .. } = self;
        let calculate = || link.frame_failure(placements[user].conditions, f64::from(own_cell), *mean_load);
        *cache[classes[user]].entry(own_cell).or_insert_with(calculate)
    }

    /// Returns the probability that a phone's frame succeeds. `own_cell` is the total rate of all
    /// codes of the cell, in frames per slot.
    pub fn success(&mut self, user: usize, own_cell: u32) -> f64 {
        1.0 - self.failure(user, own_cell)
    }

    /// Returns the probability that a frame succeeds, averaged over the phones `users`, or 0 if there
    /// are no phones. `own_cell` is the total rate of all codes of the cell, in frames per slot.
    pub fn mean_success(&mut self, users: &[usize], own_cell: u32) -> f64 {
        let sum: f64 = users.iter().map(|user| self.success(*user, own_cell)).sum();
        sum / (users.len() as f64).max(1.0)
    }
}
