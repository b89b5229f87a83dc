//! The cell as rate selection sees it: who has which link, and what a frame's chances are.

use std::collections::BTreeMap;

use super::link::{Conditions, Link};
use super::other_cells::Placement;

/// The links of a cell's phones.
#[derive(Debug)]
pub struct Cell {
    link: Link,
    placements: Vec<Placement>,
    /// Mean power of another cell, alpha G.
    mean_load: f64,
    rates: Vec<u32>,
    /// Frame error rates already known, by placement class and by what the cell sends.
    known: Vec<BTreeMap<u32, f64>>,
    /// The class of each phone: phones with the same link share what is known.
    classes: Vec<usize>,
}

impl Cell {
    /// A cell that may use `rates`, lowest first, while each other cell sends `mean_load` in the mean.
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
        Self { link, placements, mean_load, rates, known: vec![BTreeMap::new(); conditions.len()], classes }
    }

    /// The rates that may be used, lowest first.
    pub fn rates(&self) -> &[u32] {
        &self.rates
    }

    /// Where the phones are.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// Frame error rate of a phone when the cell sends the rates `own_cell` in all.
    pub fn failure(&mut self, user: usize, own_cell: u32) -> f64 {
        let Self { link, placements, mean_load, known, classes, .. } = self;
        let calculate = || link.frame_failure(placements[user].conditions, f64::from(own_cell), *mean_load);
        *known[classes[user]].entry(own_cell).or_insert_with(calculate)
    }

    /// One less that.
    pub fn success(&mut self, user: usize, own_cell: u32) -> f64 {
        1.0 - self.failure(user, own_cell)
    }

    /// Mean of that over some phones; 0 over none.
    pub fn mean_success(&mut self, users: &[usize], own_cell: u32) -> f64 {
        let sum: f64 = users.iter().map(|user| self.success(*user, own_cell)).sum();
        sum / (users.len() as f64).max(1.0)
    }
}
