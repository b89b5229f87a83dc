use std::num::NonZeroU32;

use nodeb_air::allowed::{ALPHA, MAX_HARQ_TX, RETX_BSR};
use nodeb_air::mac::band::Run;
use nodeb_air::mac::outer_loop::OuterLoop;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_base::cause::Step;
use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::remedy::{Change, Remedy, Target};
use nodeb_base::units::{Duration, Probability, Size, positive};
use nodeb_net::QueueSpec;

use super::super::bandwidth::{BLOCK_HZ, Bandwidth};
use super::super::reports::TTI;
use super::super::site::THERMAL_DBM_HZ;
use super::super::timing::scheduling_request_index;
use super::grants::{Ahead, GrantSpec};
use super::headroom::HeadroomReports;
use crate::ofdma::uplink::UplinkRules;
use crate::ofdma::uplink::configured::ConfiguredRules;
use crate::ofdma::uplink::power::PowerControl;
use crate::ofdma::uplink::requests::{Recurrence, RequestRules};
use crate::ofdma::uplink::runs::BlockSet;

params! {
    /// Uplink of an LTE cell with requests, reports and grants (TS 36.321, 5.4).
    ///
    /// These keys of `radio.lte` also apply to the uplink: `bandwidth`, `carrier_ghz`, `implementation_loss_db`,
    /// `combining`, `decoding`, `rlc`, `status_delay`, `sn_length`, `discard_timer` and `cell`. With a scheduled
    /// uplink, the table `uplink` has no effect, and only the defaults of its keys are accepted.
    pub struct Scheduled {
        /// Time between two subframes in which a phone can send a scheduling request: 1, 2, 5, 10, 20, 40 or 80 ms.
        pub request_period: Duration = Duration::from_millis(10),
        /// Probability that the base station does not receive a scheduling request.
        pub request_error: Probability = Probability(0.0),
        /// Number of octets that the base station assumes to wait at a phone after its request, until a buffer status
        /// report arrives.
        pub first_grant: Size = Size(96),
        /// Time without a grant after which a phone with data requests again (retxBSR-Timer).
        pub request_again: Duration = Duration::from_millis(320),
        /// Grants without a request.
        pub grants: GrantSpec,
        /// Scheduler that determines the order in which phones are granted blocks of a subframe.
        pub scheduler: SchedulerSpec,
        /// Largest number of phones that are granted a new block in one subframe, at most 20.
        pub users_per_tti: NonZeroU32 = positive(8),
        /// Number of resource blocks at both ends of the band together that PUCCH uses. If it is odd, the lower end has
        /// one more.
        pub control_blocks: u16 = 2,
        /// Largest number of transmissions of a block (maxHARQ-Tx).
        pub max_transmissions: NonZeroU32 = positive(5),
        /// Outer loop of link adaptation. Default: none, blocks fit the SNR at the time of the grant.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub outer_loop: Option<OuterLoop>,
        /// Largest transmit power of a phone in dBm.
        pub power_dbm: f64 = 23.0,
        /// Target of power control in dBm per resource block (P0 of PUSCH).
        pub target_dbm: f64 = -80.0,
        /// Share of the path loss that power control compensates: 0, 0.4, 0.5, ... 1 (alpha).
        pub path_loss_share: f64 = 0.8,
        /// Power headroom reports. Default: none, the base station has the exact headroom of each phone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub headroom: Option<HeadroomReports>,
        /// Noise figure of the base station in dB.
        pub noise_figure_db: f64 = 5.0,
        /// Interference of phones in other cells, in dB by which it raises the noise.
        pub interference_db: f64 = 3.0,
        /// SNR in dB of the uplink relative to the downlink, for phones without a position. Their power is unlimited.
        pub snr_offset_db: f64 = 0.0,
        /// Queue of each phone in front of RLC.
        pub queue: QueueSpec,
    }
}

/// `None` if it is no whole number of 32 bits.
fn whole_ms(time: Duration) -> Option<u32> {
    let ms = u32::try_from(time.0 / TTI.0).ok()?;
    time.0.is_multiple_of(TTI.0).then_some(ms)
}

/// For two packets of 1500 B.
const LARGEST_FIRST_GRANT: Size = Size(3_000);
/// About as many as the control region of 20 MHz can address.
const MAX_USERS_PER_TTI: u32 = 20;

impl Checked for Scheduled {
    fn check(&self, check: &mut Check) {
        check.require(self.requests().is_some(), "request_period", || {
            format!(
                "{} does not exist; expected 1, 2, 5, 10, 20, 40 or 80 ms (TS 36.213, table 10.1.5-1)",
                self.request_period
            )
        });
        check.require(self.request_error.0 < 1.0, "request_error", || {
            "no request ever arrives; expected a probability below 1".to_owned()
        });
        check.range("first_grant", self.first_grant, Size(16)..=LARGEST_FIRST_GRANT);
        RETX_BSR.require_time(check, "request_again", self.request_again);
        MAX_HARQ_TX.require(check, "max_transmissions", self.max_transmissions.get().into());
        check.require(self.users_per_tti.get() <= MAX_USERS_PER_TTI, "users_per_tti", || {
            format!("{} is out of range; expected 1 to {MAX_USERS_PER_TTI}", self.users_per_tti)
        });
        check.range("power_dbm", self.power_dbm, -40.0..=40.0);
        check.range("target_dbm", self.target_dbm, -126.0..=24.0);
        ALPHA.require(check, "path_loss_share", 10.0 * self.path_loss_share);
        if let Some(headroom) = &self.headroom {
            check.within("headroom", |check| headroom.check(check));
        }
        check.range("noise_figure_db", self.noise_figure_db, 0.0..=30.0);
        check.range("interference_db", self.interference_db, 0.0..=30.0);
        check.range("snr_offset_db", self.snr_offset_db, -40.0..=40.0);
        check.within("grants", |check| self.grants.check(check));
        check.within("scheduler", |check| self.scheduler.check(check));
        if let Some(outer_loop) = &self.outer_loop {
            check.within("outer_loop", |check| outer_loop.check(check));
        }
        check.within("queue", |check| {
            self.queue.check(check);
            check.within(self.queue.key(), |check| self.queue.check_waiting(check));
        });
    }
}

