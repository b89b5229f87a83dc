use std::num::NonZeroU32;

use nodeb_air::allowed::DISCARD_TIMER;
use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::cell::plan::Cell;
use nodeb_air::cell::tally::PHONES;
use nodeb_air::mac::harq::chase::Chase;
use nodeb_air::mac::harq::{CombiningSpec, Decoding};
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::pdcp::SnLength;
use nodeb_air::rlc::lte::LteRlcSpec;
use nodeb_air::rlc::lte::um::UmSnLength;
use nodeb_air::tti::TtiBearer;
use nodeb_air::ue::{STRONGER_DB, Ue};
use nodeb_air::{Hop, UserRadio};
use nodeb_base::cause::Step;
use nodeb_base::check::{Check, Checked};
use nodeb_base::event;
use nodeb_base::remedy::{self, Change, Loss, Remedy, Target};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Probability, Rate, positive};
use nodeb_base::{keys, params};
use nodeb_net::QueueSpec;

use super::bandwidth::Bandwidth;
use super::category::Category;
use super::compatible;
use super::drx::Drx;
use super::reports::{GroupReports, TTI};
use super::rrc::Rrc;
use super::site::Site;
use super::timing::DOWN_RETRANSMISSION_AFTER;
use super::uplink::UplinkSpec;
use super::uplink::params::Scheduled;
use crate::ofdma::downlink::DownlinkMac;
use crate::ofdma::drx::states::DRX;
use crate::ofdma::queues::QUEUES;
use crate::ofdma::rrc::CONNECTIONS;
use crate::ofdma::uplink::UplinkMac;
use crate::ofdma::uplink::configured::CONFIGURED;
use crate::ofdma::uplink::headroom::HEADROOM;
use crate::ofdma::uplink::tally::UPLINKS;
use crate::{Bearers, ChannelKey, KeyDefault, Parts, Queue, Radio, RadioSpec, Retransmission, Tti, Uplink};

params! {
    /// LTE cell (Releases 8 to 12, FDD, one to four layers). The users' categories and channels are set under `ue` in
    /// their groups.
    pub struct Lte {
        /// Channel bandwidth, which determines the number of resource blocks.
        pub bandwidth: Bandwidth = Bandwidth::Mhz20,
        /// Carrier frequency in GHz, which determines Doppler shifts.
        pub carrier_ghz: f64 = 2.0,
        /// Number of OFDM symbols of the control region in each subframe: 1 to 3, 2 to 4 at 1.4 MHz.
        pub control_symbols: u8 = 3,
        /// Number of antenna ports with reference signals, which take resource elements: 1, 2 or 4.
        pub antenna_ports: u8 = 1,
        /// Largest number of layers sent to a phone, 1 to 4, within `antenna_ports` and the layers of its category.
        /// Phones report how many to send (open-loop spatial multiplexing). With 1, one antenna sends to one
        /// antenna.
        pub layers: u8 = 1,
        /// Whether phones whose category has 256QAM use it (Release 12).
        pub qam256: bool = false,
        /// Largest number of users served in one TTI, at most 20.
        pub users_per_tti: NonZeroU32 = positive(8),
        /// Scheduler that assigns groups of resource blocks to users.
        pub scheduler: SchedulerSpec,
        /// CQI reports of phones, by which blocks are selected.
        pub cqi: GroupReports,
        /// Discontinuous reception. Default: none, phones always listen.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub drx: Option<Drx>,
        /// RRC states, only with a scheduled uplink. Default: none, phones are always connected.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rrc: Option<Rrc>,
        /// SNR in dB that phones need beyond the curves of block errors, which are those of an ideal receiver.
        pub implementation_loss_db: f64 = 0.0,
        /// Number of HARQ processes per user, at most 8.
        pub processes: NonZeroU32 = positive(8),
        /// Largest number of transmissions of a block, after which it is discarded. Default: unlimited.
        pub max_transmissions: Option<NonZeroU32>,
        /// Soft combining of the transmissions of a block in the phone.
        pub combining: CombiningSpec = CombiningSpec::Chase(Chase::default()),
        /// Method that determines whether a block is decoded.
        pub decoding: Decoding,
        /// Probability that the base station receives an ACK as a NACK.
        pub ack_error: Probability = Probability(0.0),
        /// Probability that the base station receives a NACK as an ACK.
        pub nack_error: Probability = Probability(0.0),
        /// RLC mode of the downlink and of a scheduled uplink.
        pub rlc: LteRlcSpec,
        /// Time from the creation of a STATUS PDU to its arrival at the other end.
        pub status_delay: Duration = Duration::from_millis(8),
        /// Length of PDCP's sequence number.
        pub sn_length: SnLength,
        /// Age at which PDCP discards a packet that RLC has not begun to send. Default: never.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discard_timer: Option<Duration>,
        /// Queue of each user in front of RLC.
        pub queue: QueueSpec,
        /// The base station and its surroundings.
        pub cell: Site,
        /// Uplink: scheduled by the base station, or a plain link for each phone.
        pub uplink: UplinkSpec,
    }
}

