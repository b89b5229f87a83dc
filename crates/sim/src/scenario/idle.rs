//! Keys that something else leaves without effect: a key that is set and does nothing is refused, with the
//! reason, and not obeyed in silence.
//!
//! A key counts as set where its value is not the default: scenarios that have been resolved say every key.
//! What merely is not reached (a limit, a timer that never fires) has an effect and is left alone. Where a key
//! does nothing only at the edge of a range that is often swept (no shadowing, one phone, no queue that
//! marks), there is a warning.

use super::{Scenario, UserGroup};
use crate::check::Check;
use crate::network::QueueSpec;
use crate::radio::RadioSpec;
use crate::radio::cell::channel::ChannelSpec;
use crate::radio::cell::interference::InterferenceSpec;
use crate::radio::cell::mobility::Movement;
use crate::radio::cell::plan::Cell;
use crate::radio::dch::Dch;
use crate::radio::hs_dsch::HsDsch;
use crate::radio::hsdpa::Hsdpa;
use crate::radio::hsdpa::adaptation::LinkAdaptationSpec;
use crate::radio::hsdpa::rnc::rlc::RlcModeSpec;
use crate::radio::hsdpa::ue::Ue;
use crate::radio::mac::sched::SchedulerSpec;
use crate::radio::rlc::RlcSpec;
use crate::radio::rlc::am::AcknowledgedMode;
use crate::radio::switching::FachDch;
use crate::radio::switching::policy::SwitchingSpec;
use crate::transport::TcpSpec;

/// Keys of some parameters, each with whether it has its default.
macro_rules! keys {
    ($params:expr; $( $key:ident ),+) => {{
        let own = $params;
        let default = default_of(own);
        [$( (stringify!($key), is_same(&own.$key, &default.$key)) ),+]
    }};
}

fn is_same<T: PartialEq>(value: &T, default: &T) -> bool {
    value == default
}

fn default_of<T: Default>(_: &T) -> T {
    T::default()
}

/// Refuses keys that do not have their default where `void` holds.
fn refuse(check: &mut Check, void: bool, keys: &[(&str, bool)], why: &str) {
    for (key, is_default) in keys.iter().filter(|_| void) {
        check.idle(key, *is_default, why);
    }
}

/// The same as a warning.
fn warn(check: &mut Check, void: bool, keys: &[(&str, bool)], why: &str) {
    for (key, is_default) in keys {
        check.advise(!void || *is_default, key, || format!("this has no effect: {why}"));
    }
}

impl Scenario {
    /// Reports keys without effect, once there are users.
    pub(super) fn check_idle(&self, check: &mut Check) {
        if self.users.is_empty() {
            return;
        }
        check.within("radio", |check| {
            check.within(self.radio.key(), |check| match &self.radio {
                RadioSpec::Dch(dch) => idle_dch(dch, check),
                RadioSpec::HsDsch(channel) => self.idle_hs_dsch(channel, check),
                RadioSpec::Hsdpa(radio) => self.idle_hsdpa(radio, check),
                RadioSpec::FachDch(radio) => idle_switching(radio, check),
                RadioSpec::Wcdma(_) | RadioSpec::Link(_) | RadioSpec::Trace(_) => {}
            });
        });
        check.within("uplink", |check| {
            refuse(check, self.radio.uplink().is_some(), &keys!(&self.uplink; rate), BY_TRACE);
        });
        check.within("users", |check| {
            for (i, group) in self.users.iter().enumerate() {
                check.within(i, |check| self.idle_group(group, check));
            }
        });
        self.idle_tcp(check);
    }

    fn idle_hs_dsch(&self, channel: &HsDsch, check: &mut Check) {
        refuse(check, channel.errors.is_some(), &keys!(channel; bler), BY_MODEL);
        let every_ci = self.users.iter().all(|group| !group.ci.is_empty());
        refuse(check, every_ci, &keys!(channel; pdus_per_tti), BY_CI);
        idle_rlc(&channel.rlc, check);
    }

