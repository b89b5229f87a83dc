//! Episodes of loss recovery: `Open`, `Recovery` (fast recovery or a reduction after an ECN mark),
//! and `Loss` (after a timeout).

use crate::linux::control::Phase;
use crate::linux::frto::Frto;
use crate::linux::prr::Prr;

/// Episode of loss recovery. It lasts until the data sent before its start is acknowledged, or
/// until it turns out to be spurious. `Open` lasts until the next loss or ECN mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// No loss is being repaired, and no window reduction is in progress.
    Open,
    /// Recovery without a timeout: lost segments are retransmitted, or the window is reduced
    /// because of an ECN mark. PRR spreads the reduction, if the congestion control uses PRR.
    Recovery {
        /// Next byte to be sent at the start (`RecoveryPoint`). The recovery ends when all bytes
        /// below this one are acknowledged. A reduction after an ECN mark alone ends when this byte
        /// itself is acknowledged.
        until: u64,
        /// PRR state of the window reduction; `None` if the congestion control does not use PRR or
        /// the reduction was undone.
        prr: Option<Prr>,
        /// Whether segments were lost. If this is false, an ECN mark alone has caused the window
        /// reduction (Linux: `TCP_CA_CWR`).
        repairs: bool,
    },
    /// Recovery after a retransmission timeout, in which lost segments are retransmitted.
    Loss {
        /// Next byte to be sent at the timeout. The recovery ends when all bytes below it are
        /// acknowledged.
        until: u64,
        /// Stage of F-RTO's detection of a spurious timeout; `None` if the detection is off or has
        /// ended.
        frto: Option<Frto>,
    },
}

impl Episode {
    /// Returns the phase of loss recovery that each ACK reports to the congestion control.
    pub fn phase(&self) -> Phase {
        match self {
            Self::Open => Phase::Open,
            Self::Recovery { .. } => Phase::Recovery,
            Self::Loss { .. } => Phase::Loss,
        }
    }

    /// Returns true in a recovery that repairs losses (Linux: `TCP_CA_Recovery`).
    pub fn is_recovery(&self) -> bool {
        matches!(self, Self::Recovery { repairs: true, .. })
    }

    /// Returns true if the window is being reduced because of an ECN mark alone (Linux: `TCP_CA_CWR`).
    pub fn is_reduced(&self) -> bool {
        matches!(self, Self::Recovery { repairs: false, .. })
    }

    /// Returns true while losses are being repaired, whether after a timeout or not.
    pub fn repairs(&self) -> bool {
        match self {
            Self::Open => false,
            Self::Recovery { repairs, .. } => *repairs,
            Self::Loss { .. } => true,
        }
    }

    /// Returns the PRR state of the present window reduction, or `None` if PRR spreads no reduction
    /// now.
    pub fn prr(&self) -> Option<&Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_ref() } else { None }
    }

    /// Returns the PRR state of the present window reduction mutably, or `None` if PRR spreads no
    /// reduction now.
    pub fn prr_mut(&mut self) -> Option<&mut Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_mut() } else { None }
    }

    /// Returns the next byte that was to be sent when the episode began, or `None` in the episode
    /// `Open`.
    pub fn until(&self) -> Option<u64> {
        match self {
            Self::Open => None,
            Self::Recovery { until, .. } | Self::Loss { until, .. } => Some(*until),
        }
    }
}