/// A network that never limits the cell, whose peak is 392 Mbit/s (four layers, 256QAM). The delay of 10 ms
/// between server and gateway is that of ns-3's `lena-simple-epc.cc`; its 100 Gbit/s are here those of
/// Gigabit Ethernet.
const KEY_DEFAULTS: &[KeyDefault] = &[
    KeyDefault { key: "wired.rate", value: "1 Gbps", with: None },
    KeyDefault { key: "wired.delay", value: "10 ms", with: None },
    KeyDefault { key: "core.rate", value: "1 Gbps", with: Some("core") },
    KeyDefault { key: "core.delay", value: "10 ms", with: Some("core") },
    KeyDefault { key: "tcp", value: "linux", with: None },
    KeyDefault { key: "radio.lte.uplink", value: "plain", with: Some("uplink") },
];

/// About as many as the control region of 20 MHz can address.
const MAX_USERS_PER_TTI: u32 = 20;

/// Share of the time on the air that a second layer saves. By the ergodic capacity of a linear receiver with two
/// antennas at either end it is 0.33 at 10 dB and 0.44 at 30 dB; below 10 dB, the second receive antenna saves
/// about as much.
const BY_LAYER: f64 = 0.4;

impl Checked for Lte {
    fn check(&self, check: &mut Check) {
        for (key, value, most) in
            [("users_per_tti", self.users_per_tti, MAX_USERS_PER_TTI), ("processes", self.processes, 8)]
        {
            check.require(value.get() <= most, key, || {
                format!("{value} is out of range; expected 1 to {most}")
            });
        }
        check.range("carrier_ghz", self.carrier_ghz, 0.4..=6.0);
        check.range("implementation_loss_db", self.implementation_loss_db, 0.0..=20.0);
        check.at_most("status_delay", self.status_delay, Duration::from_secs(10));
        if let Err(message) = compatible::ports(self.antenna_ports) {
            check.require(false, "antenna_ports", || message);
        }
        check.require((1..=self.antenna_ports).contains(&self.layers), "layers", || {
            format!(
                "{} layers do not exist with {} antenna ports; expected 1 to {} (TS 36.211, 6.3.3.2)",
                self.layers, self.antenna_ports, self.antenna_ports
            )
        });
        if let Err(message) = compatible::check_control(self.bandwidth, self.layout()) {
            check.require(false, "control_symbols", || message);
        }
        self.harq_rules().check(check);
        if let Some(age) = self.discard_timer {
            DISCARD_TIMER.require_time(check, "discard_timer", age);
        }
        check.within("scheduler", |check| self.scheduler.check(check));
        check.within("cqi", |check| self.cqi.check(check));
        if let Some(drx) = &self.drx {
            check.within("drx", |check| drx.check(check));
        }
        if let Some(rrc) = &self.rrc {
            check.within("rrc", |check| rrc.check(check));
            check.require(self.schedules_uplink(), "rrc", || {
                "idle phones send nothing on a plain uplink; expected `uplink.scheduled`".to_owned()
            });
        }
        check.within("combining", |check| self.combining.check(check));
        check.within("rlc", |check| self.rlc.check(check));
        check.within("rlc", |check| self.advise_window(check));
        check.within("queue", |check| {
            self.queue.check(check);
            check.within(self.queue.key(), |check| self.queue.check_waiting(check));
        });
        check.within("cell", |check| self.cell.check(check));
        check.within("uplink", |check| {
            self.uplink.check(check);
            if let UplinkSpec::Scheduled(params) = &self.uplink {
                check.within(self.uplink.key(), |check| {
                    params.check_band(self.bandwidth, check);
                    self.advise_sleep(params, check);
                });
            }
        });
    }
}