    fn idle_hsdpa(&self, radio: &Hsdpa, check: &mut Check) {
        let usual = Ue::default();
        let all = |holds: fn(&ChannelSpec) -> bool| {
            self.users.iter().all(|group| holds(&group.ue.as_ref().unwrap_or(&usual).channel))
        };
        let rates = all(ChannelSpec::has_rates);
        let shannon = matches!(radio.link_adaptation, LinkAdaptationSpec::Shannon(_));
        refuse(check, rates, &keys!(radio; link_adaptation), BY_RATES);
        let certain = keys!(radio; decoding, nack_error, combining, link_curve);
        refuse(check, rates || shannon, &certain, CERTAIN);
        refuse(check, shannon, &keys!(radio; codes), BY_CAPACITY);
        if let LinkAdaptationSpec::Cqi(reports) = &radio.link_adaptation {
            let recorded =
                all(|channel| matches!(channel, ChannelSpec::Trace(trace) if !trace.cqi.is_empty()));
            check.within("link_adaptation", |check| {
                check.within("cqi", |check| {
                    refuse(check, recorded, &keys!(reports; error_db, rounding), BY_RECORDED_CQI);
                });
            });
        }
        if let RlcModeSpec::Am(params) = &radio.rlc {
            check.within("rlc", |check| idle_am(params, check));
        }
        let empty = all(|channel| !matches!(channel, ChannelSpec::Cell(_)));
        let still =
            all(|channel| !matches!(channel, ChannelSpec::Cell(at) if at.movement != Movement::Stays));
        check.within("cell", |check| idle_cell(&radio.cell, empty, still, check));
        if let Some(handover) = &radio.handover {
            check.within("handover", |check| {
                let keys = keys!(handover; hysteresis_db, time_to_trigger, interruption, data);
                refuse(check, empty, &keys, NOBODY_IN_CELL);
            });
        }
    }

    fn idle_group(&self, group: &UserGroup, check: &mut Check) {
        let alone = group.count.get() == 1;
        warn(check, alone, &[("stagger", group.stagger.0 == 0)], "there is one phone in the group");
        idle_of_real(group, check);
        if let Some(tcp) = &group.tcp {
            self.idle_ecn(tcp, check);
        }
        let (RadioSpec::Hsdpa(radio), Some(ue)) = (&self.radio, &group.ue) else {
            return;
        };
        check.within("ue", |check| {
            let looks = matches!(radio.scheduler, SchedulerSpec::EarliestDeadline(_));
            refuse(
                check,
                !looks,
                &keys!(ue; delay_budget),
                "only the scheduler `earliest_deadline` looks at it",
            );
            refuse(check, ue.channel.has_rates(), &keys!(ue; category), BY_RATES);
            check.within("channel", |check| idle_channel(&ue.channel, check));
        });
    }

    /// TCP of the whole scenario where every group has its own, and marks that nobody gives.
    fn idle_tcp(&self, check: &mut Check) {
        let own = self.users.iter().all(|group| group.tcp.is_some());
        let is_default = self.tcp == TcpSpec::default();
        refuse(check, own, &[("tcp", is_default)], "every group of users has a `tcp` of its own");
        if !own {
            self.idle_ecn(&self.tcp, check);
        }
    }

    fn idle_ecn(&self, tcp: &TcpSpec, check: &mut Check) {
        let TcpSpec::Linux(linux) = tcp else {
            return;
        };
        check.within("tcp", |check| {
            check.within("linux", |check| {
                check.advise(!linux.ecn || self.queues().any(marks), "ecn", || {
                    "this has no effect: no queue on the path marks packets; set a queue's `ecn`".to_owned()
                });
                check.advise(!linux.pacing || !linux.control.paces_itself(), "pacing", || {
                    format!("this has no effect: `{}` paces itself", linux.control.key())
                });
            });
        });
    }

    fn queues(&self) -> impl Iterator<Item = &QueueSpec> {
        let radio = match &self.radio {
            RadioSpec::Link(link) => Some(&link.queue),
            RadioSpec::Trace(trace) => Some(&trace.queue),
            _ => None,
        };
        let core = self.core.iter().flat_map(|core| core.links().map(|(_, link)| &link.queue));
        [&self.wired.queue, &self.uplink.queue].into_iter().chain(core).chain(radio)
    }
}

/// What a phone does is up to its command.
fn idle_of_real(group: &UserGroup, check: &mut Check) {
    let keys = [
        ("traffic", group.traffic.is_none()),
        ("tcp", group.tcp.is_none()),
        ("start", group.start.0 == 0),
        ("stagger", group.stagger.0 == 0),
    ];
    refuse(check, group.real, &keys, BY_COMMAND);
}

