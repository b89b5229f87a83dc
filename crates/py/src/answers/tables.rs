//! Access to the tables of a result in Python: a mapping of tables by name, whose columns are NumPy arrays.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use nodeb_answers::metrics::Tables;
use nodeb_base::table::{Text, Texts};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::errors::guarded;

/// Only columns that are read are converted; the first error, such as a missing column, is kept.
pub struct PyTables<'py> {
    tables: Bound<'py, PyAny>,
    numpy: Bound<'py, PyModule>,
    error: RefCell<Option<PyErr>>,
}

impl<'py> PyTables<'py> {
    pub fn new(tables: Bound<'py, PyAny>) -> PyResult<Self> {
        let numpy = tables.py().import("numpy")?;
        Ok(Self { tables, numpy, error: RefCell::default() })
    }

    /// Calls a function of tables; an error in reading them is returned instead of its result.
    pub fn read<T>(tables: &Bound<'py, PyAny>, work: impl FnOnce(&Self) -> T) -> PyResult<T> {
        let tables = Self::new(tables.clone())?;
        let result = guarded(|| "tables of a result".to_owned(), || work(&tables));
        tables.checked(result?)
    }

    pub fn checked<T>(&self, result: T) -> PyResult<T> {
        self.error.take().map_or(Ok(result), Err)
    }

    fn array(&self, table: &str, column: &str, kind: &str) -> PyResult<Bound<'py, PyAny>> {
        let column = self.tables.get_item(table)?.get_item(column)?;
        self.numpy.call_method1("asarray", (column, kind))
    }

    fn ok<T: Default>(&self, result: PyResult<T>) -> T {
        result.unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            T::default()
        })
    }
}

impl Tables for PyTables<'_> {
    fn has(&self, table: &str, column: &str) -> bool {
        let has = || {
            let has_table = self.tables.contains(table)?;
            Ok(has_table && self.tables.get_item(table)?.getattr("columns")?.contains(column)?)
        };
        self.ok(has())
    }

    fn numbers(&self, table: &str, column: &str) -> Cow<'_, [f64]> {
        let read = || {
            let array: PyReadonlyArray1<'_, f64> = self.array(table, column, "f8")?.extract()?;
            Ok(array.as_array().to_vec())
        };
        self.ok(read()).into()
    }

    fn texts(&self, table: &str, column: &str) -> Cow<'_, Texts> {
        let read = || {
            let array = self.array(table, column, "U")?;
            let width = array.getattr("dtype")?.getattr("itemsize")?.extract::<usize>()? / size_of::<u32>();
            let letters =
                self.numpy.call_method1("ascontiguousarray", (array,))?.call_method1("view", ("u4",))?;
            let letters: PyReadonlyArray1<'_, u32> = letters.extract()?;
            Ok(coded(letters.as_slice()?, width))
        };
        Cow::Owned(self.ok(read()))
    }
}

/// Texts of `width` Unicode characters each, of which zeros at the end are padding.
fn coded(letters: &[u32], width: usize) -> Texts {
    let mut texts = Texts { names: Vec::new(), places: Vec::with_capacity(letters.len() / width) };
    let (mut places, mut last) = (HashMap::new(), (&[][..], 0));
    for text in letters.chunks_exact(width) {
        if text != last.0 || texts.names.is_empty() {
            let place = *places.entry(text).or_insert_with(|| {
                let end = text.iter().rposition(|letter| *letter != 0).map_or(0, |end| end + 1);
                let letters = text[..end]
                    .iter()
                    .map(|&letter| char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER));
                texts.names.push(Text::Owned(letters.collect()));
                texts.names.len() as u32 - 1
            });
            last = (text, place);
        }
        texts.places.push(last.1);
    }
    texts
}
