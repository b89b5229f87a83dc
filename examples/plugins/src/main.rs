//! Simulates the scenario files given as arguments, which may name this crate's plug-ins.
//!
//! ```text
//! cargo run --release -- scenarios/urgent.toml
//! ```

use nodeb_sim::{Control, run, scenario};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    nodeb_plugins::register();
    for file in std::env::args().skip(1) {
        let scenario = scenario::from_toml(&std::fs::read_to_string(&file)?, &file, &[])?;
        let result = run(&scenario, scenario.seed, 0, &Control::default())?;
        let bytes: u64 = result.flows.iter().map(|flow| flow.delivered_bytes).sum();
        println!("{file}: {bytes} B have arrived by {:.3} s", result.end_s);
    }
    Ok(())
}
