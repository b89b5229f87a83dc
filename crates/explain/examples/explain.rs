//! Explains a transfer of a user of a scenario file and prints its causes and the first `SPANS`
//! spans: `explain FILE [USER] [TRANSFER] [SPANS]`, where the three numbers are 0 by default.

use std::collections::BTreeMap;

use nodeb_explain::{Cause, explain};
use nodeb_sim::{Control, scenario};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| arguments.get(at).map_or(0, |text| text.parse().expect("a whole number"));
    let text = std::fs::read_to_string(&arguments[0]).expect("a scenario file");
    let scenario = scenario::from_toml(&text, &arguments[0], &[]).expect("a scenario");
    let path =
        explain(&scenario, scenario.seed, 0, &Control::default(), (number(1), number(2))).expect("a path");
    let mut sums: BTreeMap<Cause, (u64, usize)> = BTreeMap::new();
    for span in &path.spans {
        let sum = sums.entry(span.cause).or_default();
        *sum = (sum.0 + span.duration().0, sum.1 + 1);
    }
    let all = path.ended.since(path.begun).0;
    println!("{} bytes in {} s, complete: {}", path.bytes, all as f64 / 1e9, path.complete);
    for (cause, (ns, spans)) in sums {
        println!(
            "{:28} {:7.3} % {:12.6} s {spans:7}",
            cause.name(),
            ns as f64 * 100.0 / all as f64,
            ns as f64 / 1e9
        );
    }
    for span in path.spans.iter().take(number(3) as usize) {
        println!(
            "{:14} {:14} {:24} {:20} {:12} {:8} {:5} {:?}",
            span.begin.0,
            span.duration().0,
            span.cause.name(),
            span.step.name(),
            path.names.name(span.place),
            span.packet,
            span.seq,
            span.round.map(Cause::name),
        );
    }
}
