use super::super::PathLossSpec;
use super::rma::Rma;
use super::uma::Uma;
use super::umi::Umi;
use super::*;
use serde_json::{Value, json};

const CLEAR: Sight = Sight { level: 9.0, ..Sight::MEDIAN };
const OBSTRUCTED: Sight = Sight { level: -9.0, ..Sight::MEDIAN };

fn spec(value: Value) -> PathLossSpec {
    serde_json::from_value(value).unwrap()
}

/// Computed by hand from table 7.4.1-1 for the default heights and 2 GHz.
#[test]
fn losses_match_hand_computed_values() {
    for (name, metres, clear_db, obstructed_db) in [
        // UMa: the antennas are 102.724 m apart. The loss is 28 + 22 log 102.724 + 20 log 2 with line of
        // sight, else 13.54 + 39.08 log 102.724 + 20 log 2.
        ("uma", 100.0, 78.277_396, 98.176_763),
        // UMa beyond the breakpoint 4 * 24 * 0.5 * 2e9 / 3e8 = 320 m: 28 + 40 log 500.552 + 20 log 2 -
        // 9 log(320^2 + 23.5^2).
        ("uma", 500.0, 96.884_843, 125.055_073),
        // UMi: the antennas are 100.361 m apart. The loss is 32.4 + 21 log 100.361 + 20 log 2 with line of
        // sight, else 22.4 + 35.3 log 100.361 + 21.3 log 2.
        ("umi", 100.0, 80.453_428, 99.467_122),
        // UMi beyond the breakpoint 4 * 9 * 0.5 * 2e9 / 3e8 = 120 m: 32.4 + 40 log 300.120 + 20 log 2 -
        // 9.5 log(120^2 + 8.5^2).
        ("umi", 300.0, 97.987_328, 116.260_470),
        // RMa before the breakpoint: with h = 5 m the factor 0.03 h^1.72 is 0.478.
        ("rma", 1_000.0, 100.598_885, 125.563_545),
        // RMa beyond the breakpoint 2 pi * 35 * 1.5 * 2e9 / 3e8 = 2199.1 m.
        ("rma", 4_000.0, 119.671_020, 148.814_342),
    ] {
        let model = spec(json!(name));
        for (sight, expected) in [(CLEAR, clear_db), (OBSTRUCTED, obstructed_db)] {
            let found = model.loss(metres, sight).db;
            assert!((found - expected).abs() < 1e-6, "{name}, {metres} m: {found} {expected}");
        }
    }
}

/// Example of `nrPathLoss` (MATLAB, 5G Toolbox): base station and user 1 km apart along each axis.
#[test]
fn rma_matches_the_example_of_another_implementation() {
    let heights = json!({ "base_height": "30 m", "building_height": "7 m", "street_width": "25 m" });
    let mut table = json!({ "rma": heights });
    table["rma"]["frequency_ghz"] = json!(3.5);
    let found = spec(table).loss(1_000.0 * 2f64.sqrt(), CLEAR).db;
    assert!((found - 110.1615).abs() < 5e-5, "{found}");
}

/// The breakpoint of RMa is at 2199 m.
#[test]
fn shadowing_has_the_deviation_of_the_state() {
    for (name, metres, clear_db, obstructed_db) in [
        ("uma", 500.0, 4.0, 6.0),
        ("umi", 300.0, 4.0, 7.82),
        ("rma", 2_100.0, 4.0, 8.0),
        ("rma", 2_300.0, 6.0, 8.0),
    ] {
        let found = [CLEAR, OBSTRUCTED].map(|sight| spec(json!(name)).loss(metres, sight).sigma_db);
        assert_eq!(found, [Some(clear_db), Some(obstructed_db)], "{name}, {metres} m");
    }
}

