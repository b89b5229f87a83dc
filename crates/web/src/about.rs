use nodeb_sim::Scenario;
use serde_json::{Value, json};

pub fn about() -> Value {
    json!({ "schema": Scenario::schema() })
}
