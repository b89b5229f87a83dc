//! Description of all scenarios: the JSON Schema that the page shows and checks.

use nodeb_sim::Scenario;
use serde_json::{Value, json};

/// Returns the JSON Schema of a scenario in the form of `About` in the page's `api.ts`. The page adds the metrics, the
/// other part of `About`.
pub fn about() -> Value {
    json!({ "schema": Scenario::schema() })
}
