//! Values of the fields of `struct tcp_info` that nodeb models.

use nodeb_base::units::Duration;
use nodeb_tcp::linux::Info;

/// Slow-start threshold that Linux reports before the first reduction (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u64 = 0x7fff_ffff;

/// `options` is the value of `tcpi_options`.
pub fn value(info: &Info, options: u64, name: &str) -> Option<f64> {
    let us = |time: Duration| time.0 / 1_000;
    let value = match name {
        "tcpi_state" => 1,
        "tcpi_options" => options,
        "tcpi_ca_state" => info.ca_state as u64,
        "tcpi_snd_cwnd" => info.cwnd,
        "tcpi_snd_ssthresh" => info.ssthresh.unwrap_or(NO_THRESHOLD),
        "tcpi_unacked" => info.unacked,
        "tcpi_sacked" => info.sacked,
        "tcpi_lost" => info.lost,
        "tcpi_retrans" => info.retrans,
        "tcpi_total_retrans" => info.total_retrans,
        "tcpi_retransmits" => info.retransmits,
        "tcpi_reordering" => info.reordering,
        "tcpi_rtt" => us(info.rtt?),
        "tcpi_min_rtt" => us(info.min_rtt?),
        "tcpi_rto" => us(info.rto),
        "tcpi_snd_mss" => info.snd_mss,
        "tcpi_bytes_acked" => info.bytes_acked,
        "tcpi_notsent_bytes" => info.notsent_bytes,
        _ => return None,
    };
    Some(value as f64)
}
