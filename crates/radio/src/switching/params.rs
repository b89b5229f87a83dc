use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::cause::Cause;
use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::keys;
use nodeb_base::registry::choice;
use nodeb_base::remedy::{self, Change, LARGE, Remedy, Target};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Rate, Size};

use super::bearer::SwitchedBearer;
use super::policy::SwitchingSpec;
use super::policy::always_dch::AlwaysDch;
use super::state::PhonePower;
use crate::{Bearers, Parts, Queue, Radio, RadioSpec};
use nodeb_air::UserRadio;

params! {
    /// A FACH shared by all users, and dedicated channels, each held by one user at a time. Defaults: Table I
    /// of `prabhu`.
    pub struct FachDch {
        /// Bit rate of the FACH.
        pub fach_rate: Rate = Rate(33_000),
        /// Bit rate of signalling on the FACH, which is sent before users' packets.
        pub signalling_rate: Rate = Rate(24_000),
        /// Size of a signalling packet on the FACH.
        pub signalling_size: Size = Size(1_000),
        /// Number of dedicated channels in the cell.
        pub dch_channels: NonZeroU32 = positive(1),
        /// Bit rate of a dedicated channel.
        pub dch_rate: Rate = Rate(384_000),
        /// Duration of the set-up of a dedicated channel, and also of its release. The user's queue is
        /// not served during either.
        pub switch_time: Duration = Duration::from_millis(250),
        /// Duration of the switch from the paging channel to the FACH.
        pub paging_time: Duration = Duration::from_millis(600),
        /// Policy that decides when users switch between the FACH and dedicated channels.
        pub policy: SwitchingSpec,
        /// Capacity of each user's buffer, in packets.
        pub buffer: NonZeroU32 = positive(1000),
        /// Power of a phone's radio in each state.
        pub power: PhonePower,
    }
}

/// A larger value must be a typing error.
const LARGEST_SIGNALLING: Size = Size(65_535);
const LONGEST_SWITCH: Duration = Duration::from_secs(60);

impl Checked for FachDch {
    fn check(&self, check: &mut Check) {
        for (key, rate) in [("fach_rate", self.fach_rate), ("dch_rate", self.dch_rate)] {
            check.require(rate.0 > 0, key, || "0 bps is out of range; expected a positive rate".to_owned());
        }
        check.advise(self.signalling_rate < self.fach_rate, "signalling_rate", || {
            format!(
                "signalling of {} takes the whole FACH of {}, so TCP starves on it; a share for users is \
                 left below `fach_rate`",
                self.signalling_rate, self.fach_rate
            )
        });
        check.range("signalling_size", self.signalling_size, Size(1)..=LARGEST_SIGNALLING);
        for (key, time) in [("switch_time", self.switch_time), ("paging_time", self.paging_time)] {
            check.at_most(key, time, LONGEST_SWITCH);
        }
        check.within("policy", |check| self.policy.check(check));
        check.within("power", |check| self.power.check(check));
        let parking = SwitchingSpec::defaults();
        let parking = choice(parking.iter().filter(|policy| policy.parks()).map(SwitchingSpec::key));
        let why = format!("the policy leaves no phone on the paging channel; {parking} does");
        let never = !self.policy.parks();
        check.advise_idle(never, &keys!(self; paging_time), &why);
        check.within("power", |check| check.advise_idle(never, &keys!(&self.power; pch), &why));
    }
}

impl FachDch {
    /// All users are on the FACH.
    pub fn bearer(&self, users: usize, streams: &Streams) -> SwitchedBearer {
        SwitchedBearer::new(self, users, streams)
    }
}

impl Radio for FachDch {
    fn parts(&self) -> Parts<'_> {
        Parts { is_shared: true, has_states: true, ..Parts::new(Queue::Buffer(self.buffer)) }
    }

    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.dch_rate.max(self.fach_rate)
    }

    fn remedies(&self, _phone: &UserRadio, phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let (now, switch_time, paging_time) =
            (Duration::ZERO, self.switch_time.half(), self.paging_time.half());
        let dedicated = Self {
            policy: SwitchingSpec::AlwaysDch(AlwaysDch {}),
            dch_channels: self.dch_channels.max(phones),
            ..self.clone()
        };
        // Such a channel is set up once, and then never again.
        let again = Target::Beyond(Cause::ChannelSwitching, self.switch_time);
        let behind_others = Target::CauseAt(Cause::QueueBehindOthers, Site::Bearer);
        let remedies = vec![
            Remedy::long_queues(Self { buffer: self.buffer.max(LARGE), ..self.clone() }),
            Remedy::of_causes(
                Change::SwitchedAtOnce,
                1.0,
                Self { switch_time: now, paging_time: now, ..self.clone() },
            ),
            Remedy::of_causes(Change::SwitchedSooner, 0.5, Self { switch_time, paging_time, ..self.clone() }),
            Remedy::new(Change::AlwaysDedicated, behind_others, 1.0, dedicated).and(again),
            Remedy::faster(
                Change::FasterRadio,
                &[Site::Bearer],
                Self { dch_rate: self.dch_rate.doubled(), ..self.clone() },
            ),
        ];
        remedy::within(remedies, RadioSpec::FachDch)
    }

    fn tables(&self) -> Vec<Table> {
        vec![super::bearer::CHANNELS.empty()]
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        Bearers::shared(self.bearer(users.len(), streams))
    }
}
