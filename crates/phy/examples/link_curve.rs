//! Prints error rates of a service over Eb/N0: `link_curve KBPS PROFILE BITS BLOCK_ERRORS THREADS EB_N0_DB...`, with
//! KBPS one of 64, 144 and 384, and PROFILE as in a configuration, such as `static` or `vehicular_a`. For
//! other links, the arguments are `link_curve LINK.json BITS BLOCK_ERRORS THREADS EB_N0_DB...`.

use std::error::Error;
use std::ops::ControlFlow;
use std::time::Instant;

use nodeb_phy::link::{Link, Service, Stop, run};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut link, rest) = match arguments.as_slice() {
        [file, rest @ ..] if std::path::Path::new(file).is_file() => {
            (serde_json::from_str(&std::fs::read_to_string(file)?)?, rest)
        }
        [kbps, profile, rest @ ..] => {
            let mut link = Link::new(Service::costamagna(kbps.parse()?)?, 0.0);
            link.air.profile = serde_json::from_str(&format!("\"{profile}\""))?;
            (link, rest)
        }
        _ => return Err("link_curve KBPS PROFILE BITS BLOCK_ERRORS THREADS EB_N0_DB...".into()),
    };
    let [bits, block_errors, threads, points @ ..] = rest else {
        return Err("bits, block errors, threads and points are missing".into());
    };
    let stop = Stop { bits: bits.parse::<f64>()? as u64, block_errors: Some(block_errors.parse()?) };
    println!("eb_n0_db,bits,raw_ber,ber,per,bler,bler_low,bler_high,signalling,iterations,times_real");
    for point in points {
        link.eb_n0_db = point.parse()?;
        let start = Instant::now();
        let outcome = run(&link, 1, stop, threads.parse()?, &mut |_| ControlFlow::Continue(()))?;
        let counts = outcome.counts;
        let (low, high) = counts.blocks.interval95();
        println!(
            "{point},{},{:.3e},{:.3e},{:.3e},{:.3e},{low:.2e},{high:.2e},{:.2e},{:.2},{:.2}",
            counts.bits.trials,
            counts.raw.rate(),
            counts.bits.rate(),
            counts.pdus.rate(),
            counts.blocks.rate(),
            counts.signalling.rate(),
            counts.iterations as f64 / counts.blocks.trials as f64,
            counts.seconds / start.elapsed().as_secs_f64(),
        );
    }
    Ok(())
}