impl Lte {
    /// Grants ahead of data may restart the inactivity timer before it expires.
    fn advise_sleep(&self, params: &Scheduled, check: &mut Check) {
        let (Some(drx), Some(interval)) = (&self.drx, params.ahead()) else { return };
        check.advise(interval * TTI.0 > drx.inactivity.0, "grants", || {
            format!(
                "grants every {} restart the inactivity timer of {} (TS 36.321, 5.7), so phones do not sleep any more \
                 after the first one; expected a longer interval, or a shorter `radio.lte.drx.inactivity`",
                Duration(interval * TTI.0),
                drx.inactivity
            )
        });
    }

    /// With 5-bit numbers, PDUs retransmitted too late arrive behind UM's window: meanwhile the other
    /// processes send one new PDU per subframe, two on several layers.
    fn advise_window(&self, check: &mut Check) {
        let LteRlcSpec::Um(um) = &self.rlc else { return };
        let most = |blocks: u64| (um.sn_length.window() - 1) / (blocks * (DOWN_RETRANSMISSION_AFTER - 1)) + 1;
        let most_down = most(if self.layers > 1 { 2 } else { 1 });
        let fits_down = self.max_transmissions.is_some_and(|of| u64::from(of.get()) <= most_down);
        let fits_up = match &self.uplink {
            UplinkSpec::Plain(_) => true,
            UplinkSpec::Scheduled(up) => u64::from(up.max_transmissions.get()) <= most(1),
        };
        let is_short = um.sn_length == UmSnLength::Bits5;
        check.within(self.rlc.key(), |check| {
            check.advise(!is_short || fits_down && fits_up, "sn_length", || {
                format!(
                    "PDUs that arrive after {} later ones are discarded (TS 36.322, 5.1.2.2.2), so packets may be lost \
                     with late retransmissions; expected `10 bit`, or at most {most_down} transmissions of a block \
                     (`max_transmissions`), in a scheduled uplink at most {}",
                    um.sn_length.window(),
                    most(1)
                )
            });
        });
    }

