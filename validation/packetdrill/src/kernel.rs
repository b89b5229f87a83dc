//! Plays scripts on the kernel of this machine, with `packetdrill` in its own network namespace.

use std::path::Path;
use std::process::Command;

use nodeb_base::units::Duration;

/// Options that set the addresses of the two ends. The addresses only need to differ.
const ADDRESSES: [&str; 5] = [
    "--ip_version=ipv4",
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
];

const PATIENCE_S: &str = "120";

/// Plays a script on the kernel. Returns packetdrill's message about the first difference, or `None` if there
/// is none.
///
/// # Errors
/// If the script or the program `packetdrill` is missing. Missing root rights are no error: the returned message
/// is then that of `unshare`.
pub fn play(script: &Path, tolerance: Option<Duration>) -> Result<Option<String>, String> {
    let script = script.canonicalize().map_err(|error| format!("{}: {error}", script.display()))?;
    let mut command = Command::new("timeout");
    command.args([PATIENCE_S, "unshare", "--net", "packetdrill"]).args(ADDRESSES);
    command.args(tolerance.map(|time| format!("--tolerance_usecs={}", time.0 / 1_000)));
    // The working folder is that of the script, since scripts name commands by paths relative to their own
    // folder.
    command.current_dir(script.parent().unwrap_or(Path::new("/"))).arg(&script);
    let output = command.output().map_err(|error| format!("timeout: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(None),
        Some(124) => Ok(Some(format!("no end within {PATIENCE_S} s"))),
        Some(126 | 127) => Err(format!("packetdrill cannot be run: {}", said.trim())),
        _ => Ok(Some(difference(&said))),
    }
}

fn difference(said: &str) -> String {
    let lines: Vec<_> =
        said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains('^')).collect();
    let named = lines.iter().rposition(|line| line.contains(".pkt:")).unwrap_or(0);
    let asserted = lines.iter().rposition(|line| line.starts_with("AssertionError"));
    // In the output of a failed assertion, the line before the error shows the statement.
    let from = asserted.map_or(named, |at| at.saturating_sub(1));
    lines[from.min(lines.len())..].join(" | ")
}
