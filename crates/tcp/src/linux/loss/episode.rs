use crate::linux::control::Phase;
use crate::linux::frto::Frto;
use crate::linux::prr::Prr;

/// Until the data sent before is acknowledged, or it turns out to be spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Episode {
    /// Neither repair nor window reduction.
    Open,
    /// Without a timeout, or a reduction by an ECN mark.
    Recovery {
        /// `RecoveryPoint`: ends when all bytes below it, after an ECN mark alone itself, are acknowledged.
        until: u64,
        /// `None` without PRR or after an undo.
        prr: Option<Prr>,
        /// False for an ECN mark alone (Linux: `TCP_CA_CWR`).
        repairs: bool,
    },
    /// After a retransmission timeout.
    Loss {
        /// Ends when all bytes below it are acknowledged.
        until: u64,
        /// `None` if off or ended.
        frto: Option<Frto>,
    },
}

impl Episode {
    pub fn phase(&self) -> Phase {
        match self {
            Self::Open => Phase::Open,
            Self::Recovery { .. } => Phase::Recovery,
            Self::Loss { .. } => Phase::Loss,
        }
    }

    /// `TCP_CA_Recovery`.
    pub fn is_recovery(&self) -> bool {
        matches!(self, Self::Recovery { repairs: true, .. })
    }

    /// `TCP_CA_CWR`.
    pub fn is_reduced(&self) -> bool {
        matches!(self, Self::Recovery { repairs: false, .. })
    }

    /// After a timeout or not.
    pub fn repairs(&self) -> bool {
        match self {
            Self::Open => false,
            Self::Recovery { repairs, .. } => *repairs,
            Self::Loss { .. } => true,
        }
    }

    pub fn prr(&self) -> Option<&Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_ref() } else { None }
    }

    pub fn prr_mut(&mut self) -> Option<&mut Prr> {
        if let Self::Recovery { prr, .. } = self { prr.as_mut() } else { None }
    }

    /// Next byte to be sent at the begin.
    pub fn until(&self) -> Option<u64> {
        match self {
            Self::Open => None,
            Self::Recovery { until, .. } | Self::Loss { until, .. } => Some(*until),
        }
    }
}
