use nodeb_base::check::{Check, Checked as _};
use nodeb_base::{Error, Result};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{ErrorModel, ErrorSpec};

pub const FORMAT: &str = "nodeb-error-model";

pub const VERSION: u64 = 1;

/// `file` is the file's name in error messages and in the model.
///
/// # Errors
/// Returns [`Error::Scenario`] with the file and the problem if the text is no valid model.
pub fn read(text: &str, file: &str) -> Result<ErrorModel> {
    parse(text, file).map_err(|message| Error::Scenario(format!("{file}: {message}")))
}

fn parse(text: &str, file: &str) -> std::result::Result<ErrorModel, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}"))?;
    let Value::Object(mut keys) = value else {
        return Err("expected an object of keys and values".to_owned());
    };
    let format = keys.remove("format");
    if format.as_ref().and_then(Value::as_str) != Some(FORMAT) {
        return Err(format!("format: not an error model; expected \"{FORMAT}\""));
    }
    let version = keys.remove("version").unwrap_or(Value::Null);
    if version.as_u64() != Some(VERSION) {
        return Err(format!("version: {version} is unknown; expected {VERSION}"));
    }
    keys.remove("provenance");
    let unit = part(&mut keys, "unit")?.ok_or("the key `unit` is missing; expected \"pdu\" or \"block\"")?;
    let pdus_per_block = part(&mut keys, "pdus_per_block")?;
    if let Some(within) = keys.get_mut("within_block") {
        name_patterns(within);
    }
    let within_block = part(&mut keys, "within_block")?;
    let kinds = || ErrorSpec::names().join(", ");
    let Some(Value::String(kind)) = keys.remove("kind") else {
        return Err(format!("kind: expected the name of a model, one of: {}", kinds()));
    };
    if !ErrorSpec::names().contains(&kind.as_str()) {
        return Err(format!("kind: there is no model `{kind}`; expected one of: {}", kinds()));
    }
    let spec = Map::from_iter([(kind.clone(), Value::Object(keys))]);
    let process = ErrorSpec::deserialize(Value::Object(spec)).map_err(|error| format!("{kind}: {error}"))?;
    let model = ErrorModel {
        file: Some(file.to_owned()),
        unit,
        pdus_per_block,
        process: Some(process),
        within_block,
        ..ErrorModel::default()
    };
    checked(model)
}

/// `None` if the key is missing or null.
fn part<T: serde::de::DeserializeOwned>(
    keys: &mut Map<String, Value>,
    key: &str,
) -> std::result::Result<Option<T>, String> {
    let value = keys.remove(key).filter(|value| !value.is_null());
    value.map(T::deserialize).transpose().map_err(|error| format!("{key}: {error}"))
}

/// A file has the patterns (digits 0 and 1) themselves as keys of `within_block`, a scenario has them in a
/// table `patterns`.
fn name_patterns(within: &mut Value) {
    if let Value::Object(keys) = within
        && keys.keys().all(|key| !key.is_empty() && key.bytes().all(|digit| matches!(digit, b'0' | b'1')))
    {
        *within = Value::Object(Map::from_iter([("patterns".to_owned(), within.take())]));
    }
}

fn checked(model: ErrorModel) -> std::result::Result<ErrorModel, String> {
    let mut check = Check::default();
    model.check(&mut check);
    match check.into_problems().first() {
        None => Ok(model),
        Some(problem) => {
            // In a model file the keys of the process are at the top level, so the part `process`
            // of the path is omitted.
            let path = problem.path.iter().filter(|key| *key != "process");
            let key = path.map(String::as_str).collect::<Vec<_>>().join(".");
            Err(format!("{key}: {}", problem.message))
        }
    }
}
