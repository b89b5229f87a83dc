use std::borrow::Cow;

use nodeb_base::table::{Table, Texts, Values};

/// Tables of some replications, whose rows are in order of the run; columns are read when a metric needs them.
pub trait Tables {
    fn has(&self, table: &str, column: &str) -> bool;
    /// Values of a column of numbers or truth values; panics without the column ([`Tables::has`]).
    fn numbers(&self, table: &str, column: &str) -> Cow<'_, [f64]>;
    fn texts(&self, table: &str, column: &str) -> Cow<'_, Texts>;
}

impl Tables for &[Table] {
    fn has(&self, table: &str, column: &str) -> bool {
        find(self, table, column).is_some()
    }

    fn numbers(&self, table: &str, column: &str) -> Cow<'_, [f64]> {
        match expect(self, table, column) {
            Values::F64(values) => Cow::Borrowed(values),
            Values::F32(values) => values.iter().map(|&value| value.into()).collect(),
            Values::U64(values) => values.iter().map(|&value| value as f64).collect(),
            Values::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Values::Bool(values) => values.iter().map(|&value| f64::from(u8::from(value))).collect(),
            Values::Text(_) => panic!("the column {column} of {table} has texts"),
        }
    }

    fn texts(&self, table: &str, column: &str) -> Cow<'_, Texts> {
        match expect(self, table, column) {
            Values::Text(texts) => Cow::Borrowed(texts),
            _ => panic!("the column {column} of {table} has numbers"),
        }
    }
}

fn find<'a>(tables: &'a [Table], table: &str, column: &str) -> Option<&'a Values> {
    tables.iter().find(|one| one.name == table)?.column(column)
}

fn expect<'a>(tables: &'a [Table], table: &str, column: &str) -> &'a Values {
    find(tables, table, column).unwrap_or_else(|| panic!("there is no column {column} of {table}"))
}