    fn own_remedies(&self, ue: &Ue) -> Vec<Remedy<Self>> {
        let (decoding, ack_error, nack_error) = (Decoding::ErrorFree, Probability(0.0), Probability(0.0));
        let perfect = Remedy::no_block_errors(Self { decoding, ack_error, nack_error, ..self.clone() });
        // With a discard timer, the timer lost the packets that the radio lost.
        let is_patient = self.discard_timer.is_none();
        let lost = Target::Losses(&[Loss::Radio]);
        let connected = Target::Steps(&[Step::Connects]);
        let both: &[event::Site] = &[event::Site::Bearer, event::Site::Uplink];
        let on_air = Target::Serving(if self.schedules_uplink() { both } else { &both[..1] });
        let mut remedies = vec![
            if is_patient { perfect.and(lost) } else { perfect },
            Remedy::long_queues(self.with_long_queues()),
            Remedy::of_causes(Change::AlwaysAwake, 1.0, Self { drx: None, ..self.clone() }),
            Remedy::new(Change::AlwaysConnected, connected, 1.0, Self { rrc: None, ..self.clone() }),
            Remedy::new(Change::NoDiscards, lost, 1.0, Self { discard_timer: None, ..self.clone() }),
            Remedy::new(Change::StrongerSignal, on_air, ue.channel.saved_by_signal(), self.stronger()),
        ];
        if let Some(bandwidth) = self.bandwidth.wider() {
            let saved = 1.0 - f64::from(self.bandwidth.blocks()) / f64::from(bandwidth.blocks());
            let control_symbols = self.control_symbols.min(*bandwidth.control_symbols().end());
            let wider = Self { bandwidth, control_symbols, ..self.clone() };
            remedies.push(Remedy::new(Change::WiderBand, on_air, saved, wider));
        }
        if self.layers == 1 && Category::of(ue.category).is_ok_and(|category| category.layers > 1) {
            let two = Self { layers: 2, antenna_ports: self.antenna_ports.max(2), ..self.clone() };
            let target = Target::Serving(&both[..1]);
            remedies.push(Remedy::new(Change::SecondLayer, target, BY_LAYER, two));
        }
        remedies
    }

    fn with_long_queues(&self) -> Self {
        let mut long = Self { queue: QueueSpec::endless(), ..self.clone() };
        if let UplinkSpec::Scheduled(params) = &mut long.uplink {
            params.queue = QueueSpec::endless();
        }
        long
    }

    /// At the same noise.
    fn stronger(&self) -> Self {
        let mut stronger = self.clone();
        stronger.cell.power_dbm += STRONGER_DB;
        if let UplinkSpec::Scheduled(params) = &mut stronger.uplink {
            params.power_dbm += STRONGER_DB;
            params.target_dbm += STRONGER_DB;
        }
        stronger
    }
}

