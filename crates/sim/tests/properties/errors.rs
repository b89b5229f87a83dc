use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::keys;

/// Null in two of three cases.
pub fn model() -> BoxedStrategy<Value> {
    let unit = select(vec!["block", "pdu"]);
    let within = prop_oneof![Just(Value::Null), vec(0.01..1.0, 5).prop_map(|weights| json!(weights))];
    let advances = select(vec!["with_time", "with_blocks"]);
    let model = (unit, process(), within, advances).prop_map(|(unit, process, count_law, advances)| {
        // If a recording advanced with time, its errors could have the period of the retransmissions and hit all of
        // them.
        let advances = if process["recorded"].is_null() { advances } else { "with_blocks" };
        let mut model = json!({ "unit": unit, "process": process, "advances": advances });
        if unit == "block" && !count_law.is_null() {
            model["within_block"] = json!({ "count_law": count_law });
        }
        model
    });
    prop_oneof![2 => Just(Value::Null), 1 => model].boxed()
}

fn process() -> impl Strategy<Value = Value> {
    select(keys::registered_as("ErrorSpec")).prop_flat_map(|name| match name {
        "hmm" => hidden_markov().boxed(),
        "recorded" => recorded().boxed(),
        _ => keys::variant_of("ErrorSpec", name),
    })
}

fn hidden_markov() -> impl Strategy<Value = Value> {
    (1..=4usize).prop_flat_map(|states| {
        let row = vec(0.01..1.0, states).prop_map(|row| distribution(&row));
        let start = prop_oneof![Just(vec![]), row.clone()];
        (start, vec(row, states), vec(0.0..0.5, states)).prop_map(
            |(start, transition, error)| json!({ "hmm": { "start": start, "transition": transition, "error": error } }),
        )
    })
}

/// Runs of 1 to 3 errors, at least 20 steps apart, which is more than a block.
fn recorded() -> impl Strategy<Value = Value> {
    (vec((20..200u64, 1..4u64), 1..12), prop_oneof![Just(None), (0..50u64).prop_map(Some)]).prop_map(
        |(runs, offset)| {
            let runs: Vec<u64> = runs.into_iter().flat_map(|(good, bad)| [good, bad]).collect();
            json!({ "recorded": { "errors": runs, "offset": offset } })
        },
    )
}

fn distribution(weights: &[f64]) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

pub fn fit(model: &mut Value, pdus: u64) {
    if let Some(law) = model.get_mut("within_block").filter(|law| !law.is_null()) {
        let weights: Vec<f64> = serde_json::from_value(law["count_law"].clone()).expect("weights");
        law["count_law"] = json!(distribution(&weights[..pdus as usize]));
    }
}
