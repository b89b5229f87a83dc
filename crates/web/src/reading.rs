use nodeb_sim::Scenario;
use nodeb_sim::scenario::{self, Finding, Review, review};
use serde_json::{Value, json};

const EXPECTED: &str = "; expected ";

pub fn read(text: &str) -> Value {
    let Review { scenario, problems, warnings, superfluous } = review(text);
    json!({
        "scenario": scenario.as_ref().map(described),
        "problems": findings(&problems),
        "warnings": findings(&warnings),
        "superfluous": findings(&superfluous),
        "document": scenario::document(text, "scenario").ok().and_then(|found| serde_json::from_str::<Value>(&found).ok()),
    })
}

fn described(scenario: &Scenario) -> Value {
    json!({
        "name": scenario.name,
        "seed": scenario.seed,
        "runs": scenario.runs,
        "precision": scenario.precision.map(|share| share.0),
        "maxRuns": scenario.max_runs,
        "users": scenario.user_count(),
        "durationS": scenario.duration.as_secs(),
        "ttiS": scenario.radio.parts().tti.map(|tti| tti.duration.as_secs()),
        "radio": scenario.radio.key(),
        "resolved": scenario,
        "toml": scenario::to_toml(scenario).unwrap_or_default(),
    })
}

fn findings(all: &[Finding]) -> Vec<Value> {
    let described = |finding: &Finding| {
        let (problem, expected) = match finding.message.split_once(EXPECTED) {
            Some((problem, expected)) => (problem, Some(expected)),
            None => (&*finding.message, None),
        };
        json!({ "line": finding.line, "key": finding.key, "problem": problem, "expected": expected })
    };
    all.iter().map(described).collect()
}
