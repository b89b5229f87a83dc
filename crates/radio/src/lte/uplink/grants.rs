//! Keys of grants without a request, and their checks.

use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, positive};
use nodeb_base::{params, registry};

use super::super::allowed::{IMPLICIT_RELEASE_AFTER, SPS_INTERVAL_UP};
use super::super::reports::TTI;
use super::params::whole_ms;

registry! {
    /// Grants without a request, as in a scenario.
    "grants" GrantSpec = OnRequest {
        /// No grants without a request.
        "on_request" => OnRequest(OnRequest),
        /// Regular grants ahead of data to every phone, whether it has data or not.
        "ahead" => Ahead(Ahead),
        /// Recurring grants after a request (semi-persistent scheduling).
        "configured" => Configured(Configured),
    }
}

no_parameters! {
    /// Empty set of parameters of grants on request.
    OnRequest
}

params! {
    /// Grants of `first_grant` octets to every phone, whether it has data or not.
    pub struct Ahead {
        /// Time between two grants to a phone, in whole subframes.
        pub interval: Duration = Duration::from_millis(5),
    }
}

params! {
    /// Configured grants (semi-persistent scheduling of the uplink, TS 36.321, 5.10.2).
    ///
    /// The grant that answers a request, with room for `first_grant` octets, recurs on the same resource blocks and
    /// with the same block size. The phone sends a block in each period, with or without data.
    pub struct Configured {
        /// Time between two blocks (semiPersistSchedIntervalUL): 10, 20, 32, 40, 64, 80, 128, 160, 320 or 640 ms.
        pub interval: Duration = Duration::from_millis(20),
        /// Number of consecutive blocks without data after which the grant ends (implicitReleaseAfter): 2, 3, 4 or 8.
        pub release_after: NonZeroU32 = positive(8),
        /// Whether new data trigger no scheduling request while the phone has a configured grant
        /// (logicalChannelSR-Mask).
        pub mask_requests: bool = true,
    }
}

impl Checked for Ahead {
    fn check(&self, check: &mut Check) {
        let whole = self.interval.0 > 0 && self.interval.0.is_multiple_of(TTI.0);
        check.require(whole, "interval", || {
            format!("{} is not a number of whole subframes; expected 1 ms, 2 ms, ...", self.interval)
        });
        check.at_most("interval", self.interval, Duration::from_secs(10));
    }
}

impl Checked for Configured {
    fn check(&self, check: &mut Check) {
        let interval = whole_ms(self.interval)
            .ok_or_else(|| {
                format!("{} is not a number of whole subframes; expected 10 ms, 20 ms, ...", self.interval)
            })
            .and_then(|subframes| SPS_INTERVAL_UP.check(subframes));
        check.require(interval.is_ok(), "interval", || interval.unwrap_err());
        let release = IMPLICIT_RELEASE_AFTER.check(self.release_after.get());
        check.require(release.is_ok(), "release_after", || release.unwrap_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(configured: &Configured) -> Option<String> {
        let mut check = Check::default();
        configured.check(&mut check);
        check.into_problems().into_iter().map(|problem| problem.message).next()
    }

    // Tests the feature: configured grants (standard's table)
    #[test]
    fn intervals_and_releases_are_those_of_rrc() {
        let with = |ms: u64, release: u32| Configured {
            interval: Duration::from_millis(ms),
            release_after: positive(release),
            ..Configured::default()
        };
        let allowed = |ms: &u64| message(&with(*ms, 8)).is_none();
        let intervals: Vec<u64> = (1..=1_000).filter(allowed).collect();
        assert_eq!(intervals, [10, 20, 32, 40, 64, 80, 128, 160, 320, 640]);
        let releases: Vec<u32> = (1..=20).filter(|after| message(&with(20, *after)).is_none()).collect();
        assert_eq!(releases, [2, 3, 4, 8]);
        let odd = message(&with(30, 8)).unwrap();
        assert!(
            odd.starts_with("semiPersistSchedIntervalUL 30 subframes does not exist; expected 10, 20,"),
            "{odd}"
        );
        assert!(odd.ends_with("640 (TS 36.331, 6.3.2, SPS-Config)"), "{odd}");
        let half = message(&Configured { interval: Duration(1_500_000), ..Configured::default() }).unwrap();
        assert!(half.starts_with("1.5 ms is not a number of whole subframes"), "{half}");
    }
}
