//! TS 25.211, 5.3.2; modelled as in `wang`, 2004.

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::keys;
use nodeb_base::remedy::{self, Remedy};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Probability, Rate, Size};

use super::assemble::Layers;
use super::{Bearers, Parts, Queue, Radio, RadioSpec, Retransmission, Tti};
use nodeb_air::error::{BY_MODEL, ErrorModel};
use nodeb_air::mac::harq::CombiningSpec;
use nodeb_air::mac::sched::round_robin::RoundRobinScheduler;
use nodeb_air::rlc::{Delivered, RlcSpec};
use nodeb_air::tti::Air;
use nodeb_air::tti::arq::remedies::{Changed, remedies};
use nodeb_air::tti::rlc::Checksum;
use nodeb_air::{Hop, UserRadio};

params! {
    /// Dedicated channels of one user. Defaults: Tables 5 and 10 of `wang`, that is, 12 parallel channels
    /// with one 40-byte PDU each per TTI of 10 ms, which give 384 kbps together. Retransmissions follow 89 ms
    /// after the end of a failed TTI.
    pub struct Dch {
        /// Number of parallel channels. Each sends at most one block per TTI.
        pub channels: NonZeroU32 = positive(12),
        /// Length of a transmission time interval (TTI).
        pub tti: Duration = Duration::from_millis(10),
        /// Payload of a PDU, or its whole size if the RLC mode has headers. With `rlc = "arq"` a packet takes
        /// whole PDUs; the last one is padded and not shared with the next packet.
        pub pdu_size: Size = Size(40),
        /// Number of PDUs in a block, that is, per channel and TTI.
        pub pdus_per_tti: NonZeroU32 = positive(1),
        /// Block error rate: probability that the transmission of a block fails.
        pub bler: Probability = Probability(0.01),
        /// Model of block errors, which replaces `bler`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub errors: Option<ErrorModel>,
        /// Time from the start of a failed TTI to the earliest retransmission of its block, at a TTI
        /// boundary. Only with `rlc = "arq"`.
        pub retransmission_delay: Duration = Duration::from_millis(99),
        /// Largest number of transmissions of a block, after which it is discarded. Default: unlimited. Only
        /// with `rlc = "arq"`.
        pub max_transmissions: Option<NonZeroU32>,
        /// Order in which packets leave the bearer.
        pub delivery: Delivered = Delivered::InSequence,
        /// RLC mode: method by which PDUs are retransmitted.
        pub rlc: RlcSpec,
        /// Capacity of the bearer's buffer, in packets.
        pub buffer: NonZeroU32 = positive(1000),
    }
}

impl Checked for Dch {
    fn check(&self, check: &mut Check) {
        self.air().check_with(self.errors.as_ref(), check);
        self.rlc.check_for(self.air().pdu_bytes, check);
        let is_arq = self.rlc.retransmits_blocks();
        check.require(is_arq || self.max_transmissions.is_none(), "max_transmissions", || {
            format!("only `rlc = \"arq\"` retransmits blocks; leave this out with `{}`", self.rlc.key())
        });
        check.idle(self.errors.is_some(), &keys!(self; bler), BY_MODEL);
        let why = "only `rlc = \"arq\"` retransmits blocks after a fixed delay";
        check.idle(!is_arq, &keys!(self; retransmission_delay), why);
    }
}

impl Dch {
    /// Each transmission of a block is decoded on its own, without soft combining.
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
            combining: CombiningSpec::default(),
        }
    }

    fn bearer(&self, user: &UserRadio, streams: Streams) -> Box<dyn Hop> {
        let fixed = UserRadio { id: user.id, ..UserRadio::default() };
        let scheduler = Box::new(RoundRobinScheduler::default());
        let Self { errors, rlc, .. } = self;
        let (air, checksum) = (self.air(), Checksum::Pdu);
        Layers { air, checksum, errors: errors.as_ref(), rlc, scheduler }.build(&[fixed], &streams)
    }
}

impl Radio for Dch {
    fn parts(&self) -> Parts<'_> {
        let bler = self.air().block_error_rate(self.errors.as_ref());
        Parts {
            tti: Some(Tti { bler: Some(bler), ..Tti::of(self.tti) }),
            retransmission: self
                .rlc
                .retransmits_blocks()
                .then_some(Retransmission { is_harq: false, after: self.retransmission_delay }),
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
        remedy::within(remedies, RadioSpec::Dch)
    }

    fn unread(&self) -> Option<String> {
        self.errors.as_ref()?.unread()
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        Bearers::one_per_user(users, |user| self.bearer(user, *streams))
    }
}
