use nodeb_base::check::Check;
use nodeb_base::rng::Streams;
use nodeb_base::units::Probability;
use serde_json::{Value, json};

use super::blocks::{BlockErrors, BlockShape, Failures, Resource};
use super::{Advances, ErrorModel, ErrorProcess, ErrorSpec, file};
use crate::mac::harq::CombiningSpec;
use crate::mac::harq::chase::Chase;

fn spec(json: Value) -> ErrorSpec {
    serde_json::from_value(json).unwrap()
}

fn model(json: Value) -> ErrorModel {
    serde_json::from_value(json).unwrap()
}

fn process(json: Value, run: u64) -> Box<dyn ErrorProcess> {
    spec(json).build(&Streams::new(5, run), 0, 1)
}

fn three_states() -> Value {
    json!({ "hmm": {
        "transition": [[0.97, 0.02, 0.01], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]],
        "error": [0.001, 0.3, 0.9],
    } })
}

fn bursty() -> Value {
    json!({ "gilbert_elliott": { "p": 0.02, "r": 0.25 } })
}

fn bursty_hmm() -> Value {
    json!({ "hmm": { "transition": [[0.98, 0.02], [0.25, 0.75]], "error": [0.0, 1.0] } })
}

/// Short runs give a better estimate than a long run, in which errors are correlated.
fn share(json: &Value, steps: u32, runs: u64) -> f64 {
    let wrong = (0..runs).filter(|run| {
        let mut process = process(json.clone(), *run);
        (0..steps).fold(false, |wrong, _| wrong | process.next_is_error())
    });
    wrong.count() as f64 / runs as f64
}

fn near(found: f64, p: f64, n: u64) -> bool {
    (found - p).abs() < 4.0 * (p * (1.0 - p) / n as f64).sqrt()
}

#[test]
fn block_error_rates_match_closed_forms() {
    let runs = 20_000;
    for (json, steps, expected) in [
        (json!({ "bsc": { "error_rate": 0.03 } }), 12, 1.0 - 0.97f64.powi(12)),
        (bursty(), 1, 0.02 / 0.27),
        (bursty(), 4, 1.0 - 0.25 / 0.27 * 0.98f64.powi(3)),
        (bursty_hmm(), 4, 1.0 - 0.25 / 0.27 * 0.98f64.powi(3)),
    ] {
        let stated = model(json!({ "unit": "pdu", "process": json })).block_error_rate(steps).0;
        assert!((stated - expected).abs() < 1e-9, "{json}: {stated} {expected}");
        assert!(near(share(&json, steps, runs), expected, runs), "{json}");
    }
    for steps in [1, 7] {
        let stated = model(json!({ "unit": "pdu", "process": three_states() })).block_error_rate(steps).0;
        assert!(near(share(&three_states(), steps, runs), stated, runs), "{steps}: {stated}");
    }
}

#[test]
fn bursts_and_gaps_are_geometric() {
    for json in [bursty(), bursty_hmm()] {
        let mut process = process(json, 1);
        let errors: Vec<bool> = (0..400_000).map(|_| process.next_is_error()).collect();
        let runs: Vec<(bool, usize)> =
            errors.chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
        for (wrong, leave) in [(true, 0.25), (false, 0.02)] {
            let lengths: Vec<usize> = runs.iter().filter(|run| run.0 == wrong).map(|run| run.1).collect();
            let n = lengths.len() as u64;
            for k in 1..=6 {
                let longer = lengths.iter().filter(|length| **length > k).count() as f64 / n as f64;
                let expected = (1.0f64 - leave).powf(k as f64);
                assert!(near(longer, expected, n), "{wrong}, longer than {k}: {longer} {expected}");
            }
        }
    }
}

#[test]
fn skipping_equals_stepping() {
    let runs = 20_000;
    for (json, steps) in [(bursty(), 3), (bursty(), 40), (bursty_hmm(), 3), (bursty_hmm(), 37)] {
        // After an error and `steps` skipped steps, the next step has an error with probability b +
        // (1 - b) (1 - p - r)^(steps + 1). Here b = p / (p + r) is the long-run share of the bad
        // state.
        let bad = 0.02 / 0.27;
        let expected = bad + (1.0 - bad) * 0.73f64.powi(steps + 1);
        let (mut from, mut to) = (0, 0);
        for run in 0..runs {
            let mut process = process(json.clone(), run);
            if process.next_is_error() {
                process.skip(steps as u64);
                from += 1;
                to += u64::from(process.next_is_error());
            }
        }
        assert!(near(to as f64 / from as f64, expected, from), "{json} {steps}: {to} of {from}, {expected}");
    }
}

