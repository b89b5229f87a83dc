//! Description of what does not depend on a scenario: schema, components, tables, causes.

use nodeb_base::table::Table;
use nodeb_sim::Scenario;
use serde_json::{Value, json};

/// Returns the description in the form of `About` in the page's `api.ts`, without the metrics, which the page computes.
pub fn about() -> Value {
    let components: Vec<Value> = Scenario::registry()
        .into_iter()
        .map(|(kind, name, meaning)| json!({ "kind": kind, "name": name, "meaning": meaning }))
        .collect();
    let causes: Vec<Value> = nodeb_explain::Cause::ALL
        .iter()
        .map(|cause| json!({ "name": cause.name(), "meaning": cause.meaning().trim_ascii() }))
        .collect();
    json!({
        "version": nodeb_sim::VERSION,
        "schema": Scenario::schema(),
        "components": components,
        "tables": described(&nodeb_sim::metrics::tables()),
        "lifeTables": described(&nodeb_timeline::tables::empty()),
        "causes": causes,
    })
}

fn described(tables: &[Table]) -> Value {
    let columns = |table: &Table| -> Vec<Value> {
        let all = table.columns.iter();
        all.map(|column| json!({ "name": column.name, "unit": column.unit, "meaning": column.meaning }))
            .collect()
    };
    tables
        .iter()
        .map(|table| json!({ "name": table.name, "meaning": table.meaning, "columns": columns(table) }))
        .collect()
}
