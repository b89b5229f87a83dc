use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Size};

use crate::allowed::{
    MAX_RETX_THRESHOLD, POLL_BYTE, POLL_PDU, T_POLL_RETRANSMIT, T_REORDERING, T_STATUS_PROHIBIT,
};

params! {
    /// Parameters of acknowledged mode of RLC in LTE (TS 36.322, 7.3 and 7.4).
    pub struct LteAm {
        /// Time for which the receiver waits for a missing PDU before it reports it (t-Reordering).
        pub t_reordering: Duration = Duration::from_millis(80),
        /// Smallest time between two STATUS PDUs (t-StatusProhibit). Default: 60 ms.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub status_prohibit: Option<Duration> = Some(Duration::from_millis(60)),
        /// Time after which the sender repeats an unanswered poll (t-PollRetransmit).
        pub poll_retransmit: Duration = Duration::from_millis(80),
        /// Number of new PDUs after which the sender polls (pollPDU). Default: 128.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub poll_pdu: Option<NonZeroU32> = NonZeroU32::new(128),
        /// Number of new octets after which the sender polls (pollByte). Default: 125 kB.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub poll_byte: Option<Size> = Some(Size(125_000)),
        /// Value of RETX_COUNT at which the radio link fails (maxRetxThreshold); RETX_COUNT is 0 at the first
        /// retransmission of a PDU. The failure itself is not modelled: RLC goes on. Default: 4.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_retransmissions: Option<NonZeroU32> = NonZeroU32::new(4),
    }
}

impl Checked for LteAm {
    fn check(&self, check: &mut Check) {
        T_REORDERING.require_time(check, "t_reordering", self.t_reordering);
        if let Some(prohibit) = self.status_prohibit {
            T_STATUS_PROHIBIT.require_time(check, "status_prohibit", prohibit);
        }
        T_POLL_RETRANSMIT.require_time(check, "poll_retransmit", self.poll_retransmit);
        if let Some(pdus) = self.poll_pdu {
            POLL_PDU.require(check, "poll_pdu", pdus.get().into());
        }
        if let Some(size) = self.poll_byte {
            POLL_BYTE.require(check, "poll_byte", size.0 as f64 / 1_000.0);
        }
        if let Some(most) = self.max_retransmissions {
            MAX_RETX_THRESHOLD.require(check, "max_retransmissions", most.get().into());
        }
    }
}
