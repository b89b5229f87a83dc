//! What the MACs of both directions take from a scenario.

use std::cell::OnceCell;

use nodeb_air::UserRadio;
use nodeb_air::mac::harq::block::Rules;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::numerology::Numerology;
use nodeb_base::rng::Streams;
use nodeb_base::units::Rate;
use nodeb_net::QueueSpec;

use super::Lte;
use super::adaptation::largest_bits;
use super::category::Category;
use super::compatible;
use super::formats::Formats;
use super::mcs::McsTable;
use super::reports::TTI;
use super::resources::{Downlink, Ports};
use super::rlc::Layer2;
use super::uplink::UplinkSpec;
use super::uplink::params::Scheduled;
use crate::ofdma::downlink::{DownlinkSetup, DownlinkUser, LinkRules};
use crate::ofdma::drx::states::DrxStates;
use crate::ofdma::layers::Antennas;
use crate::ofdma::recorded::Steps;
use crate::ofdma::rrc::Connections;
use crate::ofdma::shared::Shared;
use crate::ofdma::uplink::{UplinkSetup, UplinkUser};

impl Lte {
    pub fn schedules_uplink(&self) -> bool {
        matches!(self.uplink, UplinkSpec::Scheduled(_))
    }

    /// Of both directions.
    pub fn schedulers(&self) -> Vec<&SchedulerSpec> {
        let up = match &self.uplink {
            UplinkSpec::Plain(_) => None,
            UplinkSpec::Scheduled(params) => Some(&params.scheduler),
        };
        std::iter::once(&self.scheduler).chain(up).collect()
    }

    pub fn numerology(&self) -> Numerology {
        Numerology {
            tti: TTI,
            carrier_hz: self.carrier_ghz * 1e9,
            chip_rate_hz: self.bandwidth.sample_rate_hz(),
        }
    }

    pub fn harq_rules(&self) -> Rules {
        Rules {
            combining: self.combining.clone(),
            decoding: self.decoding,
            ack_error: self.ack_error,
            nack_error: self.nack_error,
            max_transmissions: self.max_transmissions,
        }
    }

    pub(super) fn layout(&self) -> Downlink {
        Downlink {
            ports: compatible::ports(self.antenna_ports).unwrap_or(Ports::One),
            control: self.control_symbols,
        }
    }

    /// Up to 64QAM and, if used, up to 256QAM.
    pub fn formats(&self) -> Vec<Formats> {
        let up_to =
            |qam256: bool| Formats::down(self.bandwidth, self.layout(), qam256, self.implementation_loss_db);
        if self.qam256 { vec![up_to(false), up_to(true)] } else { vec![up_to(false)] }
    }

    /// Index in [`Self::formats`]: 1 with 256QAM.
    pub fn formats_of(&self, category: u8) -> usize {
        usize::from(self.qam256 && Category::of(category).is_ok_and(|category| category.down_256qam))
    }

    /// One at either end if `layers` is 1, else as many as layers can be sent to the phone.
    pub fn antennas(&self, category: u8) -> Antennas {
        if self.layers == 1 {
            return Antennas::ONE;
        }
        let receive = Category::of(category).map_or(1, |category| category.layers.min(self.layers));
        Antennas { ports: self.antenna_ports, receive }
    }

    /// With the largest blocks in every TTI.
    pub fn peak_rate(&self) -> Rate {
        rate(largest_bits(self.bandwidth, self.qam256, self.layers))
    }

    pub(crate) fn shared(&self, users: &[UserRadio]) -> Shared {
        Shared {
            connections: self.rrc.as_ref().map(|rrc| Connections::new(rrc.rules(), users)),
            drx: self.drx.as_ref().map(|drx| DrxStates::new(drx.timers(), users, TTI)),
        }
    }

    fn layer2(&self, queue: &QueueSpec, peak_rate: Rate) -> Layer2 {
        Layer2 {
            rlc: self.rlc.clone(),
            sn_length: self.sn_length,
            discard_timer: self.discard_timer,
            queue: queue.clone(),
            peak_rate,
        }
    }

    fn user(&self, user: &UserRadio, layer2: &Layer2, streams: &Streams) -> DownlinkUser {
        let [block_bits, tti_bits] = Category::of(user.ue.category)
            .map_or([u32::MAX; 2], |category| [category.down_block_bits, category.down_bits]);
        DownlinkUser {
            bearers: layer2.build(user, streams, "radio queue"),
            formats: self.formats_of(user.ue.category),
            block_bits,
            tti_bits,
            antennas: self.antennas(user.ue.category),
        }
    }

    pub(crate) fn downlink(
        &self,
        users: &[UserRadio],
        streams: &Streams,
        shared: Shared,
    ) -> DownlinkSetup<Formats> {
        let layer2 = self.layer2(&self.queue, self.peak_rate());
        DownlinkSetup {
            numerology: self.numerology(),
            cell: self.cell.cell(self.bandwidth),
            formats: self.formats(),
            users: users.iter().map(|user| self.user(user, &layer2, streams)).collect(),
            scheduler: self.scheduler.clone(),
            users_per_tti: self.users_per_tti.get() as usize,
            layers: self.layers,
            links: LinkRules {
                reports: self.cqi.rules(),
                outer_loop: self.cqi.outer_loop.clone(),
                processes: self.processes.get(),
            },
            rules: self.harq_rules(),
            status_delay: self.status_delay,
            has_plain_uplink: !self.schedules_uplink(),
            shared,
        }
    }

    pub(crate) fn uplink(
        &self,
        params: &Scheduled,
        users: &[UserRadio],
        streams: &Streams,
        shared: Shared,
    ) -> UplinkSetup<Formats> {
        let down = OnceCell::new();
        let layer2 = self.layer2(&params.queue, rate(largest_bits(self.bandwidth, false, 1)));
        let user = |user: &UserRadio| {
            let category = Category::of(user.ue.category).ok();
            let down = || &down.get_or_init(|| self.formats())[self.formats_of(user.ue.category)];
            UplinkUser {
                bearers: layer2.build(user, streams, "uplink queue"),
                formats: usize::from(category.is_some_and(|category| category.up_64qam)),
                block_bits: category.map_or(u32::MAX, |category| category.up_block_bits),
                steps: Steps::of_user(user, down),
                requests: params.requests_of(user.id),
            }
        };
        let formats = |mcss| Formats::up(self.bandwidth, mcss, self.implementation_loss_db);
        UplinkSetup {
            numerology: self.numerology(),
            cell: self.cell.uplink(params.noise_dbm()),
            formats: [McsTable::Up16Qam, McsTable::Up].map(formats).into(),
            users: users.iter().map(user).collect(),
            data: params.data_blocks(self.bandwidth),
            rules: params.rules(),
            harq: self.harq_rules(),
            status_delay: self.status_delay,
            shared,
        }
    }
}

/// Of blocks in every TTI.
fn rate(bits: u32) -> Rate {
    Rate(u64::from(bits) * 1_000)
}
