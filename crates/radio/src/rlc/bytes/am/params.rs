//! Parameters of acknowledged mode: timers, triggers of polls, and the limit of retransmissions.

use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Size};

use crate::rlc::am::params::require_timer;

params! {
    /// Parameters of acknowledged mode of RLC in LTE (TS 36.322, 7.3 and 7.4).
    pub struct AmBytes {
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

impl Checked for AmBytes {
    fn check(&self, check: &mut Check) {
        require_timer(check, "t_reordering", Some(self.t_reordering));
        require_timer(check, "status_prohibit", self.status_prohibit);
        require_timer(check, "poll_retransmit", Some(self.poll_retransmit));
        check.require(self.poll_byte.is_none_or(|size| size.0 > 0), "poll_byte", || {
            "0 B polls in every PDU; expected a size above 0".to_owned()
        });
    }
}
