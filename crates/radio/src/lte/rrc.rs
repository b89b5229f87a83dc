//! RRC states of phones: idle phones are paged and set up a connection before they exchange data (TS 36.331, 5.3).

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Power};

use super::random_access::{MESSAGE_3_AFTER, RESPONSE_WINDOW_AFTER, occasions};
use super::reports::TTI;
use super::timing::{UP_BLOCK_AFTER_GRANT, UP_FEEDBACK_AFTER};
use crate::ofdma::rrc::RrcRules;
use crate::ofdma::rrc::access::{Access, Occasions};
use nodeb_air::allowed::PAGING_CYCLE;

/// At the base station, twice 4 ms, and in the core network, 15 ms (TR 36.912, table B.1.1.1-1), without the
/// delay of the links between them.
const CORE_DELAY: Duration = Duration::from_millis(23);

params! {
    /// RRC states of phones (TS 36.331, 5.3).
    ///
    /// A phone is idle at the start of the run, and `inactivity` after its last data. An idle phone sets up a connection
    /// before it exchanges data.
    pub struct Rrc {
        /// Time without data after which the base station releases a phone's connection.
        pub inactivity: Duration = Duration::from_secs(10),
        /// Time between two subframes in which an idle phone listens for paging (defaultPagingCycle): 320, 640, 1280 or
        /// 2560 ms.
        pub paging_cycle: Duration = Duration::from_millis(1_280),
        /// Index of the set of subframes in which phones can begin random access (prach-ConfigIndex), 0 to 15.
        pub prach_config: u8 = 3,
        /// Time from the message that completes the connection's set-up to the activation of security: processing at
        /// the base station and in the core network.
        pub core_delay: Duration = CORE_DELAY,
        /// Power of a phone's radio in each state.
        pub power: RrcPower,
    }
}

params! {
    /// Power of a phone's radio in each RRC state, independent of traffic.
    ///
    /// Defaults: Huang et al. (MobiSys 2012), measured on LTE: set-up of a connection, tail after the last data, and
    /// the mean in idle mode (11 mW, and 594 mW for 43 ms in each paging cycle of 1.28 s).
    pub struct RrcPower {
        /// Mean power of an idle phone, with paging.
        pub idle: Power = Power::from_milliwatts(31),
        /// Power during the set-up of a connection.
        pub connecting: Power = Power::from_milliwatts(1_211),
        /// Power of a connected phone.
        pub connected: Power = Power::from_milliwatts(1_060),
    }
}

impl Checked for RrcPower {}

/// FDD with one occasion a frame (TS 36.304, 7.2).
const FRAME: u64 = 10;

const PAGING_SUBFRAME: u64 = 9;

/// ms from RRCConnectionSetup until a grant for the reply can be sent (TS 36.331, 11.2).
const SET_UP_PROCESSING: u64 = 15;

/// ms from SecurityModeCommand and RRCConnectionReconfiguration together until a grant for the reply can be
/// sent (TS 36.331, 11.2).
const RECONFIGURATION_PROCESSING: u64 = 20;

/// A longer one must be a typing error.
const LONGEST_INACTIVITY: Duration = Duration::from_secs(3_600);

impl Checked for Rrc {
    fn check(&self, check: &mut Check) {
        for (key, time) in [("inactivity", self.inactivity), ("core_delay", self.core_delay)] {
            check.require(time.0.is_multiple_of(TTI.0), key, || {
                format!("{time} is not a number of whole subframes; expected 1 ms, 2 ms, ...")
            });
        }
        check.require(self.inactivity.0 > 0, "inactivity", || {
            "0 s releases a connection before its first data; expected a longer time".to_owned()
        });
        check.at_most("inactivity", self.inactivity, LONGEST_INACTIVITY);
        check.at_most("core_delay", self.core_delay, Duration::from_secs(10));
        PAGING_CYCLE.require_time(check, "paging_cycle", self.paging_cycle);
        if let Err(message) = occasions(self.prach_config) {
            check.require(false, "prach_config", || message);
        }
        check.within("power", |check| self.power.check(check));
    }
}