/// With `p = r = 1` a chain changes its state after every step.
#[test]
fn skip_takes_the_given_number_of_steps() {
    for run in 0..20 {
        for steps in 0..10 {
            let mut process = process(json!({ "gilbert_elliott": { "p": 1.0, "r": 1.0 } }), run);
            let first = process.next_is_error();
            process.skip(steps);
            assert_eq!(process.next_is_error(), first == (steps % 2 == 1), "{steps} steps");
        }
    }
}

#[test]
fn a_chain_starts_in_the_given_state() {
    let json = json!({ "hmm": {
        "start": [0.0, 1.0], "transition": [[0.5, 0.5], [0.5, 0.5]], "error": [0.0, 1.0],
    } });
    assert!((0..50).all(|run| process(json.clone(), run).next_is_error()));
}

#[test]
fn a_recording_is_repeated_in_whole_blocks() {
    let recorded =
        |offset: Value| spec(json!({ "recorded": { "errors": [3, 2, 4, 1, 0, 1], "offset": offset } }));
    // In blocks of 3 the recording is 000 110 000 11. Its last two steps are a partial block, which
    // is omitted.
    let sequence = "000110000";
    let text = |process: &mut Box<dyn ErrorProcess>, n: usize| -> String {
        (0..n).map(|_| if process.next_is_error() { '1' } else { '0' }).collect()
    };
    let mut from_one = recorded(json!(1)).build(&Streams::new(1, 0), 0, 3);
    assert_eq!(text(&mut from_one, 15), "110000000110000");
    for skipped in 0..30 {
        let mut skipping = recorded(json!(0)).build(&Streams::new(1, 0), 0, 3);
        skipping.skip(skipped);
        let at = skipped as usize % 9;
        assert_eq!(text(&mut skipping, 9), [&sequence[at..], &sequence[..at]].concat(), "{skipped}");
    }
    let mut begun = [0; 3];
    for run in 0..300 {
        match &*text(&mut recorded(Value::Null).build(&Streams::new(1, run), 0, 3), 6) {
            "000110" => begun[0] += 1,
            "110000" => begun[1] += 1,
            "000000" => begun[2] += 1,
            other => panic!("{other} does not begin with a block"),
        }
    }
    assert!(begun.iter().all(|n| (60..140).contains(n)), "{begun:?}");
    let rate = |steps| 1.0 - recorded(Value::Null).clean(steps);
    assert!((rate(3) - 1.0 / 3.0).abs() < 1e-12 && (rate(1) - 4.0 / 11.0).abs() < 1e-12);
    // In blocks of 4 the recording is 0001 1000 011, and its two whole blocks both have an error.
    assert!((rate(4) - 1.0).abs() < 1e-12);
}

/// Blocks of 4 PDUs to one user on one channel.
fn errors_of(json: Value, combining: &CombiningSpec, run: u64) -> BlockErrors {
    let shape = BlockShape { bler: Probability(0.5), channels: 1, pdus: 4, pdu_bytes: 40, combining };
    BlockErrors::new(Some(&model(json)), shape, &[0], &Streams::new(9, run))
}

fn at(number: u64) -> Resource {
    Resource { user: 0, tti: number, channel: 0 }
}

#[test]
fn patterns_follow_their_distribution() {
    let n = 60_000;
    let drawn = |within: Value| {
        let json = json!({ "process": { "bsc": { "error_rate": 0.5 } }, "within_block": within });
        let mut errors = errors_of(json, &CombiningSpec::default(), 0);
        let mut counts = [0u64; 16];
        for place in 0..n {
            let mut wrong = [false; 4];
            errors.wrong_pdus(at(place), &mut wrong);
            counts[wrong.iter().fold(0, |sum, wrong| 2 * sum + usize::from(*wrong))] += 1;
        }
        counts.map(|count| count as f64 / n as f64)
    };
    let found = drawn(json!({ "patterns": { "0101": 0.2, "1111": 0.7, "0001": 0.1 } }));
    for (pattern, p) in [(0b0000, 0.5), (0b0101, 0.1), (0b1111, 0.35), (0b0001, 0.05)] {
        assert!(near(found[pattern], p, n), "{pattern:04b}: {}", found[pattern]);
    }
    let found = drawn(json!({ "count_law": [0.4, 0.6, 0.0, 0.0] }));
    for (pattern, share) in found.iter().enumerate() {
        let p = [0.5, 0.2 / 4.0, 0.3 / 6.0, 0.0, 0.0][pattern.count_ones() as usize];
        assert!(near(*share, p, n) || (p == 0.0 && *share == 0.0), "{pattern:04b}: {share} {p}");
    }
}

