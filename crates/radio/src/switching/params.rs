//! The parameters of a FACH with a pool of dedicated channels.

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::registry::choice;
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Rate, Size};

use super::bearer::SwitchedBearer;
use super::policy::SwitchingSpec;
use super::state::PhonePower;
use crate::{Bearer, Facts, Radio, UserRadio};

params! {
    /// A FACH that all users share and dedicated channels that one user holds at a time. The defaults
    /// are Table I of `prabhu`.
    pub struct FachDch {
        /// Bit rate of the FACH.
        pub fach_rate: Rate = Rate(33_000),
        /// Bit rate of the signalling on the FACH, which goes before the users' packets.
        pub signalling_rate: Rate = Rate(24_000),
        /// Size of a signalling packet.
        pub signalling_size: Size = Size(1_000),
        /// Dedicated channels in the cell.
        pub dch_channels: NonZeroU32 = positive(1),
        /// Bit rate of a dedicated channel.
        pub dch_rate: Rate = Rate(384_000),
        /// How long the set-up of a dedicated channel takes, and its release. The user's queue is not
        /// served meanwhile.
        pub switch_time: Duration = Duration::from_millis(250),
        /// How long a phone on the paging channel takes to the FACH.
        pub paging_time: Duration = Duration::from_millis(600),
        /// Who is switched when.
        pub policy: SwitchingSpec,
        /// Packets that each user's buffer holds.
        pub buffer: NonZeroU32 = positive(1000),
        /// What a phone's radio consumes in which state.
        pub power: PhonePower,
    }
}

/// More than these are typing errors.
const LARGEST_SIGNALLING: Size = Size(65_535);
const LONGEST_SWITCH: Duration = Duration::from_secs(60);

impl Checked for FachDch {
    fn check(&self, check: &mut Check) {
        for (key, rate) in [("fach_rate", self.fach_rate), ("dch_rate", self.dch_rate)] {
            check.require(rate.0 > 0, key, || {
                "a channel of 0 bps carries nothing; expected a positive rate".to_owned()
            });
        }
        check.advise(self.signalling_rate < self.fach_rate, "signalling_rate", || {
            format!(
                "signalling of {} takes all that the FACH of {} carries, so TCP starves on it; a share for users is \
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
    /// The bearer of `users` users, all of them on the FACH.
    pub fn bearer(&self, users: usize) -> SwitchedBearer {
        SwitchedBearer::new(self, users)
    }
}

impl Radio for FachDch {
    fn facts(&self) -> Facts {
        Facts { is_shared: true, has_states: true, ..Facts::default() }
    }

    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.dch_rate.max(self.fach_rate)
    }

    fn tables(&self) -> Vec<Table> {
        vec![super::bearer::CHANNELS.empty()]
    }

    fn build(&self, users: &[UserRadio], _streams: &Streams) -> Vec<Box<dyn Bearer>> {
        vec![Box::new(self.bearer(users.len()))]
    }
}