// Clause: TS 36.304, 7: paging occasions
// Simplified: one paging occasion in each frame (nB = T), and phone `n` has the identity `n`
// Clause: TS 36.321, 5.1; TS 36.213, 6.1: random access
// Simplified: no collisions, lost preambles or back-off
// Clause: TS 36.331, 5.3.3, 5.3.4, 5.3.5: set-up of connections
// Simplified: messages are received without errors, and take no resource blocks
impl Rrc {
    fn access(&self) -> Access {
        let set_up = RESPONSE_WINDOW_AFTER + MESSAGE_3_AFTER + UP_FEEDBACK_AFTER;
        let complete = set_up + 1 + SET_UP_PROCESSING + UP_BLOCK_AFTER_GRANT;
        let reconfiguration = complete + 1 + self.core_delay.0 / TTI.0;
        Access {
            paging_cycle: (self.paging_cycle.0 / TTI.0).max(FRAME),
            frame: FRAME,
            paging_tti: PAGING_SUBFRAME,
            occasions: occasions(self.prach_config).unwrap_or(Occasions { period: FRAME, ttis: &[1] }),
            set_up: reconfiguration + 1 + RECONFIGURATION_PROCESSING + UP_BLOCK_AFTER_GRANT + 1,
        }
    }

    pub fn rules(&self) -> RrcRules {
        let RrcPower { idle, connecting, connected } = self.power;
        RrcRules {
            access: self.access(),
            inactivity: self.inactivity.0 / TTI.0,
            tti: TTI,
            idle,
            connecting,
            connected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_clause() {
        let message = |rrc: Rrc| {
            let mut check = Check::default();
            rrc.check(&mut check);
            check.into_problems().into_iter().map(|problem| problem.message).next()
        };
        assert_eq!(message(Rrc::default()), None);
        let prach = message(Rrc { prach_config: 16, ..Rrc::default() }).unwrap();
        assert!(prach.contains("TS 36.211, table 5.7.1-2"), "{prach}");
        assert!(message(Rrc { inactivity: Duration(0), ..Rrc::default() }).is_some());
        assert!(message(Rrc { inactivity: Duration(1), ..Rrc::default() }).is_some());
    }

    // Tests the feature: random access (worked example)
    // Tests the feature: set-up of connections (closed form)
    /// Response 3, request 6, processing 4, set-up 1, processing 15, grant and block 4 + 1, core network,
    /// reconfiguration 1, processing 20, grant and block 4 + 1.
    #[test]
    fn a_promotion_takes_the_sum_of_its_parts() {
        for prach_config in 0..=15 {
            for core_ms in [0, 23, 100] {
                let core_delay = Duration::from_millis(core_ms);
                let access = Rrc { prach_config, core_delay, ..Rrc::default() }.access();
                for from in 0..40 {
                    let preamble = occasions(prach_config).unwrap().next(from);
                    let parts = [3, 6, 4, 1, 15, 4, 1, core_ms, 1, 20, 4, 1];
                    assert_eq!(access.connected(from), preamble + parts.iter().sum::<u64>());
                }
            }
        }
        // The default has an occasion in subframe 1 of each frame.
        assert_eq!(Rrc::default().access().connected(2), 11 + 60 + 23);
    }

    // Tests the feature: paging occasions (worked example)
    /// Paging frames have `SFN mod T = id mod T`, with the occasion in subframe 9.
    #[test]
    fn paging_occasions_recur_with_the_cycle() {
        let access = Rrc { paging_cycle: Duration::from_millis(320), ..Rrc::default() }.access();
        assert_eq!([0, 9, 10, 330].map(|from| access.paged(0, from)), [10, 10, 330, 650]);
        assert_eq!([0, 19, 20].map(|from| access.paged(1, from)), [20, 20, 340]);
        assert_eq!(access.paged(33, 0), 20, "the identity counts modulo 32 frames");
        // A packet waits half a cycle on average.
        let mean = (0..320).map(|from| access.paged(5, from) - from).sum::<u64>() as f64 / 320.0;
        assert!((mean - 160.5).abs() < 1e-9, "{mean}");
    }
}
