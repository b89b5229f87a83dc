//! Runs replications of a scenario file with the Rust core alone: for profiling, for benchmarks of a whole process and
//! for counts of instructions. It reads no clock, so simulating a scenario takes the same number of instructions in
//! every run. Usage: `simulate FILE [--runs=N] [key=value ...]`.

use std::process::ExitCode;

use nodeb_sim::{Control, Scenario, run, scenario};

fn main() -> ExitCode {
    let (options, mut others): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let runs = match &options[..] {
        [] => Some(1),
        [one] => one.strip_prefix("--runs=").and_then(|number| number.parse().ok()),
        _ => None,
    };
    let (Some(runs), false) = (runs, others.is_empty()) else {
        eprintln!("usage: simulate FILE [--runs=N] [key=value ...]");
        return ExitCode::from(2);
    };
    let file = others.remove(0);
    match read(&file, &others).and_then(|scenario| report(&scenario, runs)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn read(file: &str, overrides: &[String]) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    scenario::from_toml(&text, file, overrides).map_err(|error| error.to_string())
}

/// This function is never inlined, so that a profiler can count instructions from its start on. The TOML
/// reader, which runs before, hashes with random keys, so its number of instructions varies.
#[inline(never)]
fn report(scenario: &Scenario, runs: u64) -> Result<(), String> {
    let (mut end_s, mut packets, mut events) = (0.0, 0, 0);
    for number in 0..runs {
        let result =
            run(scenario, scenario.seed, number, &Control::default()).map_err(|error| error.to_string())?;
        end_s += result.end_s;
        packets += result.flows.iter().map(|flow| flow.sender.packets).sum::<u64>();
        events += result.events;
    }
    println!("simtime={end_s:.3} data_pkts={packets} events={events} runs={runs}");
    Ok(())
}
