//! TS 25.308; modelled as in `wang`, 2004.

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::remedy::{self, Remedy};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Probability, Rate, Size};

use super::assemble::Layers;
use super::{Bearers, ChannelKey, Parts, Queue, Radio, RadioSpec, Retransmission, Tti};
use nodeb_air::UserRadio;
use nodeb_air::error::{BY_MODEL, ErrorModel};
use nodeb_air::mac::harq::CombiningSpec;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::rlc::{Delivered, RlcSpec};
use nodeb_air::tti::Air;
use nodeb_air::tti::arq::remedies::{Changed, remedies};
use nodeb_air::tti::rlc::Checksum;

params! {
    /// A channel shared by all users, one user per TTI. Defaults: Table 10 of `wang` at 384 kbps, that is, 3
    /// code channels with one 32-byte PDU each per TTI of 2 ms.
    pub struct HsDsch {
        /// Number of code channels. Each sends at most one block per TTI.
        pub channels: NonZeroU32 = positive(3),
        /// Length of a transmission time interval (TTI).
        pub tti: Duration = Duration::from_millis(2),
        /// Payload of a PDU, or its whole size if the RLC mode has headers. With `rlc = "arq"` a packet takes
        /// whole PDUs; the last one is padded and not shared with the next packet.
        pub pdu_size: Size = Size(32),
        /// Number of PDUs in a block at constant rate. For a user with a C/I process, the C/I value
        /// of the TTI is the number of PDUs instead.
        pub pdus_per_tti: NonZeroU32 = positive(1),
        /// Block error rate of a first transmission.
        pub bler: Probability = Probability(0.01),
        /// Model of block errors, which replaces `bler`. Each user has an independent process.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub errors: Option<ErrorModel>,
        /// Time from the start of a failed TTI to the earliest retransmission of its block, at a TTI
        /// boundary.
        pub retransmission_delay: Duration = Duration(9_500_000),
        /// Largest number of transmissions of a block, after which it is discarded. Default: unlimited.
        pub max_transmissions: Option<NonZeroU32>,
        /// Soft combining of the transmissions of a block.
        pub combining: CombiningSpec,
        /// Scheduler that selects the user of each TTI.
        pub scheduler: SchedulerSpec,
        /// Order in which packets leave the bearer.
        pub delivery: Delivered = Delivered::InSequence,
        /// RLC mode: method by which PDUs that hybrid ARQ could not deliver are retransmitted.
        pub rlc: RlcSpec,
        /// Capacity of each user's buffer, in packets.
        pub buffer: NonZeroU32 = positive(1000),
    }
}

impl Checked for HsDsch {
    fn check(&self, check: &mut Check) {
        self.air().check_with(self.errors.as_ref(), check);
        self.rlc.check_for(self.air().pdu_bytes, check);
        check.within("scheduler", |check| self.scheduler.check(check));
        check.idle(self.errors.is_some(), &keys!(self; bler), BY_MODEL);
    }
}

impl HsDsch {
    pub fn air(&self) -> Air {
        Air {
            channels: self.channels.get(),
            tti: self.tti,
            pdu_bytes: u32::try_from(self.pdu_size.0).unwrap_or(u32::MAX),
            pdus_per_block: self.pdus_per_tti.get(),
            bler: self.bler,
            retransmission_delay: self.retransmission_delay,
            max_transmissions: self.max_transmissions.map(NonZeroU32::get),
            delivered: self.delivery,
            buffer: self.buffer.get() as usize,
            combining: self.combining.clone(),
        }
    }
}

impl Radio for HsDsch {
    fn parts(&self) -> Parts<'_> {
        let bler = self.air().block_error_rate(self.errors.as_ref());
        Parts {
            tti: Some(Tti { bler: Some(bler), ..Tti::of(self.tti) }),
            retransmission: Some(Retransmission { is_harq: true, after: self.retransmission_delay }),
            is_shared: true,
            channel: Some(ChannelKey::Ci),
            ..Parts::new(Queue::Buffer(self.buffer))
        }
    }

    fn channel_rate(&self, best_ci: Option<u32>) -> Rate {
        self.air().rate(best_ci)
    }

    fn remedies(&self, _phone: &UserRadio, _phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let remedies = remedies(self, |radio| Changed {
            bler: &mut radio.bler,
            errors: &mut radio.errors,
            retransmission_delay: &mut radio.retransmission_delay,
            channels: &mut radio.channels,
            buffer: &mut radio.buffer,
        });
        remedy::within(remedies, RadioSpec::HsDsch)
    }

    fn unread(&self) -> Option<String> {
        self.errors.as_ref()?.unread()
    }

    fn check_users(&self, users: &[UserRadio], check: &mut Check) {
        let every_ci = users.iter().all(|user| !user.ci.is_empty());
        let why = "every user has a `ci`, whose value in the TTI is the number of PDUs";
        check.idle(every_ci, &keys!(self; pdus_per_tti), why);
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        let scheduler = self.scheduler.build(users.len(), self.tti);
        let Self { errors, rlc, .. } = self;
        let (air, checksum) = (self.air(), Checksum::Block);
        let layers = Layers { air, checksum, errors: errors.as_ref(), rlc, scheduler };
        Bearers { down: vec![layers.build(users, streams)], up: None }
    }
}
