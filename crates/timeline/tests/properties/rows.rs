use nodeb_base::table::Values;
use nodeb_timeline::Timeline;

fn column<'a>(timeline: &'a Timeline, table: &str, name: &str) -> &'a Values {
    let found = timeline.tables.iter().find(|one| one.name == table).expect(table);
    found.column(name).expect(name)
}

/// Panics without such a column.
pub fn numbers(timeline: &Timeline, table: &str, name: &str) -> Vec<u64> {
    match column(timeline, table, name) {
        Values::U64(values) => values.clone(),
        Values::U32(values) => values.iter().map(|value| u64::from(*value)).collect(),
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// Panics without such a column.
pub fn flags(timeline: &Timeline, table: &str, name: &str) -> Vec<bool> {
    match column(timeline, table, name) {
        Values::Bool(values) => values.clone(),
        other => panic!("{table}.{name}: {other:?}"),
    }
}

/// Names of the codes; panics without such a column.
pub fn words(timeline: &Timeline, table: &str, name: &str) -> Vec<String> {
    let (_, names) = timeline.names.iter().find(|(column, _)| *column == name).expect(name);
    numbers(timeline, table, name).iter().map(|number| names[*number as usize].clone()).collect()
}

pub fn names(timeline: &Timeline, table: &str) -> Vec<&'static str> {
    let found = timeline.tables.iter().find(|one| one.name == table).expect(table);
    found.columns.iter().map(|column| column.name).collect()
}

/// NaN equals NaN; panics without such a column.
pub fn texts(timeline: &Timeline, table: &str, name: &str) -> Vec<String> {
    match column(timeline, table, name) {
        Values::F64(values) => values.iter().map(f64::to_string).collect(),
        Values::Bool(values) => values.iter().map(bool::to_string).collect(),
        _ => numbers(timeline, table, name).iter().map(u64::to_string).collect(),
    }
}
