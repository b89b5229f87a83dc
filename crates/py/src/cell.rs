use nodeb_air::cell::map::Map;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{ScenarioError, guarded};
use crate::scenario::CompiledScenario;

/// Computes the mean SNR of the served cells of a scenario on a grid of `side` by `side` points (at
/// least 2 by 2). Returns a dict of three arrays. `snr_db` is the SNR in dB, row by row from south
/// to north, NaN outside the cells. `axis_m` has the coordinates of the points in metres, the same
/// along both axes. `sites_m` has x and y of each site in metres, one site after the other.
#[pyfunction]
pub fn cell_map<'py>(
    py: Python<'py>,
    scenario: &Bound<'py, CompiledScenario>,
    side: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let scenario = scenario.get().inner();
    let Some((cell, served)) = scenario.radio.cell() else {
        let message =
            format!("radio: a {} has no cell to map; expected `hsdpa` or `lte`", scenario.radio.key());
        return Err(ScenarioError::new_err(message));
    };
    let draw = || Map::new(&cell, served, side);
    let map = py.detach(|| guarded(|| "a map of a cell".to_owned(), draw))?;
    let found = PyDict::new(py);
    found.set_item("axis_m", PyArray1::from_vec(py, map.axis_m))?;
    found.set_item("snr_db", PyArray1::from_vec(py, map.snr_db))?;
    found.set_item("sites_m", PyArray1::from_vec(py, map.sites_m.concat()))?;
    Ok(found)
}
