//! RRC states of phones: idle phones are paged and set up a connection before they exchange data (TS 36.331, 5.3).

pub mod access;
pub mod connections;

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::{Duration, Power};

use super::random_access::occasions;
use super::reports::TTI;
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
}