impl Scheduled {
    pub fn check_band(&self, bandwidth: Bandwidth, check: &mut Check) {
        let blocks = bandwidth.blocks();
        check.require(self.control_blocks < blocks, "control_blocks", || {
            format!(
                "{} leave none of the {blocks} resource blocks for data; expected at most {}",
                self.control_blocks,
                blocks - 1
            )
        });
    }

    /// `phones` share the uplink.
    pub fn remedies(&self, phones: NonZeroU32) -> Vec<Remedy<Self>> {
        const AWAITED: &[Step] = &[Step::RequestAwaited, Step::GrantAwaited, Step::ReservedAwaited];
        let saved = 1.0 - TTI.0 as f64 / self.request_period.0 as f64;
        let ahead = GrantSpec::Ahead(Ahead { interval: TTI });
        // Of the waits for further grants, the other phones' shares are not due to the first grant.
        let own = 1.0 / f64::from(phones.get());
        vec![
            Remedy::new(
                Change::FrequentRequests,
                Target::Steps(&[Step::RequestAwaited]),
                saved,
                Self { request_period: TTI, ..self.clone() },
            ),
            Remedy::new(
                Change::GrantsAhead,
                Target::Steps(AWAITED),
                1.0,
                Self { grants: ahead, ..self.clone() },
            ),
            Remedy::new(
                Change::LargeFirstGrant,
                Target::Steps(&[Step::FurtherGrantAwaited]),
                own,
                Self { first_grant: LARGEST_FIRST_GRANT, ..self.clone() },
            ),
        ]
    }

    /// With offset 0; `None` if the standard has no such period.
    fn requests(&self) -> Option<Recurrence> {
        let period = whole_ms(self.request_period).and_then(|ms| u16::try_from(ms).ok())?;
        let recurrence = Recurrence { period, offset: 0 };
        (period > 0).then_some(recurrence).filter(|one| scheduling_request_index(*one).is_some())
    }

    /// The offset is `id` modulo the period.
    pub fn requests_of(&self, id: u64) -> RequestRules {
        let Recurrence { period, .. } = self.requests().unwrap_or(Recurrence { period: 10, offset: 0 });
        RequestRules {
            occasions: Recurrence { period, offset: (id % u64::from(period)) as u16 },
            error: self.request_error,
            again_after: self.request_again.0 / TTI.0,
        }
    }

    pub fn rules(&self) -> UplinkRules {
        UplinkRules {
            scheduler: self.scheduler.clone(),
            users_per_tti: self.users_per_tti.get(),
            max_transmissions: self.max_transmissions.get(),
            first_grant: self.first_grant.0 as u32,
            ahead: self.ahead(),
            configured: self.configured(),
            outer_loop: self.outer_loop.clone(),
            power: PowerControl {
                largest_dbm: self.power_dbm,
                target_dbm: self.target_dbm,
                alpha: self.path_loss_share,
                noise_dbm: self.noise_dbm(),
            },
            snr_offset: libm::pow(10.0, self.snr_offset_db / 10.0) as f32,
            headroom: self.headroom.as_ref().map(HeadroomReports::rules),
        }
    }

    /// Subframes from one grant ahead of data to the next.
    pub fn ahead(&self) -> Option<u64> {
        match &self.grants {
            GrantSpec::OnRequest(_) | GrantSpec::Configured(_) => None,
            GrantSpec::Ahead(ahead) => Some(ahead.interval.0 / TTI.0),
        }
    }

    fn configured(&self) -> Option<ConfiguredRules> {
        match &self.grants {
            GrantSpec::Configured(configured) => Some(ConfiguredRules {
                interval: configured.interval.0 / TTI.0,
                release_after: configured.release_after.get(),
                masks_requests: configured.mask_requests,
            }),
            GrantSpec::OnRequest(_) | GrantSpec::Ahead(_) => None,
        }
    }

    /// All but those for PUCCH at both ends of the band.
    pub fn data_blocks(&self, bandwidth: Bandwidth) -> BlockSet {
        let begin = self.control_blocks.div_ceil(2);
        BlockSet::of(Run { begin, blocks: bandwidth.blocks() - self.control_blocks })
    }

    /// With interference, per resource block.
    pub fn noise_dbm(&self) -> f64 {
        THERMAL_DBM_HZ + 10.0 * libm::log10(BLOCK_HZ) + self.noise_figure_db + self.interference_db
    }
}
