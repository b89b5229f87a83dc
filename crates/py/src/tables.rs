//! Conversion of tables of results to Python dicts of numpy arrays.

use nodeb_base::table::{Table, Text, Texts, Values};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

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
        Values::Text(values) => texts(py, values)?,
    })
}

pub fn coded(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let columns = PyDict::new(py);
    for column in table.columns {
        match column.values {
            Values::Text(values) => columns.set_item(column.name, codes(py, values))?,
            other => columns.set_item(column.name, self::values(py, other)?)?,
        }
    }
    Ok(columns)
}

fn codes(py: Python<'_>, Texts { names, places }: Texts) -> (Bound<'_, PyArray1<u32>>, Vec<String>) {
    (PyArray1::from_vec(py, places), names.into_iter().map(Text::into_owned).collect())
}

/// Without texts the array is empty and of type `float64`.
fn texts(py: Python<'_>, texts: Texts) -> PyResult<Bound<'_, PyAny>> {
    let (places, names) = codes(py, texts);
    py.import("numpy")?.call_method1("array", (names,))?.call_method1("take", (places,))
}

/// Description of a table: name, meaning, and for each column its name, unit and meaning.
pub type About = (&'static str, &'static str, Vec<(&'static str, &'static str, &'static str)>);

/// Returns the descriptions of all tables that the results of a simulation can have.
#[pyfunction]
pub fn metrics() -> Vec<About> {
    nodeb_sim::metrics::tables().into_iter().map(about).collect()
}

/// Returns the description of a table: its name and meaning, and the name, unit and meaning of each
/// column.
#[expect(clippy::needless_pass_by_value, reason = "tables are mapped")]
pub fn about(table: Table) -> About {
    let columns = table.columns.iter().map(|column| (column.name, column.unit, column.meaning));
    (table.name, table.meaning, columns.collect())
}