#[test]
fn combining_reduces_the_errors_of_a_model() {
    let combining = CombiningSpec::Chase(Chase::default());
    let n = 40_000;
    let mut errors = errors_of(json!({ "process": { "bsc": { "error_rate": 0.5 } } }), &combining, 0);
    for times in 1..4 {
        let failed =
            (0..n).filter(|i| errors.retransmission_fails(at(u64::from(times) * n + i), 4, times)).count();
        let expected = combining.failure(Probability(0.5), times + 1, 4 * 40 * 8).0;
        assert!(near(failed as f64 / n as f64, expected, n), "{times}: {failed} {expected}");
    }
}

#[test]
fn processes_advance_with_time_or_with_blocks() {
    let errors = |advances: Advances| {
        let recorded = json!({ "recorded": { "errors": [8, 2, 6], "offset": 0 } });
        let json = json!({ "unit": "pdu", "process": recorded, "advances": advances });
        errors_of(json, &CombiningSpec::default(), 0)
    };
    // A block has 4 PDUs, so the recording of 16 PDUs is 4 blocks. The third block has two PDUs in
    // error.
    let failed = |advances, places: &[u64]| -> Vec<bool> {
        let mut errors = errors(advances);
        places.iter().map(|place| errors.first_failure(at(*place), 1, 4).is_some()).collect()
    };
    assert_eq!(failed(Advances::WithTime, &[0, 2, 3, 6, 9, 10]), [false, true, false, true, false, true]);
    assert_eq!(failed(Advances::WithBlocks, &[0, 7, 9, 20, 21]), [false, false, true, false, false]);
    let mut batch = errors(Advances::WithTime);
    assert_eq!(batch.first_failure(at(0), 4, 4), Some(2));
    assert_eq!(batch.first_failure(at(3), 3, 4), None);
}

fn problem(json: Value) -> String {
    let mut check = Check::default();
    model(json).check_for(4, None, &mut check);
    let problems = check.into_problems();
    let first = problems.first().unwrap_or_else(|| panic!("nothing was found"));
    format!("{}: {}", first.path.join("."), first.message)
}

#[test]
fn invalid_models_are_rejected() {
    let hmm = |start: Value, transition: Value, error: Value| json!({ "process": { "hmm": { "start": start, "transition": transition, "error": error } } });
    let two = json!([[0.9, 0.1], [0.2, 0.8]]);
    let recorded = |runs: Value| json!({ "unit": "pdu", "process": { "recorded": { "errors": runs } } });
    let with_patterns =
        |within: Value| json!({ "process": { "bsc": { "error_rate": 0.1 } }, "within_block": within });
    for (json, expected) in [
        (json!({}), "errors.process: no error process; expected one of: bsc,"),
        (hmm(json!([]), json!([[0.9, 0.2], [0.2, 0.8]]), json!([0.0, 0.5])), "transition: row 0 sums to 1.1"),
        (hmm(json!([]), json!([[0.9], [0.2, 0.8]]), json!([0.0, 0.5])), "expected 2 rows of 2 probabilities"),
        (hmm(json!([]), json!([[1.5, -0.5], [0.2, 0.8]]), json!([0.0, 0.5])), "row 0 has 1.5, which is not"),
        (hmm(json!([0.5, 0.4]), two.clone(), json!([0.0, 0.5])), "start: it sums to 0.9; expected 1"),
        (hmm(json!([1.0]), two.clone(), json!([0.0, 0.5])), "start: 1 probabilities for 2 states"),
        (hmm(json!([]), json!([]), json!([])), "error: 0 states; expected 1 to 64"),
        (hmm(json!([]), json!([[0.9, 0.1], [0.0, 1.0]]), json!([0.0, 1.0])), "error: from state 1 every"),
        (recorded(json!([])), "errors: the sequence is empty"),
        (recorded(json!([0, 5])), "errors: every step is an error"),
        (recorded(json!([u64::MAX, 5])), "the sequence is too long"),
        (recorded(json!([3, 1, 3, 1])), "process: every block of 4 PDUs has an error"),
        (with_patterns(json!({})), "within_block.patterns: expected either"),
        (
            with_patterns(json!({ "patterns": { "0100": 0.5, "011": 0.5 } })),
            "others 4; expected one for each PDU",
        ),
        (with_patterns(json!({ "patterns": { "0000": 1.0 } })), "`0000` is not a pattern of a failed block"),
        (with_patterns(json!({ "patterns": { "0a10": 1.0 } })), "`0a10` is not a pattern"),
        (
            with_patterns(json!({ "count_law": [0.5, 0.4, 0.0, 0.0] })),
            "count_law: the probabilities sum to 0.9",
        ),
        (with_patterns(json!({ "count_law": [1.0] })), "for blocks of 1 PDUs, but the radio's have 4"),
        (
            json!({ "unit": "pdu", "process": { "bsc": { "error_rate": 0.1 } },
                    "within_block": { "count_law": [0.0, 0.0, 0.0, 1.0] } }),
            "needs `unit = \"block\"`",
        ),
        (json!({ "process": { "gilbert_elliott": { "p": 0.1, "r": 0.0 } } }), "r: the bad state never ends"),
    ] {
        let found = problem(json.clone());
        assert!(found.contains(expected), "{json}\n{found}\n{expected}");
    }
}

