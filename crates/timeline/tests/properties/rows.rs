//! Access to single columns of a timeline's tables, for tests.

use nodeb_base::table::Values;
use nodeb_timeline::Timeline;

fn column<'a>(timeline: &'a Timeline, table: &str, name: &str) -> &'a Values {
    let found = timeline.tables.iter().find(|one| one.name == table).expect(table);
    found.column(name).expect(name)
}

/// Returns the column `name` of whole numbers in the table `table`. Panics if there is no such column.
pub fn numbers(timeline: &Timeline, table: &str, name: &str) -> Vec<u64> {
    match column(timeline, table, name) {
        Values::U64(values) => values.clone(),
        Values::U32(values) => values.iter().map(|value| u64::from(*value)).collect(),
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// Returns the column `name` of Boolean values in the table `table`. Panics if there is no such column.
pub fn flags(timeline: &Timeline, table: &str, name: &str) -> Vec<bool> {
    match column(timeline, table, name) {
        Values::Bool(values) => values.clone(),
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// Returns the column `name`, which stores codes, as the names of its codes. Panics if there is no such
/// column.
pub fn words(timeline: &Timeline, table: &str, name: &str) -> Vec<String> {
    let (_, names) = timeline.names.iter().find(|(column, _)| *column == name).expect(name);
    numbers(timeline, table, name).iter().map(|number| names[*number as usize].clone()).collect()
}

/// Returns the names of the columns of the table `table`.
pub fn names(timeline: &Timeline, table: &str) -> Vec<&'static str> {
    let found = timeline.tables.iter().find(|one| one.name == table).expect(table);
    found.columns.iter().map(|column| column.name).collect()
}

/// Returns the column `name` of any type as texts, so that NaN equals NaN in comparisons. Panics if there is
/// no such column.
pub fn texts(timeline: &Timeline, table: &str, name: &str) -> Vec<String> {
    match column(timeline, table, name) {
        Values::F64(values) => values.iter().map(f64::to_string).collect(),
        Values::Bool(values) => values.iter().map(bool::to_string).collect(),
        _ => numbers(timeline, table, name).iter().map(u64::to_string).collect(),
    }
}
