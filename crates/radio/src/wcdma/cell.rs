use std::collections::BTreeMap;

use super::link::{Conditions, Link};
use super::other_cells::Placement;

#[derive(Debug)]
pub struct Cell {
    link: Link,
    placements: Vec<Placement>,
    /// Of each other cell (alpha G), in powers of a code of the basic rate.
    mean_load: f64,
    rates: Vec<u32>,
    /// Frame error rates by class of the phone and total rate of the cell.
    cache: Vec<BTreeMap<u32, f64>>,
    /// Consecutive phones with equal conditions share a class.
    classes: Vec<usize>,
}

impl Cell {
    /// `rates` in ascending order; `mean_load` in powers of a code of the basic rate.
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

    /// In frames per slot, in ascending order.
    pub fn rates(&self) -> &[u32] {
        &self.rates
    }

    /// In the order of users.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Frame error rate; `own_cell` is the total rate of all codes, in frames per slot.
    pub fn failure(&mut self, user: usize, own_cell: u32) -> f64 {
        let Self { link, placements, mean_load, cache, classes, .. } = self;
        let calculate = || link.frame_failure(placements[user].conditions, f64::from(own_cell), *mean_load);
        *cache[classes[user]].entry(own_cell).or_insert_with(calculate)
    }

    /// 1 minus the frame error rate.
    pub fn success(&mut self, user: usize, own_cell: u32) -> f64 {
        1.0 - self.failure(user, own_cell)
    }

    /// Averaged over `users`, 0 without phones.
    pub fn mean_success(&mut self, users: &[usize], own_cell: u32) -> f64 {
        let sum: f64 = users.iter().map(|user| self.success(*user, own_cell)).sum();
        sum / (users.len() as f64).max(1.0)
    }
}
