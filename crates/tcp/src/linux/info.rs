//! `struct tcp_info`, `tcp_get_info`.

use nodeb_base::units::Duration;

use super::loss::Episode;
use super::sender::Sender;

/// `tcp_ca_state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    /// No sign of a loss.
    Open = 0,
    /// Duplicate ACKs, SACKs or retransmissions without a recovery.
    Disorder = 1,
    /// Reduction by an ECN mark.
    Cwr = 2,
    /// Without a timeout.
    Recovery = 3,
    /// After a retransmission timeout.
    Loss = 4,
}

/// In segments unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    pub ca_state: CaState,
    /// Or the window set from outside, rounded up.
    pub cwnd: u64,
    /// `None` if there is none, as always with BBR.
    pub ssthresh: Option<u64>,
    /// `packets_out`.
    pub unacked: u64,
    /// `sacked_out`; without SACK, by duplicate ACKs.
    pub sacked: u64,
    /// `lost_out`, retransmitted or not.
    pub lost: u64,
    /// `retrans_out`.
    pub retrans: u64,
    /// Since the start.
    pub total_retrans: u64,
    /// Since data was last acknowledged, without those at a closed window.
    pub retransmits: u64,
    /// Initially 3; without SACK, duplicate ACKs that indicate a loss.
    pub reordering: u64,
    /// Smoothed.
    pub rtt: Option<Duration>,
    /// Of the connection.
    pub min_rtt: Option<Duration>,
    /// With backoff.
    pub rto: Duration,
    pub snd_mss: u64,
    /// Payload, since the start.
    pub bytes_acked: u64,
    /// In the send buffer, without what the application could not yet write to it.
    pub notsent_bytes: u64,
}

impl Sender {
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