#[test]
fn model_files_are_read() {
    let text = json!({
        "format": "nodeb-error-model", "version": 1, "unit": "block", "pdus_per_block": 4, "kind": "hmm",
        "start": [0.5, 0.5], "transition": [[0.9, 0.1], [0.4, 0.6]], "error": [0.01, 0.7],
        "within_block": { "1111": 0.5, "0011": 0.5 }, "provenance": { "ebn0_db": 3, "states": "by BIC" },
    });
    let read = file::read(&text.to_string(), "fitted.json").unwrap();
    let expected = model(json!({
        "file": "fitted.json", "unit": "block", "pdus_per_block": 4,
        "process": { "hmm": {
            "start": [0.5, 0.5], "transition": [[0.9, 0.1], [0.4, 0.6]], "error": [0.01, 0.7] } },
        "within_block": { "patterns": { "1111": 0.5, "0011": 0.5 } },
    }));
    assert_eq!(read, expected);
    // A model file may have a `count_law` instead of patterns, or have the patterns in a table of
    // their own.
    for within in [json!({ "count_law": [0.0, 1.0, 0.0, 0.0] }), json!({ "patterns": { "0011": 1.0 } })] {
        let mut text = text.clone();
        text["within_block"] = within.clone();
        let read = file::read(&text.to_string(), "fitted.json").unwrap();
        assert_eq!(serde_json::to_value(read.within_block).unwrap(), within);
    }
}

#[test]
fn invalid_model_files_are_rejected() {
    let good = json!({
        "format": "nodeb-error-model", "version": 1, "unit": "pdu", "kind": "gilbert_elliott", "p": 0.1, "r": 0.5,
    });
    let with = |key: &str, value: Value| {
        let mut text = good.clone();
        text[key] = value;
        text.to_string()
    };
    for (text, expected) in [
        ("[1]".to_owned(), "m.json: expected an object"),
        ("{\"format\": ".to_owned(), "m.json: this is not JSON"),
        (with("format", json!("other")), "m.json: format: not an error model"),
        (with("version", json!(2)), "m.json: version: 2 is unknown; expected 1"),
        (with("unit", json!("bit")), "m.json: unit: unknown variant `bit`"),
        (with("unit", Value::Null), "the key `unit` is missing"),
        (with("kind", json!("hidden")), "m.json: kind: there is no model `hidden`; expected one of: bsc"),
        (with("kind", json!(3)), "m.json: kind: expected the name"),
        (with("q", json!(0.5)), "m.json: gilbert_elliott: unknown field `q`"),
        (with("p", json!(1.5)), "1.5 is not a probability"),
        (with("r", json!(0.0)), "m.json: gilbert_elliott.r: the bad state never ends"),
        (with("pdus_per_block", json!(0)), "m.json: pdus_per_block: "),
    ] {
        let found = file::read(&text, "m.json").unwrap_err().to_string();
        assert!(found.contains(expected), "{text}\n{found}\n{expected}");
    }
}
