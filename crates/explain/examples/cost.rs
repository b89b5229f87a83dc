//! Simulates a scenario file, or explains user 0's first transfer, `TIMES` times (default 1), so
//! that a profiler can measure instructions and time: `cost run|explain FILE [TIMES]`.

use nodeb_explain::explain;
use nodeb_sim::{Control, Scenario, run, scenario};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, file, times) = match &arguments[..] {
        [what, file] => (what, file, 1),
        [what, file, times] => (what, file, times.parse().expect("a number of times")),
        _ => panic!("cost run|explain FILE [TIMES]"),
    };
    let text = std::fs::read_to_string(file).expect("a scenario file");
    let scenario = scenario::from_toml(&text, file, &[]).expect("a scenario");
    repeat(what, &scenario, times);
    println!("runs={times}");
}

/// This function is not inlined, so that a profiler can count its instructions separately from those that
/// read the scenario.
#[inline(never)]
fn repeat(what: &str, scenario: &Scenario, times: u64) {
    let control = Control::default();
    for _ in 0..times {
        let tables = if what == "run" {
            run(scenario, 1, 0, &control).expect("a result").tables(0, scenario)
        } else {
            let path = explain(scenario, 1, 0, &control, (0, 0)).expect("a path");
            vec![path.transfer(), path.spans()]
        };
        assert!(!tables.is_empty());
    }
}
