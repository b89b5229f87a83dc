use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::remedy::{self, Change, LARGE, Loss, Remedy, Target};
use nodeb_base::rng::{Hazards, Streams};
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Size};

use super::arq::{Arq, Sharing};
use super::bearer::{Slots, WcdmaMac};
use super::cell::Cell;
use super::frame;
use super::link::Link;
use super::other_cells::OtherCellsSpec;
use super::profile::ProfileSpec;
use super::selection::SelectionSpec;
use crate::{Bearers, Parts, Queue, Radio, RadioSpec, Tti};
use nodeb_air::UserRadio;
use nodeb_air::rlc::Delivered;
use nodeb_air::tti::TtiBearer;

params! {
    /// WCDMA downlink, in which all connections use codes of a cell at the same time. The rate of a
    /// connection determines its spreading factor. Defaults are the values of the paper of `hossain`
    /// (section IV.A). Where the paper prints none, they are assumptions: `other_cells`, `eb_n0_db`,
    /// `correctable_bits` and `max_failed_slots`.
    pub struct Wcdma {
        /// Length of a slot. The rate of a connection is its largest number of frames per slot.
        pub slot: Duration = Duration::from_millis(10),
        /// Size of a frame. One frame per slot is the basic rate.
        pub frame_size: Size = Size(16),
        /// Spreading factor at the basic rate of one frame per slot, in chips per bit.
        pub spreading: NonZeroU32 = positive(128),
        /// Selectable rates in frames per slot, in ascending order.
        pub rates: Vec<u32> = (1..=8).collect(),
        /// Method by which the rates of the connections are selected.
        pub selection: SelectionSpec,
        /// Time without data after which a connection becomes inactive. Default: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub connection_timeout: Option<Duration>,
        /// Power delay profile: distribution of the received power over paths.
        pub profile: ProfileSpec,
        /// Energy per bit over noise density, in dB. With a map it applies at two thirds of the cell radius.
        pub eb_n0_db: f64 = 20.0,
        /// Number of bit errors per frame that the code corrects.
        pub correctable_bits: u32 = 0,
        /// Whether frames can fail. If false, all frames arrive, but rates are selected as if
        /// frames could fail.
        pub frame_errors: bool = true,
        /// Model of the interference from other cells, and their load.
        pub other_cells: OtherCellsSpec,
        /// Time from the end of a slot until the Node B is informed which frames of the slot failed. It
        /// can retransmit them in the first slot that starts then or later.
        pub ack_delay: Duration = Duration::from_millis(10),
        /// Rule that determines which frames of a connection may be sent in the same slot.
        pub sharing: Sharing,
        /// Number of consecutive slots in which all frames of a connection fail, after which a packet is
        /// given up: the oldest one with a frame in the last slot. Default: never.
        pub max_failed_slots: Option<NonZeroU32>,
        /// Order in which packets leave the bearer.
        pub delivery: Delivered = Delivered::InSequence,
        /// Capacity of each connection's buffer, in packets.
        pub buffer: NonZeroU32 = positive(1000),
    }
}

/// A larger value must be a typing error.
const LARGEST_FRAME: Size = Size(8_192);
const LARGEST_SPREADING: u32 = 65_536;
const LONGEST_SLOT: Duration = Duration::from_secs(10);
const LONGEST_ACK: Duration = Duration::from_secs(60);

impl Checked for Wcdma {
    fn check(&self, check: &mut Check) {
        check.range("slot", self.slot, Duration(1_000)..=LONGEST_SLOT);
        check.range("frame_size", self.frame_size, Size(1)..=LARGEST_FRAME);
        check.at_most("spreading", self.spreading.get(), LARGEST_SPREADING);
        check.range("eb_n0_db", self.eb_n0_db, -20.0..=60.0);
        check.at_most("ack_delay", self.ack_delay, LONGEST_ACK);
        self.check_rates(check);
        self.check_code(check);
        check.within("selection", |check| self.selection.check(check));
        check.within("profile", |check| self.profile.check(check));
        check.within("other_cells", |check| self.other_cells.check(check));
    }
}

