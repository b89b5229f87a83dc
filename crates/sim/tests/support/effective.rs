use nodeb_sim::{Scenario, scenario};
use serde_json::Value;

/// # Errors
///
/// The message of the first problem that is not a key without effect.
pub fn effective(mut text: Value) -> Result<Scenario, String> {
    loop {
        let message = match scenario::from_json(&text.to_string()) {
            Ok(scenario) => return Ok(scenario),
            Err(error) => error.to_string(),
        };
        let (path, _) = message.split_once(": this has no effect").ok_or_else(|| message.clone())?;
        let pointer = format!("/{}", path.replace('.', "/"));
        let (parent, key) = pointer.rsplit_once('/').expect("it begins with one");
        let table = text.pointer_mut(parent).and_then(Value::as_object_mut);
        table.and_then(|table| table.remove(key)).ok_or(message)?;
    }
}
