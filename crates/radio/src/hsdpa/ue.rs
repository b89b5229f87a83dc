//! A phone on HS-DSCH: what it can receive, and what its channel is like.

use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::units::Duration;

use super::format::CATEGORIES;
use crate::cell::channel::ChannelSpec;

params! {
    /// A group's phones on `hsdpa`.
    pub struct Ue {
        /// UE category, 1 to 12 (TS 25.306, table 5.1a): block sizes, codes, distance of TTIs.
        pub category: u8 = 6,
        /// Where the SNR comes from.
        pub channel: ChannelSpec,
        /// How long a packet may wait at the Node B, for schedulers that look at deadlines.
        pub delay_budget: Duration = Duration::from_millis(300),
    }
}

impl Checked for Ue {
    fn check(&self, check: &mut Check) {
        check.require(CATEGORIES.contains(&self.category), "category", || {
            format!("there is no UE category {} on HS-DSCH; expected 1 to 12", self.category)
        });
        check.within("channel", |check| self.channel.check(check));
    }
}
