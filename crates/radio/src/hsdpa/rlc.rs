//! RLC ends at the RNC.

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;
use nodeb_base::units::Size;

use nodeb_air::rlc::am::{AcknowledgedMode, status};
use nodeb_air::rlc::umts::UmtsRlc;
use nodeb_air::rlc::umts::payload::{Payload, RLC_HEADER};
use nodeb_air::rlc::umts::um::UnacknowledgedMode;

registry! {
    /// RLC mode above MAC-hs, as a scenario names it.
    "RLC mode" RlcModeSpec = Um {
        /// Unacknowledged mode: packets are lost with blocks that MAC-hs gives up.
        "um" => Um(UnacknowledgedMode),
        /// Acknowledged mode (TS 25.322): PDUs that MAC-hs gives up are retransmitted.
        "am" => Am(AcknowledgedMode),
    }
}

impl RlcModeSpec {
    /// In acknowledged mode a PDU with its header.
    pub fn smallest_portion(&self, pdu_size: Size) -> Size {
        match self {
            Self::Um(_) => pdu_size,
            Self::Am(_) => Size(pdu_size.0 + RLC_HEADER),
        }
    }

    /// Unacknowledged mode has timers only with a discard timer.
    pub fn has_timers(&self) -> bool {
        match self {
            Self::Um(params) => params.discard_timer.is_some(),
            Self::Am(_) => true,
        }
    }

    /// PDUs of acknowledged mode must hold a status report.
    pub fn check_for(&self, pdu_size: Size, check: &mut Check) {
        check.within("rlc", |check| self.check(check));
        let least = u64::from(status::SMALLEST_PDU_BYTES) - RLC_HEADER;
        check.require(matches!(self, Self::Um(_)) || pdu_size.0 >= least, "pdu_size", || {
            format!("no status report fits into a PDU of {pdu_size}; expected at least {least} B with `am`")
        });
    }

    /// `buffer` is in packets.
    pub fn build(&self, payload: Payload, buffer: usize, id: u64, streams: &Streams) -> UmtsRlc {
        match self {
            Self::Um(params) => UmtsRlc::um(params, payload, buffer),
            Self::Am(params) => UmtsRlc::am(params, payload, buffer, id, streams),
        }
    }
}
