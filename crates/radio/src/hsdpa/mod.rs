//! HSDPA in detail (TS 25.308); `hs_dsch` is a simpler model. Not modelled: errors on HS-SCCH, loss and
//! errors of CQI reports other than measurement errors, and several priority queues per user.
//!
//! ```text
//! RNC --Iub, credits--> queues --scheduler--> HARQ processes ~~~channel~~~> UE: reordering --> phone
//!                                    ^ CQI, ACK, NACK <~~~~~~~~~~~~~~~~~~~~~ |
//! ```

pub mod adaptation;
pub mod format;
pub mod iub;
pub mod mac;
pub mod meter;
mod node_b;
pub mod rlc;

#[cfg(test)]
mod tests;

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::keys;
use nodeb_base::remedy::{self, Change, LARGE, LARGE_SIZE, Loss, Remedy, Target};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, NANOS_PER_S, Probability, Rate, Size};

use self::adaptation::LinkAdaptationSpec;
use self::adaptation::curves::LinkCurves;
use self::format::Format;
use self::iub::Iub;
use self::mac::HsdpaMac;
use self::rlc::RlcModeSpec;
use super::{Bearers, ChannelKey, Meter, Parts, Queue, Radio, RadioSpec, Retransmission, Tti};
use nodeb_air::UserRadio;
use nodeb_air::cell::channel::ChannelFacts;
use nodeb_air::cell::handover::{Handover, HeldData};
use nodeb_air::cell::plan::Cell;
use nodeb_air::cell::tally::PHONES;
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::harq::chase::Chase;
use nodeb_air::mac::harq::{CombiningSpec, Decoding};
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::umts::payload::Payload;
use nodeb_air::tti::TtiBearer;
use nodeb_air::ue::Ue;

/// In bits, for one queue and one PDU size (TS 25.321, 9.1.4).
const MAC_HS_HEADER: u32 = 21;
/// With segmentation, in bits: LCH-ID, L, TSN, SI and F (TS 25.321, 9.1.4, Release 7).
const MAC_EHS_HEADER: u32 = 24;

/// Per TTI: CQI 30 of category 10 (TS 25.214, table 7D).
const MAX_BITS_PER_CODE: u64 = 25_558_u64.div_ceil(15);

params! {
    /// HS-DSCH in detail: fading, CQI, HARQ processes and Iub. The users' categories and channels
    /// are set under `ue` in their groups.
    pub struct Hsdpa {
        /// Number of HS-PDSCH codes of the cell, at most 15.
        pub codes: NonZeroU32 = positive(15),
        /// Largest number of users served in one TTI, at most 4. They share the codes and, equally, the
        /// power.
        pub users_per_tti: NonZeroU32 = positive(1),
        /// Scheduler that selects the users of each TTI.
        pub scheduler: SchedulerSpec,
        /// Link adaptation: method that selects the block that a user is sent in a TTI.
        pub link_adaptation: LinkAdaptationSpec,
        /// Measured BLER curves of the blocks. Default: the curves follow a published formula.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub link_curve: Option<Box<LinkCurves>>,
        /// Number of HARQ processes per user, at most 8.
        pub processes: NonZeroU32 = positive(6),
        /// Time from the start of a transmission until its ACK or NACK is known and the HARQ
        /// process may send again. Default: 6 TTIs, so that 6 processes can fill every TTI.
        pub retransmission_delay: Duration = Duration::from_millis(12),
        /// Largest number of transmissions of a block, after which it is discarded. Default: unlimited.
        pub max_transmissions: Option<NonZeroU32>,
        /// Soft combining of the transmissions of a block in the UE.
        pub combining: CombiningSpec = CombiningSpec::Chase(Chase::default()),
        /// Method that determines whether a block is decoded.
        pub decoding: Decoding,
        /// Probability that the Node B receives an ACK as a NACK.
        pub ack_error: Probability = Probability(0.0),
        /// Probability that the Node B receives a NACK as an ACK.
        pub nack_error: Probability = Probability(0.0),
        /// Receive window of the reordering queue in blocks, at most 32.
        pub reordering_window: NonZeroU32 = positive(32),
        /// Time for which the reordering queue waits for a missing block (timer T1), rounded up to
        /// whole TTIs.
        pub t1: Duration = Duration::from_millis(50),
        /// Payload of an RLC PDU, without the RLC header.
        pub pdu_size: Size = Size(40),
        /// RLC mode, which determines whether PDUs that MAC-hs gives up are retransmitted.
        pub rlc: RlcModeSpec,
        /// Whether blocks carry octets of PDUs (MAC-ehs) instead of whole PDUs (MAC-hs), which do not fit in
        /// small blocks.
        pub segmentation: bool = true,
        /// Capacity of each user's buffer in packets, from the RNC to the phone.
        pub buffer: NonZeroU32 = positive(1000),
        /// Iub between RNC and Node B. Default: none; packets wait at the Node B, and `core`
        /// includes the path from the RNC to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub iub: Option<Iub>,
        /// Cell and its Node B.
        pub cell: Cell,
        /// Handover between the cell and its neighbours. Default: none, the cell in the middle serves all
        /// users.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub handover: Option<Handover>,
    }
}

