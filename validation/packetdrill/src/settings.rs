//! Parameters of a connection, as set by the commands and socket options of a script.

use std::num::NonZeroU32;

use nodeb_base::units::{Duration, Size};
use nodeb_tcp::linux::Linux;
use nodeb_tcp::segment::HEADER_BYTES;

use crate::expression::arithmetic;
use crate::script::Call;

/// Settings that have no effect on nodeb, such as those of segmentation offload and pacing without `fq`,
/// or whose effect the SYNs of a script show.
const IGNORED_SYSCTLS: [&str; 26] = [
    "tcp_tso_win_divisor",
    "tcp_min_tso_segs",
    "tcp_tso_rtt_log",
    "tcp_pacing_ss_ratio",
    "tcp_pacing_ca_ratio",
    "tcp_fack",
    "tcp_recovery",
    "tcp_syn_retries",
    "tcp_synack_retries",
    "tcp_retries1",
    "tcp_retries2",
    "tcp_fastopen",
    "tcp_fastopen_key",
    "tcp_syncookies",
    "tcp_notsent_lowat",
    "tcp_limit_output_bytes",
    "tcp_no_metrics_save",
    "tcp_metrics",
    "tcp_ecn",
    "tcp_ecn_option",
    "tcp_ecn_fallback",
    "tcp_timestamps",
    "tcp_window_scaling",
    "tcp_adv_win_scale",
    "tcp_moderate_rcvbuf",
    "tcp_min_rtt_wlen",
];

const IGNORED_COMMANDS: [&str; 6] =
    ["ethtool ", "ip tcp_metrics", "sleep ", "/tmp/sysctl_restore", "ip link", "nstat"];

const IGNORED_OPTIONS: [&str; 16] = [
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_ZEROCOPY",
    "SO_TIMESTAMPING",
    "SO_RCVLOWAT",
    "SO_RCVTIMEO",
    "SO_SNDTIMEO",
    "SO_MARK",
    "SO_ERROR",
    "SO_LINGER",
    "TCP_INQ",
    "TCP_INFO",
    "TCP_NOTSENT_LOWAT",
    "TCP_FASTOPEN",
    "IP_TOS",
    "IP_FREEBIND",
];

/// Fraction of a receive buffer's memory that holds payload (`tcp_rmem`, see
/// [`Linux::receive_buffer`]).
const PAYLOAD_SHARE: (u64, u64) = (160, 256);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub tcp: Linux,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
    /// Bytes (`TCP_MAXSEG`).
    pub max_segment: Option<u64>,
}

impl Settings {
    /// Shell commands before the first event of a script.
    ///
    /// # Errors
    /// A description of a command that changes something that nodeb does not model.
    pub fn command(&mut self, text: &str) -> Result<(), String> {
        for line in expanded(&text.replace("\\\n", " "))?.split(['\n', ';']).map(str::trim) {
            if line.is_empty()
                || line.starts_with('#')
                || IGNORED_COMMANDS.iter().any(|start| line.starts_with(start))
            {
                continue;
            }
            if line.starts_with("tc ") {
                self.tcp.pacing |= line.split_whitespace().last() == Some("fq");
            } else if line.contains("defaults.sh") {
                self.usual();
            } else if line.contains("sysctl") {
                self.sysctls(line)?;
            } else if line.starts_with("ip route") {
                self.route(line)?;
            } else {
                return Err(format!("the command `{line}`"));
            }
        }
        Ok(())
    }

    /// Checks shell commands that a script runs between its events. Only commands that change no setting are
    /// accepted, as the settings of the connection are fixed by then.
    ///
    /// # Errors
    /// A description of a command that changes a setting, or something that nodeb does not model.
    pub fn command_under_way(&self, text: &str) -> Result<(), String> {
        let mut changed = self.clone();
        changed.command(text)?;
        if changed == *self {
            return Ok(());
        }
        Err(format!("a setting that changes at a time: `{text}` (before the first event it is modelled)"))
    }

    /// Applies the settings of the public scripts' `defaults.sh` that differ from Linux's defaults and have
    /// an effect on nodeb.
    fn usual(&mut self) {
        self.tcp.slow_start_after_idle = false;
        self.tcp.initial_receive_buffer = payload(540_000);
        self.tcp.receive_buffer = payload(15 << 20);
    }

