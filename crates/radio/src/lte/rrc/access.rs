use super::super::random_access::{MESSAGE_3_AFTER, Occasions, RESPONSE_WINDOW_AFTER, occasions};
use super::super::reports::TTI;
use super::super::timing::{UP_BLOCK_AFTER_GRANT, UP_FEEDBACK_AFTER};
use super::Rrc;

/// FDD with one occasion a frame (TS 36.304, 7.2).
const FRAME: u64 = 10;

const PAGING_SUBFRAME: u64 = 9;

/// ms from RRCConnectionSetup until a grant for the reply can be sent (TS 36.331, 11.2).
const SET_UP_PROCESSING: u64 = 15;

/// ms from SecurityModeCommand and RRCConnectionReconfiguration together until a grant for the reply can be
/// sent (TS 36.331, 11.2).
const RECONFIGURATION_PROCESSING: u64 = 20;

// Clause: TS 36.304, 7: paging occasions
// Simplified: one paging occasion in each frame (nB = T), and phone `n` has the identity `n`
// Clause: TS 36.321, 5.1; TS 36.213, 6.1: random access
// Simplified: no collisions, lost preambles or back-off
// Clause: TS 36.331, 5.3.3, 5.3.4, 5.3.5: set-up of connections
// Simplified: messages are received without errors, and take no resource blocks
#[derive(Clone, Debug)]
pub struct Access {
    paging_cycle: u64,
    occasions: Occasions,
    core_delay: u64,
}

impl Access {
    pub fn new(rrc: &Rrc) -> Self {
        Self {
            paging_cycle: (rrc.paging_cycle.0 / TTI.0).max(FRAME),
            occasions: occasions(rrc.prach_config)
                .unwrap_or(Occasions { even_frames: false, subframes: &[1] }),
            core_delay: rrc.core_delay.0 / TTI.0,
        }
    }

    /// From this subframe on, the phone paged at its first occasion can begin random access.
    pub fn paged(&self, id: u64, from: u64) -> u64 {
        let frame = id % (self.paging_cycle / FRAME);
        let position = frame * FRAME + PAGING_SUBFRAME;
        from + (position + self.paging_cycle - from % self.paging_cycle) % self.paging_cycle + 1
    }

    /// First connected subframe if random access begins in `from`, in the first occasion for the preamble.
    pub fn connected(&self, from: u64) -> u64 {
        let preamble = self.occasions.next(from);
        let response = preamble + RESPONSE_WINDOW_AFTER;
        let request = response + MESSAGE_3_AFTER;
        let set_up = request + UP_FEEDBACK_AFTER;
        let complete = set_up + 1 + SET_UP_PROCESSING + UP_BLOCK_AFTER_GRANT;
        let reconfiguration = complete + 1 + self.core_delay;
        reconfiguration + 1 + RECONFIGURATION_PROCESSING + UP_BLOCK_AFTER_GRANT + 1
    }
}

#[cfg(test)]
mod tests {
    use nodeb_base::units::Duration;

    use super::*;

    // Tests the feature: random access (worked example)
    // Tests the feature: set-up of connections (closed form)
    /// Response 3, request 6, processing 4, set-up 1, processing 15, grant and block 4 + 1, core network,
    /// reconfiguration 1, processing 20, grant and block 4 + 1.
    #[test]
    fn a_promotion_takes_the_sum_of_its_parts() {
        for prach_config in 0..=15 {
            for core_ms in [0, 23, 100] {
                let core_delay = Duration::from_millis(core_ms);
                let access = Access::new(&Rrc { prach_config, core_delay, ..Rrc::default() });
                for from in 0..40 {
                    let preamble = occasions(prach_config).unwrap().next(from);
                    let parts = [3, 6, 4, 1, 15, 4, 1, core_ms, 1, 20, 4, 1];
                    assert_eq!(access.connected(from), preamble + parts.iter().sum::<u64>());
                }
            }
        }
        // The default has an occasion in subframe 1 of each frame.
        assert_eq!(Access::new(&Rrc::default()).connected(2), 11 + 60 + 23);
    }

    // Tests the feature: paging occasions (worked example)
    /// Paging frames have `SFN mod T = id mod T`, with the occasion in subframe 9.
    #[test]
    fn paging_occasions_recur_with_the_cycle() {
        let access = Access::new(&Rrc { paging_cycle: Duration::from_millis(320), ..Rrc::default() });
        assert_eq!([0, 9, 10, 330].map(|from| access.paged(0, from)), [10, 10, 330, 650]);
        assert_eq!([0, 19, 20].map(|from| access.paged(1, from)), [20, 20, 340]);
        assert_eq!(access.paged(33, 0), 20, "the identity counts modulo 32 frames");
        // A packet waits half a cycle on average.
        let mean = (0..320).map(|from| access.paged(5, from) - from).sum::<u64>() as f64 / 320.0;
        assert!((mean - 160.5).abs() < 1e-9, "{mean}");
    }
}