impl Checked for Hsdpa {
    fn check(&self, check: &mut Check) {
        let limits = [
            ("codes", self.codes, format::MAX_CODES),
            ("users_per_tti", self.users_per_tti, 4),
            ("processes", self.processes, 8),
            ("reordering_window", self.reordering_window, 32),
        ];
        for (key, value, most) in limits {
            check.require(value.get() <= most, key, || {
                format!("{value} is out of range; expected 1 to {most}")
            });
        }
        for (key, value, most) in
            [("retransmission_delay", self.retransmission_delay, 10), ("t1", self.t1, 100_000)]
        {
            check.at_most(key, value, Duration::from_secs(most));
        }
        check.range("pdu_size", self.pdu_size, Size(1)..=Size(65_535));
        self.harq_rules().check(check);
        if let LinkAdaptationSpec::Shannon(params) = &self.link_adaptation {
            check.require(
                self.payload().units_in(params.largest_block(self.numerology())) > 0,
                "pdu_size",
                || {
                    format!(
                        "no block at {} carries a PDU of {}; expected smaller PDUs, or `segmentation`",
                        params.rate, self.pdu_size
                    )
                },
            );
        }
        check.within("scheduler", |check| self.scheduler.check(check));
        check.within("link_adaptation", |check| self.link_adaptation.check(check));
        if let Some(curves) = &self.link_curve {
            check.within("link_curve", |check| curves.check(check));
        }
        check.within("combining", |check| self.combining.check(check));
        check.within("cell", |check| self.cell.check(check));
        if let Some(handover) = &self.handover {
            check.within("handover", |check| handover.check_with(&self.cell, check));
        }
        check.idle(self.link_adaptation.is_certain(), &keys!(self; codes), BY_CAPACITY);
        self.rlc.check_for(self.pdu_size, check);
        if let Some(iub) = &self.iub {
            let portion = self.rlc.smallest_portion(self.pdu_size);
            check.within("iub", |check| iub.check_with(portion, self.numerology(), check));
        }
    }
}

impl Hsdpa {
    pub fn numerology(&self) -> Numerology {
        Numerology::HSDPA
    }

    pub fn served(&self) -> usize {
        self.handover.as_ref().map_or(1, |handover| handover.cells)
    }

    /// MAC-ehs fills a block with octets, MAC-hs with whole PDUs.
    pub fn payload(&self) -> Payload {
        let pdu_bytes = u32::try_from(self.pdu_size.0).unwrap_or(u32::MAX - 16).max(1);
        let block_header_bits = if self.segmentation { MAC_EHS_HEADER } else { MAC_HS_HEADER };
        Payload { pdu_bytes, segmented: self.segmentation, block_header_bits }
    }

    fn harq_rules(&self) -> Rules {
        Rules {
            combining: self.combining.clone(),
            decoding: self.decoding,
            ack_error: self.ack_error,
            nack_error: self.nack_error,
            max_transmissions: self.max_transmissions,
        }
    }

    /// TTI in which the Node B knows the ACK or NACK.
    fn answer_at(&self, tti: u64) -> u64 {
        tti + self.numerology().ttis(self.retransmission_delay).max(1)
    }

    pub fn bearer(&self, users: &[UserRadio], streams: &Streams) -> TtiBearer<HsdpaMac> {
        TtiBearer::new(self.numerology().tti, HsdpaMac::new(self, users, streams))
    }