    fn sysctls(&mut self, line: &str) -> Result<(), String> {
        for (at, _) in line.match_indices("tcp_") {
            let text = &line[at..];
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
            let (name, rest) = text.split_at(end);
            if let Some(value) = rest.strip_prefix('=') {
                let value = match value.strip_prefix(['"', '\'']) {
                    Some(quoted) => quoted.split(['"', '\'']).next().unwrap_or(""),
                    None => value.split_whitespace().next().unwrap_or(""),
                };
                self.sysctl(name, value)?;
            }
        }
        Ok(())
    }

    fn sysctl(&mut self, name: &str, value: &str) -> Result<(), String> {
        let on = value != "0";
        let numbers: Vec<u64> = value.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        match (name, numbers.as_slice()) {
            ("tcp_sack", _) if !on => self.without_sack(),
            ("tcp_sack", _) | ("tcp_reordering", [3]) | ("tcp_mtu_probing", [0]) => {}
            ("tcp_dsack", _) => self.tcp.dsack = on,
            ("tcp_early_retrans", _) => self.tcp.tail_loss_probe = on,
            ("tcp_frto", _) => self.tcp.frto = on,
            ("tcp_slow_start_after_idle", _) => self.tcp.slow_start_after_idle = on,
            ("tcp_congestion_control", _) => self.control(value)?,
            ("tcp_wmem", &[.., most]) => self.tcp.send_buffer = Size(most.max(4_608)),
            ("tcp_rmem", &[_, first, most]) => {
                (self.tcp.initial_receive_buffer, self.tcp.receive_buffer) = (payload(first), payload(most));
            }
            _ if IGNORED_SYSCTLS.contains(&name) => {}
            _ => return Err(format!("{name}={value}")),
        }
        Ok(())
    }

    /// Switches off the mechanisms that need SACK: D-SACK, RACK and tail loss probes.
    pub fn without_sack(&mut self) {
        (self.tcp.sack, self.tcp.dsack, self.tcp.rack) = (false, false, false);
        self.tcp.tail_loss_probe = false;
    }

    fn control(&mut self, name: &str) -> Result<(), String> {
        let spec = serde_json::from_value(serde_json::Value::String(name.to_owned()));
        self.tcp.control = spec.map_err(|_| format!("congestion control {name}"))?;
        Ok(())
    }