const BY_COMMAND: &str = "the phones are real, so that commands decide";
const BY_TRACE: &str = "the trace in `radio.trace.up` says when phones send";
const BY_MODEL: &str = "the model in `errors` says which blocks fail";
const BY_CI: &str = "every user has a `ci`, whose value in the TTI is the number of PDUs";
const BY_RATES: &str = "a recording of rates says what each block is";
const CERTAIN: &str = "no block can fail where rates are recorded or `link_adaptation` is `shannon`";
const BY_CAPACITY: &str = "`shannon` uses the channel to its capacity, whatever the codes are";
const BY_RECORDED_CQI: &str = "every user's CQIs are recorded, so that none is measured";
const NOBODY_IN_CELL: &str = "no user has a place in the cell; their SNR comes from `ue.channel`";
const BY_OTHER_RLC: &str = "only `rlc = \"arq\"` repeats blocks after a fixed delay";
const UNLIMITED: &str = "transmissions are unlimited without `max_dat`";
const NO_COMMANDS: &str = "without `max_dat` and `discard_timer` there are no commands";
const BY_TAPS: &str = "the paths are those of `taps`";
const NO_PAGING: &str = "the policy leaves no phone on the paging channel; `traffic_volume` does";

fn idle_dch(dch: &Dch, check: &mut Check) {
    refuse(check, dch.errors.is_some(), &keys!(dch; bler), BY_MODEL);
    let is_arq = matches!(dch.rlc, RlcSpec::Arq(_));
    refuse(check, !is_arq, &keys!(dch; retransmission_delay), BY_OTHER_RLC);
    idle_rlc(&dch.rlc, check);
}

fn idle_rlc(rlc: &RlcSpec, check: &mut Check) {
    if let RlcSpec::Am(params) = rlc {
        check.within("rlc", |check| idle_am(params, check));
    }
}

fn idle_am(params: &AcknowledgedMode, check: &mut Check) {
    let unlimited = params.max_dat.is_none();
    check.within("am", |check| {
        refuse(check, unlimited, &keys!(params; at_max_dat), UNLIMITED);
        let no_commands = unlimited && params.discard_timer.is_none();
        refuse(check, no_commands, &keys!(params; command_timer), NO_COMMANDS);
    });
}

/// `empty`: no user is in the cell. `still`: nobody in it moves.
fn idle_cell(cell: &Cell, empty: bool, still: bool, check: &mut Check) {
    let of_place = keys!(cell; radius, power_dbm, hs_share, antenna_gain_db, path_loss, shadowing, interference,
        noise_dbm, orthogonality);
    refuse(check, empty, &of_place, NOBODY_IN_CELL);
    let alone = matches!(cell.interference, InterferenceSpec::Fixed(_));
    let shadowing = &cell.shadowing;
    check.within("shadowing", |check| {
        let off = !empty && shadowing.sigma_db == 0.0;
        let all = keys!(shadowing; correlation_distance, site_correlation);
        warn(check, off, &all, "`sigma_db = 0` switches shadowing off");
        warn(check, !off && !empty && still, &all[..1], "nobody in the cell moves");
        warn(check, !off && !empty && alone, &all[1..], "`interference = \"fixed\"` has one site");
    });
}

fn idle_channel(channel: &ChannelSpec, check: &mut Check) {
    check.within(channel.key(), |check| match channel {
        ChannelSpec::Cell(place) => {
            refuse(check, !place.taps.is_empty(), &keys!(place; profile), BY_TAPS);
        }
        ChannelSpec::Fading(fading) => {
            refuse(check, !fading.taps.is_empty(), &keys!(fading; profile), BY_TAPS);
        }
        ChannelSpec::Constant(_) | ChannelSpec::Trace(_) => {}
    });
}

fn idle_switching(radio: &FachDch, check: &mut Check) {
    let parks = matches!(&radio.policy, SwitchingSpec::TrafficVolume(_));
    warn(check, !parks, &keys!(radio; paging_time), NO_PAGING);
    let power = &radio.power;
    check.within("power", |check| warn(check, !parks, &keys!(power; pch), NO_PAGING));
}

/// Whether a queue marks packets instead of dropping them.
fn marks(queue: &QueueSpec) -> bool {
    match queue {
        QueueSpec::DropTail(_) => false,
        QueueSpec::Red(params) => params.ecn,
        QueueSpec::Codel(params) => params.ecn,
        QueueSpec::FqCodel(params) => params.ecn,
        QueueSpec::Pie(params) => params.ecn,
    }
}
