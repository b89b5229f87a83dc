//! State of a sender as Linux reports it to applications (`struct tcp_info`, `tcp_get_info`).

use nodeb_base::units::Duration;

use super::loss::Episode;
use super::sender::Sender;

/// State of loss recovery and congestion control (`tcp_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// No sign of a loss, such as a duplicate ACK or SACK.
    Open = 0,
    /// Segments are missing, as duplicate ACKs or SACKs show, or were retransmitted, but no
    /// recovery is in progress.
    Disorder = 1,
    /// The window is being reduced because of an ECN mark.
    Cwr = 2,
    /// Fast recovery: lost segments are retransmitted, without a timeout.
    Recovery = 3,
    /// Recovery after a retransmission timeout, in which lost segments are retransmitted.
    Loss = 4,
}

/// State of a sender at one time. Windows and counts are in segments unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// State of loss recovery and congestion control at the time of the report.
    pub ca_state: CaState,
    /// Congestion window, or the window that was set from outside the connection, in segments,
    /// rounded up.
    pub cwnd: u64,
    /// Slow-start threshold in segments; `None` if there is none, as always with BBR.
    pub ssthresh: Option<u64>,
    /// Number of segments sent and not acknowledged cumulatively (`packets_out`).
    pub unacked: u64,
    /// Number of segments delivered beyond a gap (`sacked_out`); without SACK, the number that
    /// duplicate ACKs indicate.
    pub sacked: u64,
    /// Number of segments marked lost and not reported delivered since, whether retransmitted or
    /// not (`lost_out`).
    pub lost: u64,
    /// Number of segments whose retransmission is in flight (`retrans_out`).
    pub retrans: u64,
    /// Number of retransmissions since the start of the connection.
    pub total_retrans: u64,
    /// Number of timeouts since data was last acknowledged. Timeouts while the receiver's window
    /// was closed do not count.
    pub retransmits: u64,
    /// Degree of reordering, initially 3: without SACK, the number of duplicate ACKs that indicate
    /// a loss (`reordering`).
    pub reordering: u64,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub rtt: Option<Duration>,
    /// Smallest round-trip time of the connection; `None` before the first measurement.
    pub min_rtt: Option<Duration>,
    /// Retransmission timeout with backoff applied.
    pub rto: Duration,
    /// Payload of a full-sized segment in bytes.
    pub snd_mss: u64,
    /// Number of payload bytes acknowledged since the start of the connection.
    pub bytes_acked: u64,
    /// Number of payload bytes in the send buffer that were never sent. Data that the application
    /// could not yet write to the buffer does not count.
    pub notsent_bytes: u64,
}

impl Sender {
    /// Returns the present state of the sender as Linux reports it.
    pub fn info(&self) -> Info {
        let window = crate::Sender::window(self);
        let scoreboard = &self.scoreboard;
        Info {
            ca_state: self.ca_state(),
            // The window may end within a segment, which counts as a whole one.
            cwnd: window.cwnd.ceil() as u64,
            ssthresh: window.ssthresh.is_finite().then_some(window.ssthresh as u64),
            unacked: scoreboard.outstanding_segments(),
            sacked: u64::from(scoreboard.sacked_segments()) + u64::from(self.dupacks),
            lost: scoreboard.lost_segments(),
            retrans: scoreboard.repairs().into(),
            total_retrans: self.counts.retransmissions,
            retransmits: self.timeouts.into(),
            reordering: self.reordering.degree().into(),
            rtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            rto: self.rtt.rto(),
            snd_mss: self.mss,
            bytes_acked: scoreboard.una(),
            notsent_bytes: self.unsent_in_buffer(),
        }
    }

    fn ca_state(&self) -> CaState {
        match self.episode {
            Episode::Open if self.disordered => CaState::Disorder,
            Episode::Open => CaState::Open,
            Episode::Recovery { repairs: false, .. } => CaState::Cwr,
            Episode::Recovery { .. } => CaState::Recovery,
            Episode::Loss { .. } => CaState::Loss,
        }
    }
}