impl Wcdma {
    fn check_rates(&self, check: &mut Check) {
        let rising = self.rates.windows(2).all(|pair| pair[0] < pair[1]);
        let possible = self.rates.first().is_some_and(|lowest| *lowest >= 1) && rising;
        check.require(possible, "rates", || {
            "the rates are not in ascending order or not positive; expected frames per slot such as [1, 2, 4]".to_owned()
        });
        let highest = self.highest_rate();
        check.require(highest <= self.spreading.get(), "rates", || {
            format!(
                "a rate of {highest} exceeds the {} chips per bit; expected at most that number",
                self.spreading
            )
        });
        if let SelectionSpec::Fixed(fixed) = &self.selection {
            let rate = fixed.frames.get();
            check.require(self.rates.contains(&rate), "selection", || {
                let rates: Vec<String> = self.rates.iter().map(ToString::to_string).collect();
                format!("{rate} is not one of the `rates`; expected one of: {}", rates.join(", "))
            });
        }
    }

    fn check_code(&self, check: &mut Check) {
        let bits = self.frame_bits();
        check.require(frame::check_bits(bits, self.correctable_bits).is_some(), "correctable_bits", || {
            format!(
                "a code that corrects {} errors leaves no data in a frame of {bits} bits; expected fewer errors",
                self.correctable_bits
            )
        });
    }

    fn frame_bytes(&self) -> u32 {
        u32::try_from(self.frame_size.0).unwrap_or(u32::MAX)
    }

    fn frame_bits(&self) -> u32 {
        u32::try_from(self.frame_size.0.saturating_mul(8)).unwrap_or(u32::MAX)
    }

    fn highest_rate(&self) -> u32 {
        self.rates.iter().copied().max().unwrap_or(1)
    }

    fn highest_bit_rate(&self) -> Rate {
        let bits = u128::from(self.highest_rate()) * u128::from(self.frame_bits());
        Rate((bits * u128::from(NANOS_PER_S) / u128::from(self.slot.0)) as u64)
    }

    /// With alpha in frames per slot.
    pub fn cell(&self, users: &[UserRadio], streams: &Streams) -> (Cell, f64) {
        let eb_n0 = libm::pow(10.0, self.eb_n0_db / 10.0);
        let link = Link::new(&self.profile, self.spreading.get(), self.frame_bits(), self.correctable_bits);
        let alpha = self.other_cells.mean_rate(&link, &self.rates, eb_n0);
        let placements = users.iter().map(|user| self.other_cells.place(eb_n0, user.id, streams)).collect();
        let mean_load = alpha * self.other_cells.load().connections;
        (Cell::new(link, placements, mean_load, self.rates.clone()), alpha)
    }

    /// All connections are inactive.
    pub fn bearer(&self, users: &[UserRadio], streams: &Streams) -> TtiBearer<WcdmaMac> {
        let errors = users.iter().map(|user| Hazards::new(streams.stream("bearer", user.id, "frame errors")));
        let slots = Slots {
            slot: self.slot,
            timeout: self.connection_timeout.map(|timeout| timeout.0.div_ceil(self.slot.0)),
            arq: Arq {
                frame_bytes: self.frame_bytes(),
                sharing: self.sharing,
                retransmit_after: 1 + self.ack_delay.0.div_ceil(self.slot.0),
                max_failed_slots: self.max_failed_slots.map(NonZeroU32::get),
                delivery: self.delivery,
                buffer: self.buffer.get() as usize,
            },
            selection: self.selection.clone(),
            frame_errors: self.frame_errors,
        };
        TtiBearer::new(self.slot, WcdmaMac::new(slots, self.cell(users, streams).0, errors))
    }
}

impl Radio for Wcdma {
    fn parts(&self) -> Parts<'_> {
        Parts {
            is_shared: true,
            tti: Some(Tti { frame_bytes: Some(self.frame_bytes()), ..Tti::of(self.slot) }),
            ..Parts::new(Queue::Buffer(self.buffer))
        }
    }

    /// A single connection at the highest rate without frame errors.
    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.highest_bit_rate()
    }

    fn remedies(&self, _phone: &UserRadio, _phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let remedies = vec![
            Remedy::no_block_errors(Self { frame_errors: false, ..self.clone() })
                .and(Target::Losses(&[Loss::Radio])),
            Remedy::long_queues(Self { buffer: self.buffer.max(LARGE), ..self.clone() }),
            Remedy::faster(
                Change::FasterRadio,
                &[Site::Bearer],
                Self { slot: self.slot.half(), ..self.clone() },
            ),
        ];
        remedy::within(remedies, RadioSpec::Wcdma)
    }

    fn tables(&self) -> Vec<Table> {
        vec![super::bearer::CELL.empty()]
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        Bearers::shared(self.bearer(users, streams))
    }
}
