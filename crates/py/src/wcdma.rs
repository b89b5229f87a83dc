//! Functions of the WCDMA downlink's link model, for calls from Python. They take plain numbers, or a
//! compiled scenario whose radio is `wcdma`.

use nodeb_air::UserRadio;
use nodeb_base::rng::Streams;
use nodeb_radio::RadioSpec;
use nodeb_radio::wcdma::other_cells::OtherCellsSpec;
use nodeb_radio::wcdma::sinr::Interference;
use nodeb_radio::wcdma::{Wcdma, ber, frame, sinr};
use nodeb_sim::Scenario;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::scenario::CompiledScenario;

/// Returns the average signal to interference and noise ratio (linear) of a propagation path that has the share `path`
/// of the received power. See [`sinr::sinr`] for the formula.
#[pyfunction]
pub fn wcdma_sinr(path: f64, own_cell: f64, other_cells: f64, spreading: f64, eb_n0: f64) -> f64 {
    sinr::sinr(path, Interference { own_cell, other_cells }, spreading, eb_n0)
}

/// Returns the bit error rate over propagation paths whose mean signal-to-noise ratios are `gammas` (linear).
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "extracted from a Python list")]
pub fn wcdma_ber(gammas: Vec<f64>) -> f64 {
    ber::paths(&gammas)
}

/// Returns two probabilities for a frame of `bits` bits with the bit error rate `ber`: that at most
/// `correctable` bits are wrong, and that more are wrong.
#[pyfunction]
pub fn wcdma_frame(ber: f64, bits: u32, correctable: u32) -> (f64, f64) {
    (frame::success(ber, bits, correctable), frame::failure(ber, bits, correctable))
}

/// Returns the number of check bits of a code of `bits` bits that corrects `correctable` errors, or None if no data
/// bits would be left.
#[pyfunction]
pub fn wcdma_check_bits(bits: u32, correctable: u32) -> Option<u32> {
    frame::check_bits(bits, correctable)
}

/// Returns the share of the received power on each propagation path in the power delay profile of a
/// scenario.
#[pyfunction]
pub fn wcdma_shares(scenario: &Bound<'_, CompiledScenario>) -> PyResult<Vec<f64>> {
    Ok(radio(scenario.get().inner())?.profile.shares())
}

/// Lists of values, one list for each number of connections from 1 on.
type PerCount<T> = Vec<Vec<T>>;

/// Returns the rates in frames per slot, the frame error rates, and alpha, the mean rate of the
/// other cells in frames per slot. The rates and error rates have one list for each number of
/// active connections from 1 to `most`, of users numbered from 0. `most` may exceed the number of users of
/// the scenario.
#[pyfunction]
pub fn wcdma_rates(
    py: Python<'_>,
    scenario: &Bound<'_, CompiledScenario>,
    most: u64,
    seed: u64,
    run: u64,
) -> PyResult<(PerCount<u32>, PerCount<f64>, f64)> {
    let radio = radio(scenario.get().inner())?;
    Ok(py.detach(|| {
        let users: Vec<UserRadio> = (0..most).map(|id| UserRadio { id, ..UserRadio::default() }).collect();
        let (mut cell, alpha) = radio.cell(&users, &Streams::new(seed, run));
        let (mut rates, mut failures) = (Vec::new(), Vec::new());
        for n in 1..=users.len() {
            let active: Vec<usize> = (0..n).collect();
            let mut selected = Vec::new();
            radio.selection.select(&mut cell, &active, &mut selected);
            let own_cell = selected.iter().sum();
            failures.push(active.iter().map(|user| cell.failure(*user, own_cell)).collect());
            rates.push(selected);
        }
        (rates, failures, alpha)
    }))
}

/// Returns the interference factor of the `mean` model of other cells that is equivalent to a
/// scenario's `map` model, averaged over `places` random phone positions. For a scenario with the
/// `mean` model, returns the factor of that model.
#[pyfunction]
pub fn wcdma_mean_factor(
    py: Python<'_>,
    scenario: &Bound<'_, CompiledScenario>,
    places: u32,
) -> PyResult<f64> {
    match &radio(scenario.get().inner())?.other_cells {
        OtherCellsSpec::Mean(mean) => Ok(mean.factor),
        OtherCellsSpec::Map(map) => Ok(py.detach(|| map.mean_factor(places))),
    }
}

fn radio(scenario: &Scenario) -> PyResult<&Wcdma> {
    match &scenario.radio {
        RadioSpec::Wcdma(params) => Ok(params),
        other => {
            Err(PyValueError::new_err(format!("the scenario's radio is `{}`; expected `wcdma`", other.key())))
        }
    }
}
