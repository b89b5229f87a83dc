//! Configurations of discontinuous reception, and checks of their values (TS 36.321, 5.7).

use super::allowed;

/// Configuration of DRX. All times are in subframes of 1 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drx {
    /// Number of subframes at the start of each cycle in which the UE listens.
    pub on_duration: u32,
    /// Number of subframes in which the UE continues to listen after a grant of a new block.
    pub inactivity: u32,
    /// Largest number of subframes in which the UE listens for a retransmission.
    pub retransmission: u32,
    /// Length of the long cycle in subframes.
    pub long_cycle: u32,
    /// Length of the short cycle in subframes, and the number of short cycles before the first long
    /// one; `None` if there are no short cycles.
    pub short_cycle: Option<(u32, u32)>,
}

impl Drx {
    /// Checks that RRC allows each value, and that the cycles fit together (TS 36.331, 6.3.2,
    /// DRX-Config).
    ///
    /// # Errors
    ///
    /// Returns a message that names the first invalid value.
    pub fn check(&self) -> Result<(), String> {
        allowed::ON_DURATION.check(self.on_duration)?;
        allowed::DRX_INACTIVITY.check(self.inactivity)?;
        allowed::DRX_RETRANSMISSION.check(self.retransmission)?;
        allowed::LONG_DRX_CYCLE.check(self.long_cycle)?;
        let Some((short_cycle, cycles)) = self.short_cycle else {
            return self.check_sleep(self.long_cycle);
        };
        allowed::SHORT_DRX_CYCLE.check(short_cycle)?;
        allowed::SHORT_CYCLE_TIMER.check(cycles)?;
        if !self.long_cycle.is_multiple_of(short_cycle) {
            return Err(format!(
                "a long DRX cycle of {} subframes is no multiple of the short one of {short_cycle}; \
                 expected a multiple (TS 36.331, 6.3.2, DRX-Config)",
                self.long_cycle
            ));
        }
        self.check_sleep(short_cycle)
    }

    /// Returns an error if the UE listens in all subframes of a cycle. No clause forbids this
    /// configuration, but DRX then has no effect.
    fn check_sleep(&self, cycle: u32) -> Result<(), String> {
        if self.on_duration < cycle {
            return Ok(());
        }
        Err(format!(
            "an onDurationTimer of {} subframes fills a DRX cycle of {cycle}; expected less (TS 36.321, 5.7)",
            self.on_duration
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Drx = Drx {
        on_duration: 10,
        inactivity: 200,
        retransmission: 8,
        long_cycle: 320,
        short_cycle: Some((40, 2)),
    };

    fn error(drx: Drx) -> String {
        drx.check().unwrap_err()
    }

    #[test]
    fn usual_values_fit_together() {
        assert_eq!(USUAL.check(), Ok(()));
        assert_eq!(Drx { short_cycle: None, ..USUAL }.check(), Ok(()));
    }

    #[test]
    fn errors_name_what_does_not_fit() {
        assert!(error(Drx { on_duration: 7, ..USUAL }).starts_with("onDurationTimer 7 subframes does not"));
        assert!(error(Drx { long_cycle: 512, ..USUAL }).contains("multiple of the short one of 40"));
        assert!(error(Drx { on_duration: 40, ..USUAL }).contains("fills a DRX cycle of 40"));
        assert!(error(Drx { short_cycle: Some((40, 17)), ..USUAL }).starts_with("drxShortCycleTimer 17"));
    }
}