    fn check_formats(&self, formats: &[Option<Format>; format::CQIS], category: u8, check: &mut Check) {
        let last = formats[format::CQIS - 1].map_or(0, |format| format.curve);
        let usable = formats.iter().flatten().filter(|format| format.codes <= self.codes.get());
        let fits =
            usable.map(|format| format.bits).max().is_some_and(|bits| self.payload().units_in(bits) > 0);
        check.require(fits, "category", || {
            format!(
                "no block of category {category} carries a PDU of {}; expected smaller PDUs, or `segmentation`",
                self.pdu_size
            )
        });
        if let Some(curves) = &self.link_curve {
            check.within("link_curve", |check| curves.check_covers(last, category, check));
        }
    }

    fn check_window(&self, formats: &[Option<Format>; format::CQIS], category: u8, check: &mut Check) {
        let RlcModeSpec::Am(params) = &self.rlc else {
            return;
        };
        // The window advances when a PDU has passed the Iub and the air interface and a status
        // report on it has returned, so the size of the window limits the rate.
        let iub = self.iub.as_ref().map_or(0, |iub| iub.delay.0);
        let round_trip = Duration(iub + self.numerology().tti.0 + params.status.delay.0);
        let window_bits = u64::from(params.tx_window.get()) * self.pdu_size.0 * 8;
        let most = Rate(window_bits * NANOS_PER_S / round_trip.0);
        let bits = formats.iter().flatten().map(|format| format.bits).max().unwrap_or(0);
        let between = self.numerology().tti.0 * format::least_tti_distance(category);
        let peak = Rate(u64::from(bits) * NANOS_PER_S / between);
        check.advise(most >= peak, "category", || {
            format!(
                "a window of {} PDUs of {} and a round trip of at least {round_trip} allow at most {most}, \
                 but category {category} up to {peak}; a larger `radio.hsdpa.rlc.am.tx_window` allows \
                 more",
                params.tx_window, self.pdu_size
            )
        });
    }

    pub fn check_ue(&self, ue: &Ue, duration: Duration, check: &mut Check) {
        ue.check(check);
        if let LinkAdaptationSpec::Cqi(reports) = &self.link_adaptation {
            let formats = reports.formats(ue.category);
            self.check_formats(&formats, ue.category, check);
            self.check_window(&formats, ue.category, check);
        }
        check.idle(ue.channel.facts().has_rates, &keys!(ue; category), BY_RATES);
        check.within("channel", |check| {
            check.within(ue.channel.key(), |check| {
                let facts = ue.channel.facts();
                check.require(!facts.has_cqis || facts.has_snrs, "cqi", || {
                    "on `hsdpa`, recorded CQIs need SNRs; expected `snrs_db` too, or a `file` that \
                     `nodeb import --as cqi` writes"
                        .to_owned()
                });
                ue.channel.check_on(&self.cell, self.served(), check);
                ue.channel.check_during(duration, self.numerology(), check);
            });
        });
    }
}

const BY_CAPACITY: &str = "`shannon` uses the capacity of the channel, whatever the codes";
const BY_RATES: &str = "recorded rates determine each block";
const CERTAIN: &str = "no block can fail with recorded rates or `link_adaptation = \"shannon\"`";
const NO_POSITIONS: &str = "no user has a position in the cell; their SNR comes from `ue.channel`";