#[test]
fn the_probability_of_sight_matches_hand_computed_values() {
    let high = Uma { phone_height: Distance(22_500), ..Uma::default() };
    for (found, expected) in [
        (Uma::default().sight_probability(18.0), 1.0),
        // UMa: 0.18 + 0.82 exp(-100 / 63).
        (Uma::default().sight_probability(100.0), 0.347_670_837),
        // UMa and a phone at 22.5 m: (0.09 + 0.91 exp(-200 / 63)) (1 + 0.95^1.5 * 1.25 * 8 exp(-200 / 150)).
        (high.sight_probability(200.0), 0.440_582_243),
        // UMi: 0.18 + 0.82 exp(-100 / 36).
        (Umi::default().sight_probability(100.0), 0.230_984_750),
        // RMa: exp(-1).
        (Rma::default().sight_probability(1_010.0), 0.367_879_441),
        (Rma::default().sight_probability(10.0), 1.0),
    ] {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}

/// The effective environment height of a phone at 22.5 m, 200 m away, is 1 m with probability 1 / (1 + 2.4408),
/// else 12, 15, 18 or 21 m. At 2 GHz only 21 m has a breakpoint before the user, at 160 m.
#[test]
fn high_phones_may_have_a_nearer_breakpoint() {
    let high = Uma { phone_height: Distance(22_500), ..Uma::default() };
    let loss = |metres, ground| high.loss(metres, Sight { ground, ..CLEAR }).db;
    let low = loss(200.0, [0.0, 0.0]);
    assert_eq!(loss(200.0, [0.29, 0.99]).to_bits(), low.to_bits());
    // 1 / 3.4408 is 0.2906. The breakpoint is at 4 * 4 * 1.5 * 2e9 / 3e8 = 160 m.
    assert!(loss(200.0, [0.2908, 0.99]) > low);
    assert_eq!(loss(200.0, [0.2908, 0.74]).to_bits(), low.to_bits());
}

/// With each metre, the loss with line of sight rises by less than 3 dB and never falls.
#[test]
fn losses_are_continuous_and_ordered() {
    for name in ["uma", "umi", "rma"] {
        let model = spec(json!(name));
        let clear = |metres| model.loss(metres, CLEAR).db;
        for metres in (10..8_000).map(f64::from) {
            let step = clear(metres + 1.0) - clear(metres);
            assert!((0.0..3.0).contains(&step), "{name}, {metres} m: {step}");
            assert!(model.loss(metres, OBSTRUCTED).db >= clear(metres), "{name}, {metres} m");
        }
    }
}

#[test]
fn values_outside_the_table_are_rejected() {
    for (table, key, message) in [
        (
            json!({ "uma": { "frequency_ghz": 0.4 } }),
            "frequency_ghz",
            "0.4 is out of range; expected 0.5 to 100",
        ),
        (
            json!({ "uma": { "phone_height": "1 m" } }),
            "phone_height",
            "1 m is out of range; expected 1.5 m to 22.5 m",
        ),
        (
            json!({ "umi": { "base_height": "1 m" } }),
            "base_height",
            "1 m is out of range; expected 1.5 m to 150 m",
        ),
        (
            json!({ "rma": { "frequency_ghz": 60.0 } }),
            "frequency_ghz",
            "60 is out of range; expected 0.5 to 30",
        ),
        (
            json!({ "rma": { "street_width": "4 m" } }),
            "street_width",
            "4 m is out of range; expected 5 m to 50 m",
        ),
    ] {
        let mut check = Check::default();
        spec(table).check(&mut check);
        let problem = check.into_problems().remove(0);
        assert_eq!(problem.path.last().map(String::as_str), Some(key));
        assert_eq!(problem.message, format!("{message} (TR 38.901, table 7.4.1-1)"));
    }
}

#[test]
fn other_heights_than_those_of_the_table_give_a_warning() {
    for (table, warnings) in [
        (json!("uma"), 0),
        (json!("umi"), 0),
        (json!({ "uma": { "base_height": "30 m" } }), 1),
        (json!({ "umi": { "base_height": "6 m" } }), 1),
    ] {
        let mut check = Check::default();
        spec(table).check(&mut check);
        assert_eq!(check.into_doubts().len(), warnings);
    }
}
