use nodeb_base::check::{Check, Checked};
use nodeb_base::params;
use nodeb_base::remedy::{Change, Remedy};

use crate::cell::channel::ChannelSpec;

/// Of HSDPA and LTE.
pub const CATEGORIES: std::ops::RangeInclusive<u8> = 1..=12;

params! {
    /// Category and channel of the phones of a group on `hsdpa` or `lte`.
    pub struct Ue {
        /// UE category, 1 to 12. On `hsdpa` (TS 25.306, table 5.1a) it determines block sizes, codes and the
        /// minimum distance between TTIs in which the phone receives. On `lte` (TS 36.306, tables 4.1-1 and
        /// 4.1-2) it determines the largest blocks, the largest number of layers, and whether the phone can
        /// use 256QAM in the downlink and 64QAM in the uplink.
        pub category: u8 = 6,
        /// Channel of each phone, which determines the SNR in every TTI.
        pub channel: ChannelSpec,
    }
}

/// A factor of 2, by which a remedy strengthens the signal.
pub const STRONGER_DB: f64 = 3.0;

impl Ue {
    /// The signal's change is that of the cell's power, which channels without a position do not follow.
    pub fn remedies(&self) -> Vec<Remedy<Self>> {
        let channel = self.channel.stronger(STRONGER_DB);
        vec![Remedy {
            change: Change::StrongerSignal,
            aims: Vec::new(),
            part: Self { channel, ..self.clone() },
        }]
    }
}

impl Checked for Ue {
    fn check(&self, check: &mut Check) {
        check.require(CATEGORIES.contains(&self.category), "category", || {
            format!("UE category {} is out of range; expected 1 to 12", self.category)
        });
        check.within("channel", |check| self.channel.check(check));
    }
}
