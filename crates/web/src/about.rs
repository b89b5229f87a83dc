//! Description of all scenarios.

use nodeb_sim::Scenario;
use serde_json::{Value, json};

/// Returns the schema in the form of `About` in the page's `api.ts`, without the metrics, which the page adds.
pub fn about() -> Value {
    json!({ "schema": Scenario::schema() })
}