impl Radio for Lte {
    fn parts(&self) -> Parts<'_> {
        let after = Duration(DOWN_RETRANSMISSION_AFTER * TTI.0);
        Parts {
            is_shared: true,
            tti: Some(Tti::of(TTI)),
            retransmission: Some(Retransmission { is_harq: true, after }),
            channel: Some(ChannelKey::Ue),
            pdcp: Some(self.sn_length),
            sleeps: self.drx.is_some() || self.rrc.is_some(),
            uplink: match &self.uplink {
                UplinkSpec::Plain(_) => Uplink::Plain,
                UplinkSpec::Scheduled(params) => Uplink::Scheduled(&params.queue),
            },
            ..Parts::new(Queue::Rlc(&self.queue))
        }
    }

    fn key_defaults(&self) -> &'static [KeyDefault] {
        KEY_DEFAULTS
    }

    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.peak_rate()
    }

    fn remedies(&self, phone: &UserRadio, phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let mut remedies = self.own_remedies(&phone.ue);
        if let UplinkSpec::Scheduled(params) = &self.uplink {
            let with = |params| Self { uplink: UplinkSpec::Scheduled(params), ..self.clone() };
            remedies.extend(remedy::within(params.remedies(phones), with));
        }
        remedy::within(remedies, RadioSpec::Lte)
    }

    fn cell(&self) -> Option<(Cell, usize)> {
        Some((self.cell.cell(self.bandwidth), 1))
    }

    fn check_user(&self, user: &UserRadio, duration: Duration, check: &mut Check) {
        for (key, bearer) in ["bearer", "upload_bearer"].iter().zip(&user.bearers) {
            check.within(key, |check| {
                bearer.check(check);
                let deadlines = bearer.check_deadlines(&self.schedulers(), TTI, check);
                let is_alone = user.bearers.len() == 1 && bearer.prioritized_rate.is_none();
                if let Some(names) = deadlines.filter(|_| is_alone) {
                    let why =
                        format!("it needs a `prioritized_rate`, a second bearer, or the scheduler {names}");
                    check.idle(true, &keys!(bearer; qci), &why);
                }
            });
        }
        let channel = &user.ue.channel;
        check.within("ue", |check| {
            if let Err(message) = Category::of(user.ue.category) {
                check.require(false, "category", || message);
            }
            check.within("channel", |check| {
                channel.check(check);
                check.within(channel.key(), |check| {
                    if let ChannelSpec::Trace(trace) = channel {
                        compatible::check_trace(trace, check);
                    }
                    channel.check_on(&self.cell.cell(self.bandwidth), 1, check);
                    channel.check_during(duration, self.numerology(), check);
                });
            });
        });
    }

    fn check_users(&self, users: &[UserRadio], check: &mut Check) {
        let rates = users.iter().all(|user| user.ue.channel.facts().has_rates);
        check.idle(
            rates,
            &keys!(self; cqi, nack_error),
            "recorded rates determine each block, which cannot fail",
        );
        let usable = users.iter().any(|user| self.formats_of(user.ue.category) > 0);
        check.advise(!self.qam256 || usable, "qam256", || {
            "no phone's category has 256QAM; expected phones of category 11 or 12 (TS 36.306, 4.1)".to_owned()
        });
        let most =
            users.iter().map(|user| self.antennas(user.ue.category).receive).max().unwrap_or(self.layers);
        check.advise(most >= self.layers, "layers", || {
            format!("no phone's category has more than {most} layers (TS 36.306, 4.1); expected {most}")
        });
    }

    fn tables(&self) -> Vec<Table> {
        vec![
            PHONES.empty(),
            UPLINKS.empty(),
            QUEUES.empty(),
            DRX.empty(),
            CONFIGURED.empty(),
            HEADROOM.empty(),
            CONNECTIONS.empty(),
        ]
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        let shared = self.shared(users);
        let down = DownlinkMac::new(self.downlink(users, streams, shared.clone()), users, streams);
        let up: Option<Box<dyn Hop>> = match &self.uplink {
            UplinkSpec::Plain(_) => None,
            UplinkSpec::Scheduled(params) => {
                let mac = UplinkMac::new(self.uplink(params, users, streams, shared), users, streams);
                Some(Box::new(TtiBearer::new(TTI, mac)))
            }
        };
        Bearers { down: vec![Box::new(TtiBearer::new(TTI, down))], up }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn doubts(keys: serde_json::Value) -> Vec<String> {
        let mut check = Check::default();
        serde_json::from_value::<Lte>(keys).unwrap().check(&mut check);
        check.into_doubts().into_iter().map(|doubt| doubt.message).collect()
    }

    /// UM's window has 16 PDUs, so at most 15 others may arrive before a late one. The third transmission on
    /// one layer comes 16 subframes later, after 14 others; the second with two blocks per TTI comes 8 later,
    /// after 15.
    #[test]
    fn short_numbers_need_few_transmissions() {
        let um = json!({ "um": { "sn_length": "5 bit" } });
        let down = |more: serde_json::Value| {
            let mut keys = json!({ "rlc": um.clone(), "uplink": "plain" });
            keys.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            keys
        };
        let few = |most: u32| down(json!({ "max_transmissions": most }));
        let layers = |most: u32| down(json!({ "max_transmissions": most, "layers": 2, "antenna_ports": 2 }));
        let are_fine = [few(3), few(4), layers(2), layers(3)].map(|keys| doubts(keys).is_empty());
        assert_eq!(are_fine, [true, false, true, false]);
        let unlimited = doubts(down(json!({}))).remove(0);
        assert!(
            unlimited.contains("at most 3 transmissions") && unlimited.contains("TS 36.322"),
            "{unlimited}"
        );
        let up = json!({ "rlc": um, "max_transmissions": 3, "uplink": { "scheduled": {} } });
        assert_eq!(doubts(up).len(), 1, "five transmissions in the uplink");
        assert!(doubts(json!({ "rlc": "um" })).is_empty());
    }
}
