//! `nodeb-packetdrill PATH...`: plays scripts and prints the outcome of each.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use nodeb_base::units::Duration;
use nodeb_packetdrill::download::Download;
use nodeb_packetdrill::kernel;
use nodeb_packetdrill::report::{Verdict, find, play_text, summarize};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(what) => {
            eprintln!("error: {what}");
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "usage: nodeb-packetdrill [--kernel] [--tolerance MS] SCRIPT_OR_FOLDER...
       nodeb-packetdrill record [KEY=VALUE...]

Plays packetdrill scripts against nodeb's TCP, or with --kernel against the kernel of this machine (which needs
root and packetdrill on the path). Times may be off by MS milliseconds; without the option by what a script says,
else by 4.

With record, writes a download by nodeb as a script: bytes, or writes at several times (as in writes=0:5000,2.5:900),
rate_bps, delay_ms, queue (packets), lost (data packets by the order in which they are sent, as in lost=5,9), control,
timestamps (0 or 1), packet_size.";

#[derive(Default)]
struct Request {
    kernel: bool,
    tolerance: Option<Duration>,
    paths: Vec<PathBuf>,
}

impl Request {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let mut request = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--kernel" => request.kernel = true,
                "--tolerance" => {
                    let ms = arguments.next().and_then(|ms| ms.parse::<u32>().ok());
                    let ms = ms.ok_or("--tolerance needs a whole number of milliseconds")?;
                    request.tolerance = Some(Duration::from_millis(ms.into()));
                }
                option if option.starts_with('-') => return Err(format!("unknown option {option}\n{USAGE}")),
                path => request.paths.push(path.into()),
            }
        }
        if request.paths.is_empty() { Err(USAGE.to_owned()) } else { Ok(request) }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode, String> {
    if let Some((_, keys)) = arguments.split_first().filter(|(command, _)| *command == "record") {
        let mut download = Download::default();
        keys.iter().try_for_each(|key| download.set(key))?;
        show(&download.script())?;
        return Ok(ExitCode::SUCCESS);
    }
    let request = Request::read(arguments)?;
    let mut verdicts = Vec::new();
    for path in &request.paths {
        let scripts = find(path).map_err(|error| format!("{}: {error}", path.display()))?;
        for script in scripts {
            let verdict = if request.kernel {
                kernel::play(&script, request.tolerance)?.into()
            } else {
                let text =
                    std::fs::read(&script).map_err(|error| format!("{}: {error}", script.display()))?;
                play_text(&String::from_utf8_lossy(&text), request.tolerance)
            };
            let shown = script.strip_prefix(path).ok().filter(|rest| rest.file_name().is_some());
            show(&format!("{:<18}{}: {verdict}\n", verdict.name(), shown.unwrap_or(&script).display()))?;
            verdicts.push(verdict);
        }
    }
    show(&(summarize(&verdicts) + "\n"))?;
    Ok(ExitCode::from(u8::from(verdicts.iter().any(Verdict::is_failure))))
}

/// Prints a text. Returns an error if the pipe is closed, where `print!` would panic.
fn show(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
}
