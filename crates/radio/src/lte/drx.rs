use nodeb_air::allowed;
use nodeb_base::check::{Check, Checked};
use nodeb_base::units::Duration;
use nodeb_base::{keys, params};

use super::reports::TTI;
use crate::ofdma::drx::DrxTimers;

params! {
    /// Discontinuous reception in connected mode (TS 36.321, 5.7).
    ///
    /// All times are in whole subframes of 1 ms.
    pub struct Drx {
        /// Time at the start of each cycle in which the phone monitors PDCCH.
        pub on_duration: Duration = Duration::from_millis(10),
        /// Time for which the phone continues to monitor PDCCH after a grant of a new block.
        pub inactivity: Duration = Duration::from_millis(100),
        /// Longest time for which the phone monitors PDCCH for a retransmission.
        pub retransmission: Duration = Duration::from_millis(8),
        /// Length of the long cycle.
        pub long_cycle: Duration = Duration::from_millis(320),
        /// Length of the short cycle, which divides the long one. Default: none, only long cycles.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub short_cycle: Option<Duration>,
        /// Number of short cycles after the inactivity timer, before the first long cycle.
        pub short_cycles: u32 = 2,
    }
}

impl Checked for Drx {
    fn check(&self, check: &mut Check) {
        allowed::ON_DURATION.require_time(check, "on_duration", self.on_duration);
        allowed::DRX_INACTIVITY.require_time(check, "inactivity", self.inactivity);
        allowed::DRX_RETRANSMISSION.require_time(check, "retransmission", self.retransmission);
        allowed::LONG_DRX_CYCLE.require_time(check, "long_cycle", self.long_cycle);
        if let Some(short) = self.short_cycle {
            allowed::SHORT_DRX_CYCLE.require_time(check, "short_cycle", short);
            allowed::SHORT_CYCLE_TIMER.require(check, "short_cycles", self.short_cycles.into());
            let divides = short.0 > 0 && self.long_cycle.0.is_multiple_of(short.0);
            check.require(divides, "short_cycle", || {
                format!(
                    "the long cycle of {} is no multiple of {short}; expected a multiple (TS 36.331, 6.3.2, DRX-Config)",
                    self.long_cycle
                )
            });
        }
        check.idle(self.short_cycle.is_none(), &keys!(self; short_cycles), "there is no `short_cycle`");
        let cycle = self.short_cycle.unwrap_or(self.long_cycle);
        check.require(self.on_duration < cycle, "on_duration", || {
            format!("{} fills a cycle of {cycle}; expected less (TS 36.321, 5.7)", self.on_duration)
        });
    }
}

impl Drx {
    pub fn timers(&self) -> DrxTimers {
        let ttis = |time: Duration| time.0 / TTI.0;
        DrxTimers {
            on_duration: ttis(self.on_duration),
            inactivity: ttis(self.inactivity),
            retransmission: ttis(self.retransmission),
            long_cycle: ttis(self.long_cycle),
            short_cycle: self.short_cycle.map(ttis),
            short_cycles: self.short_cycles.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(drx: &Drx) -> Vec<String> {
        let mut check = Check::default();
        drx.check(&mut check);
        check.into_problems().into_iter().flat_map(|problem| problem.path).collect()
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn errors_name_the_keys_that_do_not_fit() {
        let usual = Drx { short_cycle: Some(ms(40)), ..Drx::default() };
        assert_eq!(keys(&usual), [""; 0]);
        assert_eq!(keys(&Drx::default()), [""; 0]);
        assert_eq!(keys(&Drx { long_cycle: ms(512), ..usual.clone() }), ["short_cycle"], "no multiple");
        assert_eq!(keys(&Drx { on_duration: ms(40), ..usual.clone() }), ["on_duration"], "fills the cycle");
        assert_eq!(keys(&Drx { inactivity: Duration(1_500_000), ..usual }), ["inactivity"]);
    }
}