    fn route(&mut self, line: &str) -> Result<(), String> {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            let mut number = || words.next().and_then(|text| text.trim_end_matches("ms").parse::<u32>().ok());
            match word {
                "initcwnd" => {
                    let window = number().and_then(NonZeroU32::new).filter(|window| window.get() <= 1_000);
                    self.tcp.initial_window = window.ok_or("an initcwnd of this size")?;
                }
                "rto_min" => {
                    self.tcp.min_rto = Duration::from_millis(number().ok_or("this rto_min")?.into());
                }
                "mtu" | "advmss" | "features" | "congctl" | "quickack" | "window" => {
                    return Err(format!("the route's {word}"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// # Errors
    /// The name of a protocol that is not TCP.
    pub fn protocol(call: &Call) -> Result<(), String> {
        let name = call.arguments.rsplit(',').next().unwrap_or("").trim();
        let foreign = name.strip_prefix("IPPROTO_").filter(|&name| !["TCP", "IP"].contains(&name));
        foreign.map_or(Ok(()), |name| Err(format!("a socket of {name}")))
    }

    /// # Errors
    /// The name of an option that changes something that nodeb does not model.
    pub fn socket_option(&mut self, call: &Call) -> Result<(), String> {
        let mut parts = call.arguments.split(',').map(str::trim).skip(2);
        let (name, value) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let value = value.trim_matches(['[', ']', '"']);
        let number = value.parse::<u64>().ok().filter(|&number| number < 1 << 30);
        match (name, number) {
            ("TCP_NODELAY", _) => self.no_delay = value != "0",
            ("TCP_CONGESTION", _) => self.control(value)?,
            ("TCP_MAXSEG", Some(bytes)) => self.max_segment = Some(bytes),
            // Linux doubles both buffer sizes, because it needs part of the memory for itself.
            ("SO_SNDBUF", Some(bytes)) => self.tcp.send_buffer = Size((2 * bytes).max(4_608)),
            ("SO_RCVBUF", Some(bytes)) => {
                self.tcp.receive_buffer = payload(2 * bytes);
                self.tcp.initial_receive_buffer = payload(2 * bytes);
            }
            _ if IGNORED_OPTIONS.contains(&name) => {}
            _ => return Err(format!("the socket option {name}")),
        }
        Ok(())
    }

    /// Sets the maximum payload of segments to `payload` bytes, or to `TCP_MAXSEG` if that is smaller. The
    /// result is clamped to 1 to 65 000 bytes.
    pub fn segments(&mut self, payload: u64) {
        let payload = self.max_segment.map_or(payload, |most| most.min(payload)).clamp(1, 65_000);
        self.tcp.packet_size = Size(payload + u64::from(HEADER_BYTES));
    }
}

/// Returns a shell command with the values of its arithmetic, `$((...))`.
///
/// # Errors
/// The arithmetic, if it is not closed or not a sum or product of whole numbers.
fn expanded(command: &str) -> Result<String, String> {
    let (mut text, mut rest) = (String::new(), command);
    while let Some((before, after)) = rest.split_once("$((") {
        let mut open = 2;
        let end = after.find(|character| {
            open += i32::from(character == '(') - i32::from(character == ')');
            open == 0
        });
        let parts = end.and_then(|end| Some((after[..end].strip_suffix(')')?, &after[end + 1..])));
        let value = parts.and_then(|(inner, _)| arithmetic(inner));
        let unknown = || format!("the arithmetic `$(({}`", &after[..end.map_or(after.len(), |end| end + 1)]);
        text.push_str(before);
        text.push_str(&value.ok_or_else(unknown)?.to_string());
        rest = parts.map_or("", |(_, left)| left);
    }
    Ok(text + rest)
}

/// Returns true if a command tests counters of the kernel, as in `nstat | grep -q " 3 "`. nodeb has no such
/// counters.
pub fn tests_counters(command: &str) -> bool {
    command.trim_start().starts_with("nstat") && command.contains("grep")
}

fn payload(bytes: u64) -> Size {
    Size(bytes.clamp(4_096, 1 << 30) * PAYLOAD_SHARE.0 / PAYLOAD_SHARE.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_recognised_in_every_form() {
        let mut settings = Settings::default();
        let text = "../common/defaults.sh\nsysctl -q net.ipv4.tcp_sack=0 net/ipv4/tcp_frto=0\n\
                    set_sysctls.py /proc/sys/net/ipv4/tcp_wmem=\"4096 50000 70000\" # sysctl\n\
                    ip route replace 192.168.0.0/16 dev tun0 initcwnd 4 rto_min 5ms";
        assert_eq!(settings.command(text), Ok(()));
        let tcp = &settings.tcp;
        assert!(!tcp.sack && !tcp.rack && !tcp.frto && !tcp.slow_start_after_idle);
        assert_eq!((tcp.send_buffer, tcp.initial_window.get()), (Size(70_000), 4));
        assert_eq!(tcp.min_rto, Duration::from_millis(5));
    }

    /// By the shell, 2 * (3 + 4) * 1024 is 14336.
    #[test]
    fn arithmetic_of_shell_is_evaluated() {
        let mut settings = Settings::default();
        let text = "sysctl -q net.ipv4.tcp_wmem=\"4096 $((64*1024)) $((2 * (3 + 4)*1024))\"";
        assert_eq!(settings.command(text), Ok(()));
        assert_eq!(settings.tcp.send_buffer, Size(14_336));
        assert_eq!(settings.command("nstat -n"), Ok(()));
        assert!(tests_counters("nstat | grep -q \" 3 \"") && !tests_counters("nstat > /dev/null"));
    }

    #[test]
    fn setting_not_modelled_is_named() {
        for (text, what) in [
            ("sysctl -q net.ipv4.tcp_reordering=10", "tcp_reordering=10"),
            ("sysctl net.ipv4.tcp_congestion_control=dctcp", "congestion control dctcp"),
            ("iptables -A INPUT", "the command `iptables -A INPUT`"),
            ("ip route change default mtu 600", "the route's mtu"),
            ("sysctl net.ipv4.tcp_wmem=\"1 2 $((7/x))\"", "the arithmetic `$((7/x))`"),
            ("sysctl net.ipv4.tcp_wmem=\"1 2 $((7", "the arithmetic `$((7`"),
        ] {
            assert_eq!(Settings::default().command(text), Err(what.to_owned()));
        }
        let late = Settings::default().command_under_way("sysctl -q net.ipv4.tcp_slow_start_after_idle=0");
        assert!(late.is_err_and(|what| what.starts_with("a setting that changes at a time")));
        assert_eq!(Settings::default().command_under_way("sleep 1"), Ok(()));
    }
}
