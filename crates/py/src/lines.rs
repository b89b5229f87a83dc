//! Conversion of text files with lines of numbers to numpy arrays.

use nodeb_base::lines;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Parses the entries of `text`: its lines of numbers, without empty lines and comments. Skips the first
/// `skip` entries. Returns one array for each column. Raises a `ValueError` with line number and message for an
/// invalid entry, or if more than `most` entries follow the skipped ones.
#[pyfunction]
pub fn read_numbers<'py>(
    py: Python<'py>,
    text: &[u8],
    skip: usize,
    most: usize,
) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
    let found = py.detach(|| lines::numbers(text, skip, most));
    let found = found.map_err(|invalid| PyValueError::new_err((invalid.line, invalid.message)))?;
    Ok(found.into_iter().map(|list| PyArray1::from_vec(py, list)).collect())
}

/// Returns the first `most` entries of a text, each as its line number and its words. Empty lines and
/// comments are no entries.
#[pyfunction]
pub fn first_entries(text: &[u8], most: usize) -> Vec<(usize, Vec<String>)> {
    let word = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let shown = |(line, entry): (usize, &[u8])| (line, lines::words(entry).map(word).collect());
    lines::entries(text).take(most).map(shown).collect()
}

/// Returns the line number of entry number `entry` (from 0) of a text, or `None` if the text has fewer
/// entries. Empty lines and comments are no entries.
#[pyfunction]
pub fn line_of_entry(text: &[u8], entry: usize) -> Option<usize> {
    lines::entries(text).nth(entry).map(|(line, _)| line)
}
