use serde_json::{Value, json};

use crate::call::answer;

const TEXT: &str = "radio.dch.bler = 0.1\n[[users]]\ntraffic.ftp.size = \"50 kB\"\n";

/// A request, followed by earlier answers.
fn framed(request: &Value, earlier: &[&[u8]]) -> Vec<u8> {
    let mut text = request.to_string();
    let length = text.len();
    text.extend(std::iter::repeat_n(' ', length.next_multiple_of(8) - length));
    [&(length as u32).to_le_bytes()[..], &[0; 4], text.as_bytes(), &earlier.concat()].concat()
}

fn ask(request: &Value) -> (Value, Vec<u8>) {
    read(&answer(&framed(request, &[])))
}

fn read(bytes: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
    let head = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    (head, bytes[8 + length.next_multiple_of(8)..].to_vec())
}

fn result(request: &Value) -> (Value, Vec<u8>) {
    let (mut head, arrays) = ask(request);
    assert_eq!(head.get("error"), None, "{head}");
    (head["result"].take(), arrays)
}

/// Returns the values of a column of type `f64` of a table in an answer.
fn doubles(table: &Value, name: &str, arrays: &[u8]) -> Vec<f64> {
    let columns = table["columns"].as_array().unwrap();
    let column = columns.iter().find(|column| column["name"] == name).unwrap();
    assert_eq!(column["kind"], "f64");
    let (at, length) = (column["at"].as_u64().unwrap() as usize, column["length"].as_u64().unwrap() as usize);
    let bytes = &arrays[at..at + 8 * length];
    bytes.chunks(8).map(|one| f64::from_le_bytes(one.try_into().unwrap())).collect()
}

#[test]
fn reading_returns_the_scenario_with_its_defaults() {
    let (found, _) = result(&json!({ "call": "read", "text": TEXT }));
    let scenario = &found["scenario"];
    assert_eq!(
        (&scenario["users"], &scenario["radio"], &scenario["runs"]),
        (&json!(1), &json!("dch"), &json!(10))
    );
    assert_eq!(found["document"]["radio"]["dch"]["bler"], json!(0.1));
    assert_eq!(found["problems"], json!([]));
}

#[test]
fn reading_returns_problems_with_line_key_and_remedy() {
    let (found, _) = result(&json!({ "call": "read", "text": TEXT.replace("0.1", "2") }));
    assert_eq!(found["scenario"], Value::Null);
    let problem = &found["problems"][0];
    assert_eq!((&problem["line"], &problem["key"]), (&json!(1), &json!("radio.dch.bler")));
    assert_eq!(
        (&problem["problem"], &problem["expected"]),
        (&json!("2 is not a probability"), &json!("a number from 0 to 1"))
    );
}

#[test]
fn runs_have_the_tables_of_the_core() {
    let scenario = nodeb_sim::scenario::from_toml(TEXT, "scenario", &[]).unwrap();
    let native = nodeb_sim::run(&scenario, 1, 3, &nodeb_sim::Control::default()).unwrap();
    let over_time = json!({ "intervalS": 0.01, "most": 50 });
    for request in [json!({}), json!({ "overTime": over_time })] {
        let mut request = request;
        request["call"] = json!("run");
        request["text"] = json!(TEXT);
        request["run"] = json!(3);
        let (found, arrays) = result(&request);
        assert_eq!(found["tables"][0]["name"], "flows");
        assert_eq!(doubles(&found["tables"][0], "download_s", &arrays), [native.flows[0].download_s]);
        assert_eq!(found["endS"], json!(native.end_s));
    }
}

