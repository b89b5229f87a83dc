//! Episodes of a connection: open, recovery, and loss after a timeout.

use crate::linux::control::Phase;
use crate::linux::frto::Frto;
use crate::linux::prr::Prr;

/// What the sender is doing. Each phase but the first ends when `until` is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Nothing is known to be lost.
    Open,
    /// What was lost is sent again; PRR spreads the reduction, if the control wants that.
    Recovery {
        /// End of the recovery (`RecoveryPoint`).
        until: u64,
        /// The reduction.
        prr: Option<Prr>,
        /// Whether anything was lost: marks alone reduce the window too (Linux: `TCP_CA_CWR`).
        repairs: bool,
    },
    /// As a recovery, but begun by a timeout.
    Loss {
        /// End of the recovery.
        until: u64,
        /// The search for signs that the timeout was spurious.
        frto: Option<Frto>,
    },
}

impl Episode {
    /// What a control is told of it.
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

    /// Returns true if the window is being reduced for a mark alone (Linux: `TCP_CA_CWR`).
    pub fn is_reduced(&self) -> bool {
        matches!(self, Self::Recovery { repairs: false, .. })
    }

    /// Whether losses are being repaired.
    pub fn repairs(&self) -> bool {
        match self {
            Self::Open => false,
            Self::Recovery { repairs, .. } => *repairs,
            Self::Loss { .. } => true,
        }
    }

    /// The reduction under way.
    pub fn prr(&self) -> Option<&Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_ref() } else { None }
    }

    /// The reduction under way.
    pub fn prr_mut(&mut self) -> Option<&mut Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_mut() } else { None }
    }

    /// Its end.
    pub fn until(&self) -> Option<u64> {
        match self {
            Self::Open => None,
            Self::Recovery { until, .. } | Self::Loss { until, .. } => Some(*until),
        }
    }
}
