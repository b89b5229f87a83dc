//! For any text, also of the fuzz target `scenario`.

use nodeb_sim::{Error, Scenario, scenario};

/// The scenario comes before it, overrides, one per line, after it.
pub const SEPARATOR: &str = "\n%%\n";

pub fn check(input: &str) {
    let (text, overrides) = input.split_once(SEPARATOR).unwrap_or((input, ""));
    let overrides: Vec<String> = overrides.lines().map(str::to_owned).collect();
    let plain = check_outcome(scenario::from_toml(text, "fuzz.toml", &[]));
    if !overrides.is_empty() {
        check_outcome(scenario::from_toml(text, "fuzz.toml", &overrides));
    }
    let _ = scenario::from_json(text);
    // An override that sets a key to its value in the file changes nothing.
    if let Some(scenario) = plain {
        let same = [format!("runs={}", scenario.runs), format!("duration={}", scenario.duration)];
        assert_eq!(scenario::from_toml(text, "fuzz.toml", &same).expect("the same scenario"), scenario);
    }
}

/// Converted to TOML and JSON; an error must have a message.
fn check_outcome(outcome: Result<Scenario, Error>) -> Option<Scenario> {
    match outcome {
        Ok(read) => {
            let text = scenario::to_toml(&read).expect("a valid scenario has a TOML form");
            let again = scenario::from_toml(&text, "again.toml", &[]).expect("what was written is read");
            assert_eq!(again, read, "TOML changed it:\n{text}");
            let json = serde_json::to_string(&read).expect("a valid scenario has a JSON form");
            assert_eq!(
                scenario::from_json(&json).expect("what was written is read"),
                read,
                "JSON changed it"
            );
            Some(read)
        }
        Err(error) => {
            let message = error.to_string();
            assert!(message.len() > 10, "an error without words: {message:?}");
            None
        }
    }
}
