use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, positive};
use nodeb_base::{params, registry};

use super::super::reports::TTI;
use nodeb_air::allowed::{IMPLICIT_RELEASE_AFTER, SPS_INTERVAL_UP};

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

nodeb_base::no_parameters! {
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
        SPS_INTERVAL_UP.require_time(check, "interval", self.interval);
        IMPLICIT_RELEASE_AFTER.require(check, "release_after", self.release_after.get().into());
    }
}