#[test]
fn intervals_double_until_the_run_fits() {
    let over_time = json!({ "intervalS": 0.01, "most": 50 });
    let (found, arrays) = result(&json!({ "call": "run", "text": TEXT, "overTime": over_time }));
    let (end_s, interval_s) =
        (found["endS"].as_f64().unwrap(), found["overTime"]["intervalS"].as_f64().unwrap());
    assert!(end_s / interval_s > 25.0 && end_s / interval_s <= 50.0, "{end_s} / {interval_s}");
    let table = &found["overTime"]["table"];
    let (times, rates) = (doubles(table, "t_s", &arrays), doubles(table, "delivered_bps", &arrays));
    let seconds = |begin: f64| interval_s.min(end_s - begin);
    let bits: f64 = times.iter().zip(&rates).map(|(begin, rate)| rate * seconds(*begin)).sum();
    assert!((8.0 * 50_000.0..8.0 * 60_000.0).contains(&bits), "{bits}");
}

#[test]
fn replications_are_those_of_single_runs() {
    let (all, arrays) = result(&json!({ "call": "replicate", "text": TEXT, "runs": 3 }));
    let together = doubles(&all["tables"][0], "download_s", &arrays);
    for (run, time) in together.iter().enumerate() {
        let (one, arrays) = result(&json!({ "call": "run", "text": TEXT, "run": run }));
        assert_eq!(doubles(&one["tables"][0], "download_s", &arrays), [*time]);
    }
}

#[test]
fn answers_read_the_tables_of_earlier_answers() {
    let batch = |run: u64, runs: u64| {
        let request = json!({ "call": "replicate", "text": TEXT, "run": run, "runs": runs });
        let mut bytes = answer(&framed(&request, &[]));
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let (first, second) = (batch(0, 2), batch(2, 3));
    let (one, all) = (first.len(), first.len() + second.len());
    let side = |runs| json!({ "text": TEXT, "first": 0, "runs": runs, "batches": 2, "paths": [] });
    let asked = |sides: &[Value]| {
        let places: Vec<_> = sides.iter().flat_map(|_| [(0, one), (one, all)]).collect();
        let request = json!({ "call": "answer", "sides": sides, "answers": places });
        read(&answer(&framed(&request, &[&first, &second]))).0["result"].take()
    };
    let said = asked(&[side(4)]);
    let row = |said: &Value| said["sides"][0]["summary"].as_array().unwrap()[0].clone();
    assert_eq!((row(&said)["metric"].clone(), row(&said)["n"].clone()), (json!("received_bps"), json!(4)));
    assert_eq!(said["compared"], Value::Null);
    let both = asked(&[side(4), side(4)]);
    assert_eq!(row(&both), row(&said));
    assert!(both["compared"]["headline"].as_str().unwrap().starts_with("No difference"));

    let request = json!({
        "call": "judge", "runs": 2, "relative": 10.0, "maxRuns": 100, "answers": [(0, one), (one, all)],
    });
    let judged = read(&answer(&framed(&request, &[&first, &second]))).0["result"].take();
    assert_eq!(judged["stop"], json!(2));
}

#[test]
fn errors_name_their_kind() {
    for (request, kind) in [
        (json!({ "call": "run", "text": "radio" }), "scenario"),
        (json!({ "call": "explain", "text": TEXT, "user": 7 }), "request"),
        (json!({ "call": "life", "text": TEXT, "fromS": -1.0 }), "request"),
        (json!({ "call": "life", "text": TEXT, "most": 10 }), "request"),
        (json!({ "call": "run", "text": TEXT, "overTime": { "intervalS": 0.0 } }), "request"),
        (json!({ "call": "nothing" }), "internal"),
    ] {
        let (found, _) = ask(&request);
        assert_eq!(found["error"], kind, "{request}");
    }
}

#[test]
fn lives_and_critical_paths_have_their_tables() {
    let (path, arrays) = result(&json!({ "call": "explain", "text": TEXT }));
    assert!(path["spans"]["rows"].as_u64().unwrap() > 10 && !arrays.is_empty());
    let (life, _) = result(&json!({ "call": "life", "text": TEXT, "toS": 1.0 }));
    let names: Vec<_> = life["tables"].as_array().unwrap().iter().map(|table| &table["name"]).collect();
    assert_eq!(names, ["events", "packets", "hops", "blocks"]);
}
