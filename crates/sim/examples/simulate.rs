//! Runs one replication of a scenario file and prints what it cost: the core without Python, for
//! profiling and for benchmarks of a whole process.
//!
//! ```text
//! cargo run --release --example simulate -- FILE [key=value ...]
//! ```

use std::process::ExitCode;
use std::time::Instant;

use nodeb_sim::{Control, Scenario, run, scenario};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: simulate FILE [key=value ...]");
        return ExitCode::from(2);
    };
    let overrides: Vec<String> = arguments.collect();
    match read(&file, &overrides).and_then(|scenario| report(&scenario)) {
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

fn report(scenario: &Scenario) -> Result<(), String> {
    let begin = Instant::now();
    let result = run(scenario, scenario.seed, 0, &Control::default()).map_err(|error| error.to_string())?;
    let wall_s = begin.elapsed().as_secs_f64();
    let packets: u64 = result.flows.iter().map(|flow| flow.sender.packets).sum();
    println!(
        "simtime={:.3} data_pkts={packets} events={} wall_s={wall_s:.3} ns_per_pkt={:.0}",
        result.end_s,
        result.events,
        wall_s * 1e9 / packets as f64,
    );
    Ok(())
}
