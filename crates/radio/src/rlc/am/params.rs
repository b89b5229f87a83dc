//! Parameters of acknowledged mode (TS 25.322, 9.5 timers, 9.6 protocol parameters).

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::units::{Duration, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Acknowledged mode. Timers and windows are those of the specification; the defaults suit a
    /// 384 kbps channel: 256 PDUs cover twice the way there and back, and a status report takes as long
    /// as the simple ARQ's feedback.
    pub struct AcknowledgedMode {
        /// PDUs that may be sent and not yet acknowledged (Configured_Tx_Window_Size).
        pub tx_window: NonZeroU32 = positive(256),
        /// PDUs from the first missing one on that the phone takes (Configured_Rx_Window_Size).
        pub rx_window: NonZeroU32 = positive(256),
        /// A PDU is sent at most one time less than this; then its packets are discarded, or the
        /// protocol is reset (MaxDAT). Unlimited when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_dat: Option<NonZeroU32>,
        /// What happens at `max_dat`.
        pub at_max_dat: AtMaxDat,
        /// A packet not acknowledged for so long is discarded (Timer_Discard); never when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discard_timer: Option<Duration>,
        /// When a command to the phone, to move its window (Timer_MRW) or to reset (Timer_RST), is
        /// repeated.
        pub command_timer: Duration = Duration::from_millis(300),
        /// When the phone is asked for a status report.
        pub poll: Polling,
        /// When and how the phone reports.
        pub status: Reports,
    }
}

/// What happens when a PDU has been sent as often as it may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtMaxDat {
    /// Its packets and those before are discarded (9.7.3.3).
    #[default]
    Discard,
    /// The protocol is reset: every packet that has been begun is lost (9.7.3.4, 11.4).
    Reset,
}

params! {
    /// When the sender sets the poll bit (TS 25.322, 9.7.1).
    pub struct Polling {
        /// In the last PDU that can be sent: the buffer is empty, or the window full.
        pub last_pdu: bool = true,
        /// In the last PDU that waits to be sent again.
        pub last_retransmission: bool = true,
        /// In every n-th PDU (Poll_PDU); not when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub every_pdus: Option<NonZeroU32> = NonZeroU32::new(32),
        /// In the last PDU of every n-th packet (Poll_SDU); not when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub every_packets: Option<NonZeroU32>,
        /// When this share of the window is in use (Poll_Window); not when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub window_share: Option<Probability> = Some(Probability(0.5)),
        /// Again, when a poll has not been answered for so long (Timer_Poll).
        pub timer: Duration = Duration::from_millis(300),
        /// At least so long after the last poll (Timer_Poll_Prohibit); at once when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prohibit: Option<Duration>,
        /// Regularly (Timer_Poll_Periodic); not when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub periodic: Option<Duration>,
    }
}

/// How a status report names missing PDUs (TS 25.322, 9.2.2.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusFormat {
    /// By the first of each run and the length of the run (LIST).
    #[default]
    List,
    /// By a bit for each PDU (BITMAP).
    Bitmap,
}

params! {
    /// When the phone sends STATUS PDUs (TS 25.322, 9.7.2), and how they come to the sender.
    pub struct Reports {
        /// When it notices that a PDU is missing.
        pub on_missing: bool = true,
        /// At least so long after the last report (Timer_Status_Prohibit); at once when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prohibit: Option<Duration> = Some(Duration::from_millis(100)),
        /// Regularly (Timer_Status_Periodic); not when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub periodic: Option<Duration>,
        /// How missing PDUs are named. A report that takes more than one PDU acknowledges nothing
        /// behind what the PDU itself names.
        pub format: StatusFormat,
        /// From the end of the TTI that brings a PDU until a report about it is there.
        pub delay: Duration = Duration::from_millis(89),
        /// Probability that a report, or another answer, is lost.
        pub loss_rate: Probability = Probability(0.0),
    }
}

/// The most that TS 25.331 lets the network configure (10.3.4.23): all but one of the sequence numbers,
/// which have 12 bits.
const LARGEST_WINDOW: u32 = 4_095;
const SHORTEST_TIMER: Duration = Duration::from_millis(1);
const LONGEST_TIMER: Duration = Duration::from_secs(600);

impl Checked for AcknowledgedMode {
    fn check(&self, check: &mut Check) {
        for (key, window) in [("tx_window", self.tx_window), ("rx_window", self.rx_window)] {
            check.require(window.get() <= LARGEST_WINDOW, key, || {
                format!("sequence numbers of 12 bits allow a window of {LARGEST_WINDOW}, not {window}")
            });
        }
        check.require(self.rx_window >= self.tx_window, "rx_window", || {
            format!(
                "the phone would refuse PDUs that a window of {} lets through; expected at least `tx_window`",
                self.tx_window
            )
        });
        check.require(self.max_dat.is_none_or(|most| most.get() >= 2), "max_dat", || {
            "a PDU is sent one time less than `max_dat`, so never; expected at least 2".to_owned()
        });
        let unlimited = self.max_dat.is_none();
        check.idle(unlimited, &keys!(self; at_max_dat), "transmissions are unlimited without `max_dat`");
        let why = "without `max_dat` and `discard_timer` there are no commands";
        check.idle(unlimited && self.discard_timer.is_none(), &keys!(self; command_timer), why);
        require_timer(check, "discard_timer", self.discard_timer);
        require_timer(check, "command_timer", Some(self.command_timer));
        check.within("poll", |check| self.poll.check(check));
        check.within("status", |check| self.status.check(check));
    }
}

/// Reports a timer that no specification would set.
pub fn require_timer(check: &mut Check, key: &str, timer: Option<Duration>) {
    check.require(timer.is_none_or(|t| (SHORTEST_TIMER..=LONGEST_TIMER).contains(&t)), key, || {
        format!("{} is out of range; expected {SHORTEST_TIMER} to {LONGEST_TIMER}", timer.unwrap_or_default())
    });
}

impl Checked for Polling {
    fn check(&self, check: &mut Check) {
        check.require(self.last_pdu || self.periodic.is_some(), "last_pdu", || {
            "nobody would ask about the last PDUs of a burst, so that they could be lost for ever; expected \
             `last_pdu = true` or a `periodic` poll"
                .to_owned()
        });
        check.require(self.window_share.is_none_or(|share| share.0 > 0.0), "window_share", || {
            "expected a share of the window above 0".to_owned()
        });
        require_timer(check, "timer", Some(self.timer));
        require_timer(check, "prohibit", self.prohibit);
        require_timer(check, "periodic", self.periodic);
    }
}

impl Checked for Reports {
    fn check(&self, check: &mut Check) {
        require_timer(check, "prohibit", self.prohibit);
        require_timer(check, "periodic", self.periodic);
        check.at_most("delay", self.delay, LONGEST_TIMER);
        check.require(self.loss_rate.0 < 1.0, "loss_rate", || {
            "no report would ever come; expected a probability below 1".to_owned()
        });
    }
}