impl Radio for Hsdpa {
    fn parts(&self) -> Parts<'_> {
        let queue = if self.iub.is_some() { Queue::Rnc(self.buffer) } else { Queue::Buffer(self.buffer) };
        Parts {
            is_shared: true,
            tti: Some(Tti::of(self.numerology().tti)),
            retransmission: Some(Retransmission { is_harq: true, after: self.retransmission_delay }),
            channel: Some(ChannelKey::Ue),
            meter: Some(Meter::Series),
            interruption: self.handover.as_ref().map(|handover| handover.interruption),
            ..Parts::new(queue)
        }
    }

    /// Of all served cells together; recorded rates may exceed it.
    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        let most = match &self.link_adaptation {
            LinkAdaptationSpec::Cqi(reports) => {
                let by_codes = u64::from(self.codes.get()) * MAX_BITS_PER_CODE;
                let own =
                    reports.table.last().map(|row| u64::from(row.bits) * u64::from(self.users_per_tti.get()));
                own.unwrap_or(by_codes) * NANOS_PER_S / self.numerology().tti.0
            }
            LinkAdaptationSpec::Shannon(params) => params.rate.0 * u64::from(self.users_per_tti.get()),
        };
        Rate(most.saturating_mul(self.served() as u64))
    }

    fn remedies(&self, phone: &UserRadio, _phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let (decoding, ack_error, nack_error) = (Decoding::ErrorFree, Probability(0.0), Probability(0.0));
        let retransmission_delay = self.retransmission_delay.half();
        let mut remedies = vec![
            Remedy::no_block_errors(Self { decoding, ack_error, nack_error, ..self.clone() })
                .and(Target::Losses(&[Loss::Radio])),
            Remedy::of_causes(
                Change::RetransmittedSooner,
                0.5,
                Self { retransmission_delay, ..self.clone() },
            ),
            Remedy::long_queues(Self { buffer: self.buffer.max(LARGE), ..self.clone() }),
            Remedy::of_causes(Change::NoHandover, 1.0, Self { handover: None, ..self.clone() }),
        ];
        if let Some(iub) = &self.iub {
            let with = |iub: Iub| Self { iub: Some(iub), ..self.clone() };
            let roomy = with(Iub { room: LARGE_SIZE, ..iub.clone() });
            remedies.push(Remedy::of_causes(Change::ManyCredits, 1.0, roomy));
            remedies.push(Remedy::nearer(with(Iub { delay: iub.delay.half(), ..iub.clone() })));
        }
        if let Some(handover) = &self.handover {
            let (interruption, data) = (Duration::ZERO, HeldData::Forwarded);
            let handover = Some(Handover { interruption, data, ..handover.clone() });
            remedies.push(Remedy::of_causes(Change::HandoverAtOnce, 1.0, Self { handover, ..self.clone() }));
        }
        if let LinkAdaptationSpec::Cqi(reports) = &self.link_adaptation {
            let link_adaptation = LinkAdaptationSpec::Cqi(reports.with_blocks_doubled(phone.ue.category));
            let larger = Self { link_adaptation, ..self.clone() };
            remedies.push(Remedy::faster(Change::FasterRadio, &[Site::Bearer], larger));
        }
        remedy::within(remedies, RadioSpec::Hsdpa)
    }

    fn cell(&self) -> Option<(Cell, usize)> {
        Some((self.cell.clone(), self.served()))
    }

    fn unread(&self) -> Option<String> {
        let file = self.link_curve.as_ref()?.unread()?;
        Some(format!("link_curve: the curves `{file}` have not been read; expected their contents as lists"))
    }

    fn check_user(&self, user: &UserRadio, duration: Duration, check: &mut Check) {
        check.within("ue", |check| self.check_ue(&user.ue, duration, check));
        check.require(user.bearers.len() == 1, "upload_bearer", || {
            "on `hsdpa` each phone has one bearer; remove `upload_bearer` or use `lte`".to_owned()
        });
        check.within("bearer", |check| {
            let bearer = &user.bearers[0];
            let all = keys!(bearer; qci, prioritized_rate, rlc);
            check.idle(true, &all, "only bearers of `lte` have classes; `hsdpa` has their `delay_budget`");
            bearer.check_deadlines(&[&self.scheduler], self.numerology().tti, check);
        });
    }

    fn check_users(&self, users: &[UserRadio], check: &mut Check) {
        let all = |holds: fn(ChannelFacts) -> bool| users.iter().all(|user| holds(user.ue.channel.facts()));
        let rates = all(|channel| channel.has_rates);
        check.idle(rates, &keys!(self; link_adaptation), BY_RATES);
        let certain = rates || self.link_adaptation.is_certain();
        check.idle(certain, &keys!(self; decoding, nack_error, combining, link_curve), CERTAIN);
        check.within("link_adaptation", |check| {
            check.within(self.link_adaptation.key(), |check| {
                self.link_adaptation.check_reports(all(|channel| channel.has_cqis), check);
            });
        });
        let empty = all(|channel| !channel.has_place);
        check.within("cell", |check| {
            check.idle(empty, &self.cell.keys_of_places(), NO_POSITIONS);
            self.cell.check_shadowing(empty, all(|channel| !channel.moves), check);
        });
        if let Some(handover) = &self.handover {
            let keys = keys!(handover; hysteresis_db, time_to_trigger, interruption, data);
            check.within("handover", |check| check.idle(empty, &keys, NO_POSITIONS));
        }
    }

    fn tables(&self) -> Vec<Table> {
        vec![PHONES.empty()]
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        Bearers::shared(self.bearer(users, streams))
    }
}
