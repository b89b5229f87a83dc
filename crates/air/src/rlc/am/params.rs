//! TS 25.322, 9.5 and 9.6.

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::units::{Duration, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Acknowledged mode, with the timers and windows of TS 25.322. The defaults are for a channel
    /// of 384 kbps. The window of 256 PDUs lasts two round trips, and status reports have the delay
    /// of the simple ARQ's feedback.
    pub struct AcknowledgedMode {
        /// Largest number of PDUs sent and not yet acknowledged (Configured_Tx_Window_Size).
        pub tx_window: NonZeroU32 = positive(256),
        /// Largest number of PDUs, from the first missing one, that the phone accepts
        /// (Configured_Rx_Window_Size).
        pub rx_window: NonZeroU32 = positive(256),
        /// Limit of transmissions of a PDU, plus one (MaxDAT): after `max_dat - 1` transmissions, packets are
        /// discarded or the protocol is reset. Default: unlimited.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_dat: Option<NonZeroU32>,
        /// Action when a PDU reaches `max_dat`.
        pub at_max_dat: AtMaxDat,
        /// Age at which an unacknowledged packet is discarded (Timer_Discard). Default: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discard_timer: Option<Duration>,
        /// Time after which an unanswered command to the phone, to move its window (Timer_MRW) or to
        /// reset (Timer_RST), is retransmitted.
        pub command_timer: Duration = Duration::from_millis(300),
        /// Triggers of polls, by which the phone is asked for a status report.
        pub poll: Polling,
        /// Triggers, format and delay of the phone's status reports.
        pub status: Reports,
    }
}

/// Action when a PDU reaches the limit of transmissions, `max_dat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AtMaxDat {
    /// Discards the PDU's packets and earlier ones (TS 25.322, 9.7.3.3).
    #[default]
    Discard,
    /// Resets the protocol: every packet of which a part was sent is lost, unless it has been
    /// delivered (TS 25.322, 9.7.3.4, 11.4).
    Reset,
}

params! {
    /// Parameters of polling: triggers for setting the poll bit (TS 25.322, 9.7.1).
    pub struct Polling {
        /// Whether the sender polls in the last PDU that it can send, as its buffer is then empty
        /// or its window full.
        pub last_pdu: bool = true,
        /// Whether the sender polls in a retransmitted PDU after which no other waits for
        /// retransmission.
        pub last_retransmission: bool = true,
        /// Number of PDUs after which the sender polls (Poll_PDU). Default: 32.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub every_pdus: Option<NonZeroU32> = NonZeroU32::new(32),
        /// Number of packets after which the sender polls, in the last PDU of the packet
        /// (Poll_SDU). Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub every_packets: Option<NonZeroU32>,
        /// Share of the transmission window in use from which the sender polls (Poll_Window).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub window_share: Option<Probability> = Some(Probability(0.5)),
        /// Time after which the sender repeats an unanswered poll (Timer_Poll).
        pub timer: Duration = Duration::from_millis(300),
        /// Smallest time between two polls (Timer_Poll_Prohibit). Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prohibit: Option<Duration>,
        /// Time between periodic polls (Timer_Poll_Periodic). Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub periodic: Option<Duration>,
    }
}

/// Encoding of missing PDUs in a status report (TS 25.322, 9.2.2.11).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusFormat {
    /// List of runs of missing PDUs, each given by its first number and its length (LIST).
    #[default]
    List,
    /// Bitmap with one bit for each PDU (BITMAP).
    Bitmap,
}

params! {
    /// Triggers of the phone's STATUS PDUs (TS 25.322, 9.7.2), and their transfer to the sender.
    pub struct Reports {
        /// Whether the phone sends a report when it detects that a PDU is missing.
        pub on_missing: bool = true,
        /// Smallest time between two reports (Timer_Status_Prohibit).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub prohibit: Option<Duration> = Some(Duration::from_millis(100)),
        /// Time between periodic reports (Timer_Status_Periodic). Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub periodic: Option<Duration>,
        /// Encoding of missing PDUs in status reports. In a report of several STATUS PDUs, all but the
        /// first acknowledge only PDUs received in order.
        pub format: StatusFormat,
        /// Time that a status report or another answer of the phone takes to reach the sender.
        pub delay: Duration = Duration::from_millis(89),
        /// Probability that a report or another answer of the phone is lost.
        pub loss_rate: Probability = Probability(0.0),
    }
}

/// TS 25.331, 10.3.4.23: one less than the number of 12-bit sequence numbers.
const LARGEST_WINDOW: u32 = 4_095;
const SHORTEST_TIMER: Duration = Duration::from_millis(1);
const LONGEST_TIMER: Duration = Duration::from_secs(600);

impl Checked for AcknowledgedMode {
    fn check(&self, check: &mut Check) {
        for (key, window) in [("tx_window", self.tx_window), ("rx_window", self.rx_window)] {
            check.require(window.get() <= LARGEST_WINDOW, key, || {
                format!(
                    "a window of {window} exceeds 12-bit sequence numbers; expected at most {LARGEST_WINDOW}"
                )
            });
        }
        check.require(self.rx_window >= self.tx_window, "rx_window", || {
            format!(
                "the phone rejects PDUs that a `tx_window` of {} allows; expected at least `tx_window`",
                self.tx_window
            )
        });
        check.require(self.max_dat.is_none_or(|most| most.get() >= 2), "max_dat", || {
            "a PDU is sent `max_dat - 1` times, so never; expected at least 2".to_owned()
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

/// 1 ms to 600 s.
pub fn require_timer(check: &mut Check, key: &str, timer: Option<Duration>) {
    check.require(timer.is_none_or(|t| (SHORTEST_TIMER..=LONGEST_TIMER).contains(&t)), key, || {
        format!("{} is out of range; expected {SHORTEST_TIMER} to {LONGEST_TIMER}", timer.unwrap_or_default())
    });
}

impl Checked for Polling {
    fn check(&self, check: &mut Check) {
        check.require(self.last_pdu || self.periodic.is_some(), "last_pdu", || {
            "without a poll the last PDUs of a burst can be lost for ever; expected \
             `last_pdu = true` or a `periodic` poll"
                .to_owned()
        });
        check.require(self.window_share.is_none_or(|share| share.0 > 0.0), "window_share", || {
            "0 polls in every PDU; expected a share above 0".to_owned()
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
            "with a loss rate of 1 no report arrives; expected a probability below 1".to_owned()
        });
    }
}
