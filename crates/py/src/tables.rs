//! A run's results as columns: numpy arrays, and lists for text.

use std::collections::HashMap;

use nodeb_sim::table::{Table, Text, Values};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Tables by name, each a dict of its columns.
pub fn all(py: Python<'_>, tables: Vec<Table>) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for column in table.columns {
            columns.set_item(column.name, values(py, column.values)?)?;
        }
        found.set_item(table.name, columns)?;
    }
    Ok(found)
}

fn values(py: Python<'_>, values: Values) -> PyResult<Bound<'_, PyAny>> {
    Ok(match values {
        Values::U64(values) => PyArray1::from_vec(py, values).into_any(),
        Values::U32(values) => PyArray1::from_vec(py, values).into_any(),
        Values::F64(values) => PyArray1::from_vec(py, values).into_any(),
        Values::F32(values) => PyArray1::from_vec(py, values).into_any(),
        Values::Bool(values) => PyArray1::from_vec(py, values).into_any(),
        Values::Text(values) => texts(py, &values)?.into_any(),
    })
}

/// The columns of a table; one of texts as an array of numbers and the list of the texts that these are places in.
pub fn coded(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for column in table.columns {
        match column.values {
            Values::Text(values) => columns.set_item(column.name, codes(py, &values))?,
            other => columns.set_item(column.name, self::values(py, other)?)?,
        }
    }
    Ok(columns)
}

fn codes<'py>(py: Python<'py>, values: &[Text]) -> (Bound<'py, PyArray1<u32>>, Vec<String>) {
    let mut names: Vec<&str> = Vec::new();
    let mut places = Vec::with_capacity(values.len());
    for text in values.iter().map(AsRef::as_ref) {
        // Most rows say what the row before says.
        if let Some(last) = places.last().filter(|last| std::ptr::eq(names[**last as usize], text)) {
            places.push(*last);
            continue;
        }
        let known = names.iter().position(|name| *name == text);
        let place = known.unwrap_or_else(|| {
            names.push(text);
            names.len() - 1
        });
        places.push(place as u32);
    }
    (PyArray1::from_vec(py, places), names.into_iter().map(str::to_owned).collect())
}

/// A list of texts; most tables repeat a few of them.
fn texts<'py>(py: Python<'py>, values: &[Text]) -> PyResult<Bound<'py, PyList>> {
    let mut known: HashMap<&str, Bound<'py, PyString>> = HashMap::new();
    let text = |value| known.entry(value).or_insert_with(|| PyString::new(py, value)).clone();
    PyList::new(py, values.iter().map(AsRef::as_ref).map(text).collect::<Vec<_>>())
}

/// What there is to know about a table: its name and meaning, and of each column name, unit and meaning.
pub type About = (&'static str, &'static str, Vec<(&'static str, &'static str, &'static str)>);

/// Every table that a run can have, with the names, units and meanings of its columns.
#[pyfunction]
pub fn metrics() -> Vec<About> {
    nodeb_sim::metrics::tables().into_iter().map(about).collect()
}

/// What there is to know about a table.
#[expect(clippy::needless_pass_by_value, reason = "tables are mapped")]
pub fn about(table: Table) -> About {
    let columns = table.columns.iter().map(|column| (column.name, column.unit, column.meaning));
    (table.name, table.meaning, columns.collect())
}
