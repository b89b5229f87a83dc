//! These structures are the only definition of a scenario. The TOML reader, the JSON Schema, the Python types
//! and the reference page are generated from them and their comments.

mod connections;
mod defaults;
mod idle;
mod places;
mod read;
mod recorded;
mod remedies;
mod review;

pub use connections::Connection;
pub use nodeb_base::event::Direction;
pub use places::PlaceNames;
pub use read::{document, from_json, from_json_with, from_toml, line_of, superfluous, to_toml};
pub use recorded::{Recorded, Spot};
pub use review::{Finding, Review, review};

use nodeb_base::params;
use nodeb_base::units::positive;
use std::num::NonZeroU32;

use nodeb_air::UserRadio;
use nodeb_air::bearer::Bearer;
use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::cell::interference::InterferenceSpec;
use nodeb_air::cell::path_loss::PathLossSpec;
use nodeb_air::error::ErrorSpec;
use nodeb_air::mac::harq::CombiningSpec;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::rlc::RlcSpec;
use nodeb_air::rlc::lte::LteRlcSpec;
use nodeb_air::ue::Ue;
use nodeb_base::check::{Check, Checked};
use nodeb_base::registry::Entry;
use nodeb_base::units::{Duration, Probability};
use nodeb_net::jitter::JitterSpec;
use nodeb_net::loss::LossSpec;
use nodeb_net::{Core, QueueSpec, Uplink, Wired};
use nodeb_radio::hsdpa::adaptation::LinkAdaptationSpec;
use nodeb_radio::hsdpa::rlc::RlcModeSpec;
use nodeb_radio::lte::uplink::UplinkSpec;
use nodeb_radio::lte::uplink::grants::GrantSpec;
use nodeb_radio::switching::policy::SwitchingSpec;
use nodeb_radio::wcdma::other_cells::OtherCellsSpec;
use nodeb_radio::wcdma::profile::ProfileSpec;
use nodeb_radio::wcdma::selection::SelectionSpec;
use nodeb_radio::{ChannelKey, Meter, RadioSpec};
use nodeb_tcp::TcpSpec;
use nodeb_tcp::classic::EstimatorSpec;
use nodeb_tcp::classic::recovery::ControlSpec;
use nodeb_tcp::linux::control::CongestionSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proxy::ProxySpec;
use crate::proxy::rnf::round_trip::RoundTripSpec;
use crate::proxy::snoop::Snoop;
use crate::traffic::TrafficSpec;
use crate::traffic::distribution::{SizeLaw, TimeLaw};
use crate::traffic::external::External;

params! {
    /// Scenario: a server, a fixed network, a Node B, and phones that download or upload.
    pub struct Scenario {
        /// Short description of the scenario.
        pub name: String = String::new(),
        /// Seed of all random numbers.
        pub seed: u64 = 1,
        /// Number of independent replications.
        pub runs: NonZeroU32 = positive(10),
        /// Required precision: replications are added until the half-width of the 95 % confidence interval of the mean
        /// application bit rate is at most this fraction of the mean. `runs` is then the minimum number. Absent: `runs`
        /// replications.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub precision: Option<Probability>,
        /// Maximum number of replications with `precision`; no effect without it.
        pub max_runs: NonZeroU32 = positive(200),
        /// Simulated time after which a replication ends, even if transfers are incomplete.
        pub duration: Duration = Duration::from_secs(100_000),
        /// Link between server and gateway. Without `core`, the gateway is at the Node B.
        pub wired: Wired,
        /// Link between gateway and Node B, or a list of links that lead from the gateway to the Node B. Absent: the
        /// gateway is at the Node B.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub core: Option<Core>,
        /// Proxy at the gateway. Absent: no proxy.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub proxy: Option<ProxySpec>,
        /// Snoop agent at the Node B. Absent: no agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub snoop: Option<Snoop>,
        /// Uplink of each phone, a link that no other phone uses; must be absent or have its defaults if the base
        /// station schedules the uplink.
        pub uplink: Uplink,
        /// Radio bearers, which carry the downlink over the air and, if the base station schedules
        /// it, the uplink.
        pub radio: RadioSpec,
        /// TCP at the servers and the phones.
        pub tcp: TcpSpec,
        /// Groups of phones with the same settings.
        pub users: Vec<UserGroup>,
        /// Time series to record. Default: none.
        pub record: Record,
    }
}

/// Group of phones with the same settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserGroup {
    /// Name of the group in tables and plots.
    #[serde(default = "default_group_name")]
    pub name: String,
    /// Number of phones in the group.
    #[serde(default = "one")]
    pub count: NonZeroU32,
    /// Start time of the first phone.
    #[serde(default)]
    pub start: Duration,
    /// Delay between the starts of successive phones of the group.
    #[serde(default)]
    pub stagger: Duration,
    /// Whether the phones are real: `nodeb emulate` runs commands on them and passes their packets through the cell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub real: bool,
    /// Traffic from the server to each phone; required unless the phones upload or are real.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficSpec>,
    /// Traffic from each phone to the server, over a connection of its own that the phone opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<TrafficSpec>,
    /// TCP of these phones and their servers; absent: the scenario's `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpSpec>,
    /// Relative frequencies of the C/I values 1, 2, ...: one is drawn per TTI, and a block then carries that many
    /// PDUs. Absent at constant rate. HS-DSCH only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ci: Vec<f64>,
    /// Category and channel of the phones; absent: their defaults. `hsdpa` and `lte` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ue: Option<Ue>,
    /// Bearer of each phone, with a class of service; absent: one with QCI 9. `hsdpa` and `lte` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer: Option<Bearer>,
    /// Second bearer of each phone, for its upload, with a queue of its own in each direction; absent: the upload uses
    /// the same bearer as the download. `lte` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload_bearer: Option<Bearer>,
}

static EXTERNAL: TrafficSpec = TrafficSpec::External(External {});

impl UserGroup {
    /// Traffic of real phones is `external`, which counts as `Down`.
    pub fn traffic(&self, direction: Direction) -> Option<&TrafficSpec> {
        match (direction, self.real) {
            (Direction::Down, true) => Some(&EXTERNAL),
            (Direction::Down, false) => self.traffic.as_ref(),
            (Direction::Up, true) => None,
            (Direction::Up, false) => self.upload.as_ref(),
        }
    }

    fn only_uploads(&self) -> bool {
        self.traffic(Direction::Down).is_none() && self.traffic(Direction::Up).is_some()
    }

    fn has_both_directions(&self) -> bool {
        self.traffic(Direction::Down).is_some() && self.traffic(Direction::Up).is_some()
    }

    /// `None` unless the phones also download.
    fn upload_name(&self) -> Option<String> {
        self.has_both_directions().then(|| format!("{} up", self.name))
    }

    /// `id` is the phone's number in the scenario.
    pub fn radio(&self, id: u64) -> UserRadio {
        let bearers = std::iter::once(self.bearer.clone().unwrap_or_default());
        UserRadio {
            id,
            ci: self.ci.clone(),
            ue: self.ue.clone().unwrap_or_default(),
            bearers: bearers.chain(self.upload_bearer.clone()).collect(),
        }
    }

    /// Number of the connection's bearer among the phone's.
    pub fn bearer_of(&self, direction: Direction) -> u8 {
        u8::from(direction == Direction::Up && self.upload_bearer.is_some())
    }

    pub fn is_external(&self) -> bool {
        self.traffic(Direction::Down).is_some_and(TrafficSpec::is_external)
    }

    /// `real` or `traffic`.
    fn external_key(&self) -> &'static str {
        if self.real { "real" } else { "traffic" }
    }
}

params! {
    /// Time series to record. The memory for each time series grows with the length of the run.
    #[derive(Copy, Eq)]
    pub struct Record {
        /// Whether to record the congestion window and the slow-start threshold at every change.
        pub cwnd: bool,
        /// Whether to record every segment sent, delivered or dropped, and every ACK that reaches
        /// its sender.
        pub segments: bool,
        /// Whether to record every round-trip time that TCP measures.
        pub rtt: bool,
        /// Whether to record the backlog of a user at the Node B, in packets and bytes, whenever the user's bearer
        /// accepts or delivers a packet.
        pub queue: bool,
        /// Whether to record every completed transfer with its times and size.
        pub transfers: bool,
        /// Whether to record the users served in every TTI, with C/I value, PDUs and failed blocks.
        pub scheduler: bool,
        /// Whether to record, every 20 ms, each user's CQI and the bytes that it could have been
        /// sent if data had always been waiting. `hsdpa` only; measuring about doubles the
        /// simulation time.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub bandwidth: bool,
    }
}

fn default_group_name() -> String {
    "phone".to_owned()
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// A larger number must be a typing error.
const MAX_USERS: u64 = 10_000;
/// A larger number must be a typing error.
const MAX_RUNS: u32 = 1_000_000;
/// 93 days; a longer time must be a typing error.
const LONGEST: Duration = Duration::from_secs(8_000_000);

impl Checked for Scenario {
    fn check(&self, check: &mut Check) {
        // A scenario file is TOML, whose integers are signed 64-bit numbers, so a larger seed could not be
        // written there.
        check.require(i64::try_from(self.seed).is_ok(), "seed", || {
            format!("the number is too large; expected at most {}", i64::MAX)
        });
        check.at_most("runs", self.runs.get(), MAX_RUNS);
        check.at_most("max_runs", self.max_runs.get(), MAX_RUNS);
        check.require(self.precision.is_none_or(|p| p.0 > 0.0 && p.0 < 1.0), "precision", || {
            "expected a share of the mean between 0 and 1, such as 0.02".to_owned()
        });
        check.require(self.duration.0 > 0 && self.duration <= LONGEST, "duration", || {
            format!("{} is out of range; expected more than 0 s and at most {LONGEST}", self.duration)
        });
        check.within("wired", |check| self.wired.check(check));
        if let Some(core) = &self.core {
            check.within("core", |check| core.check(check));
            let own = self.wired.name.as_ref();
            let doubled = own.filter(|name| core.links().any(|(other, _)| other == **name));
            check.within("wired", |check| {
                check.require(doubled.is_none(), "name", || {
                    let name = doubled.map_or("", String::as_str);
                    format!("`{name}` is also used by a link of the core network; expected a unique name")
                });
            });
        }
        if let Some(proxy) = &self.proxy {
            check.within("proxy", |check| self.check_proxy(proxy, check));
        }
        if let Some(snoop) = &self.snoop {
            check.within("snoop", |check| snoop.check(check));
        }
        check.within("uplink", |check| {
            self.uplink.check(check);
            if self.radio.parts().uplink.is_recorded() {
                check.within("queue", |check| {
                    let queue = &self.uplink.queue;
                    check.within(queue.key(), |check| queue.check_waiting(check));
                });
            }
        });
        check.within("radio", |check| self.radio.check(check));
        if let Some(proxy) = &self.proxy {
            check.within("proxy", |check| self.advise_proxy(proxy, check));
        }
        check.within("tcp", |check| self.tcp.check(check));
        check.within("record", |check| self.check_record(check));
        let users: u64 = self.users.iter().map(|group| u64::from(group.count.get())).sum();
        check
            .require(users > 0, "users", || "no users defined; expected at least one `[[users]]`".to_owned());
        check.require(users <= MAX_USERS, "users", || {
            format!("{users} users are too many; expected at most {MAX_USERS}")
        });
        check.within("users", |check| {
            for (i, group) in self.users.iter().enumerate() {
                check.within(i, |check| {
                    check.require(group.name != "all", "name", || {
                        "`all` is reserved for all users together; expected another name".to_owned()
                    });
                    check.require(group.name != "all up" || !self.has_uploads(), "name", || {
                        "`all up` is reserved for all uploads together; expected another name".to_owned()
                    });
                    let again = self.users[..i].iter().any(|before| before.name == group.name);
                    check.require(!again, "name", || {
                        format!("`{}` is already used by another group; expected a unique name", group.name)
                    });
                    let of_uploads =
                        self.users.iter().find(|of| of.upload_name().as_ref() == Some(&group.name));
                    check.require(of_uploads.is_none(), "name", || {
                        let of = of_uploads.map_or("", |of| &of.name);
                        format!(
                            "`{}` names the uploads of the group `{of}`; expected another name",
                            group.name
                        )
                    });
                    self.check_group(group, check);
                });
            }
        });
        self.check_reach(check);
        self.check_idle(check);
    }
}

impl Scenario {
    /// As "key: consequence".
    pub fn warnings(&self) -> Vec<String> {
        let mut check = Check::default();
        self.check(&mut check);
        let doubts = check.into_doubts().into_iter();
        doubts.map(|doubt| format!("{}: {}", doubt.path.join("."), doubt.message)).collect()
    }

    fn check_proxy(&self, proxy: &ProxySpec, check: &mut Check) {
        proxy.check(check);
        let can = proxy.feedback().is_none() || self.radio.parts().meter.is_some();
        check.require(can, "rnf", || {
            format!(
                "radio `{}` does not measure its bandwidth; expected `hsdpa`, `link` or `trace`",
                self.radio.key()
            )
        });
    }

    /// The receive windows may be too small for `q_ref`; needs valid settings of the radio for its bit rate.
    fn advise_proxy(&self, proxy: &ProxySpec, check: &mut Check) {
        let Some(feedback) = proxy.feedback() else {
            return;
        };
        let mut radio = Check::default();
        self.radio.check(&mut radio);
        if !radio.into_problems().is_empty() {
            return;
        }
        let tcps = self.users.iter().map(|group| self.air_tcp_of(group));
        let Some(tcp) = tcps.min_by_key(|tcp| tcp.receiver_window()) else {
            return;
        };
        // At the full bit rate this window is a lower bound of the window that the proxy will set, because the delay of
        // the radio is left out: it is not a parameter.
        let rate = self.radio.channel_rate(None);
        let round_trip = 2.0 * self.core_delay().as_secs() + self.uplink_delay().as_secs();
        let packets = rate.0 as f64 / 8.0 / tcp.packet_bytes() as f64;
        let (window, allowed) = (feedback.q_ref + packets * round_trip, tcp.receiver_window());
        check.within("rnf", |check| {
            check.advise(window <= allowed as f64, "q_ref", || {
                format!(
                    "{} waiting packets at {rate} need a window of at least {window:.0} packets, but the phones allow \
                     {allowed}; expected a larger `max_window` or `receive_buffer`, or a smaller `q_ref`",
                    feedback.q_ref
                )
            });
        });
    }

    /// No transfer may complete before the run ends.
    fn check_reach(&self, check: &mut Check) {
        let one_way = self.wired.delay.0.saturating_add(self.core_delay().0);
        let round_trip = Duration(one_way.saturating_mul(2).saturating_add(self.uplink_delay().0));
        check.advise(round_trip < self.duration, "duration", || {
            format!(
                "the run ends at {}, within a single round trip of at least {round_trip} without the radio: no transfer \
                 can complete; expected a longer run or shorter delays",
                self.duration
            )
        });
    }

    fn check_record(&self, check: &mut Check) {
        let (parts, kind) = (self.radio.parts(), self.radio.key());
        check.require(!self.record.scheduler || parts.tti.is_some(), "scheduler", || {
            format!("radio `{kind}` has no TTIs to record; remove `scheduler`")
        });
        check.require(!self.record.bandwidth || parts.meter == Some(Meter::Series), "bandwidth", || {
            format!("radio `{kind}` does not record bandwidth; remove `bandwidth` or use `hsdpa`")
        });
    }

    fn check_group(&self, group: &UserGroup, check: &mut Check) {
        let has_traffic = group.real || group.traffic.is_some() || group.upload.is_some();
        check.require(has_traffic, "traffic", || {
            "the key is missing; expected the phones' traffic, an `upload`, or `real = true`".to_owned()
        });
        check.advise(!group.is_external(), group.external_key(), || {
            "packets of these users come from outside: a run refuses them, `nodeb emulate` supplies them"
                .to_owned()
        });
        if let Some(traffic) = &group.traffic {
            check.within("traffic", |check| {
                traffic.check(check);
                traffic.check_pace(self.duration, check);
            });
        }
        if let Some(upload) = &group.upload {
            self.check_upload(group, upload, check);
        }
        if let Some(tcp) = &group.tcp {
            check.within("tcp", |check| tcp.check(check));
        }
        let last =
            u128::from(group.start.0) + u128::from(group.stagger.0) * u128::from(group.count.get() - 1);
        check.require(last < u128::from(self.duration.0), "start", || {
            format!("the last phone of the group does not start before the end of the run at {}; expected an earlier `start` or a shorter `stagger`", self.duration)
        });
        check.require(group.ci.iter().all(|f| f.is_finite() && *f >= 0.0), "ci", || {
            "a frequency of a C/I value is negative or infinite; expected finite numbers of at least 0"
                .to_owned()
        });
        let total: f64 = group.ci.iter().sum();
        check.require(group.ci.is_empty() || (total > 0.0 && total.is_finite()), "ci", || {
            "the frequencies of C/I values have no finite sum above 0; expected at least one above 0"
                .to_owned()
        });
        check.require(group.ci.len() <= 100, "ci", || {
            format!("{} C/I values are too many; expected at most 100", group.ci.len())
        });
        check.require(
            group.ci.is_empty() || self.radio.parts().channel == Some(ChannelKey::Ci),
            "ci",
            || format!("radio `{}` has no C/I process; remove `ci` or use `hs_dsch`", self.radio.key()),
        );
        self.radio.check_user(&group.radio(0), self.duration, check);
        self.check_bearers(group, check);
        check.require(group.ue.is_none() || self.radio.parts().channel == Some(ChannelKey::Ue), "ue", || {
            format!(
                "radio `{}` has no UE categories and channels; remove `ue` or use `hsdpa` or `lte`",
                self.radio.key()
            )
        });
    }

    fn check_bearers(&self, group: &UserGroup, check: &mut Check) {
        let has_classes = self.radio.parts().channel == Some(ChannelKey::Ue);
        for (key, bearer) in [("bearer", &group.bearer), ("upload_bearer", &group.upload_bearer)] {
            check.require(bearer.is_none() || has_classes, key, || {
                format!("radio `{}` has no classes of bearers; remove `{key}` or use `lte`", self.radio.key())
            });
        }
        check.require(group.upload_bearer.is_none() || group.has_both_directions(), "upload_bearer", || {
            "it separates an upload from a download; remove it, or add `upload` or `traffic`".to_owned()
        });
    }

    fn check_upload(&self, group: &UserGroup, upload: &TrafficSpec, check: &mut Check) {
        check.within("upload", |check| {
            upload.check(check);
            upload.check_pace(self.duration, check);
            upload.check_upload(check);
        });
        check.require(self.proxy.is_none(), "upload", || {
            "a proxy splits downloads only; remove `upload` or `proxy`".to_owned()
        });
        check.require(self.snoop.is_none(), "upload", || {
            "a Snoop agent handles downloads only; remove `upload` or `snoop`".to_owned()
        });
        let beside = group.traffic.as_ref().is_some_and(TrafficSpec::is_external);
        check.require(!beside, "upload", || {
            "packets of these users come from outside; remove `upload`, or use another group for it"
                .to_owned()
        });
    }

    pub fn tcp_of<'a>(&'a self, group: &'a UserGroup) -> &'a TcpSpec {
        group.tcp.as_ref().unwrap_or(&self.tcp)
    }

    /// Those of the proxy if it has its own, else of the servers.
    pub fn air_tcp_of<'a>(&'a self, group: &'a UserGroup) -> &'a TcpSpec {
        let tcp = self.tcp_of(group);
        self.proxy.as_ref().map_or(tcp, |proxy| proxy.tcp(tcp))
    }

    /// 0 if the base station schedules the uplink, as its delay then varies.
    pub fn uplink_delay(&self) -> Duration {
        if self.radio.parts().uplink.is_scheduled() { Duration::ZERO } else { self.uplink.delay }
    }

    /// One-way, summed over its links.
    pub fn core_delay(&self) -> Duration {
        self.core.as_ref().map_or(Duration::ZERO, Core::delay)
    }

    /// Draft 2020-12.
    pub fn schema() -> serde_json::Value {
        let mut schema = schemars::schema_for!(Self).into();
        defaults::describe(&mut schema);
        schema
    }

    /// With plugins that a program has registered.
    pub fn registry() -> Vec<Entry> {
        [
            RadioSpec::entries(),
            SchedulerSpec::entries(),
            CombiningSpec::entries(),
            LinkAdaptationSpec::entries(),
            ChannelSpec::entries(),
            PathLossSpec::entries(),
            InterferenceSpec::entries(),
            ErrorSpec::entries(),
            RlcSpec::entries(),
            RlcModeSpec::entries(),
            LteRlcSpec::entries(),
            UplinkSpec::entries(),
            GrantSpec::entries(),
            SwitchingSpec::entries(),
            ProfileSpec::entries(),
            OtherCellsSpec::entries(),
            SelectionSpec::entries(),
            TcpSpec::entries(),
            ControlSpec::entries(),
            EstimatorSpec::entries(),
            CongestionSpec::entries(),
            ProxySpec::entries(),
            RoundTripSpec::entries(),
            QueueSpec::entries(),
            LossSpec::entries(),
            JitterSpec::entries(),
            TrafficSpec::entries(),
            SizeLaw::entries(),
            TimeLaw::entries(),
        ]
        .concat()
    }

    /// This crate reads no files; its caller does.
    pub fn unread_file(&self) -> Option<String> {
        let of_group = |(i, group): (usize, &UserGroup)| {
            let traffic = group.traffic.as_ref().and_then(|of| Some(("traffic", of.key(), of.unread()?)));
            let channel = || group.ue.as_ref().map(|ue| &ue.channel);
            let channel = || channel().and_then(|of| Some(("ue.channel", of.key(), of.unread()?)));
            let (key, kind, problem) = traffic.or_else(channel)?;
            Some(format!("users.{i}.{key}.{kind}: {problem}"))
        };
        let of_radio = || Some(format!("radio.{}.{}", self.radio.key(), self.radio.unread()?));
        let of_link = || {
            self.jitters()
                .into_iter()
                .find_map(|(link, jitter)| Some(format!("{link}.{}", jitter?.unread()?)))
        };
        self.users.iter().enumerate().find_map(of_group).or_else(of_radio).or_else(of_link)
    }

    /// Of the links outside the radio, each with the link's key.
    fn jitters(&self) -> Vec<(String, Option<&JitterSpec>)> {
        let core: Vec<_> = self.core.iter().flat_map(Core::links).collect();
        let key = |at| if core.len() == 1 { "core".to_owned() } else { format!("core.{at}") };
        let core = core.iter().enumerate().map(|(at, (_, link))| (key(at), link.jitter.as_ref()));
        let ends = [("wired", &self.wired.jitter), ("uplink", &self.uplink.jitter)];
        let ends = ends.map(|(key, jitter)| (key.to_owned(), jitter.as_ref()));
        ends.into_iter().chain(core).collect()
    }

    /// A run without a driver cannot supply packets from outside.
    pub fn external_users(&self) -> Option<String> {
        let place = self.users.iter().position(UserGroup::is_external)?;
        Some(format!(
            "users.{place}.{}: packets of these users come from outside, which a run cannot supply; use `nodeb emulate`, \
             or another `traffic`, one of: {}",
            self.users[place].external_key(),
            TrafficSpec::NAMES
                .iter()
                .filter(|name| **name != "external")
                .copied()
                .collect::<Vec<_>>()
                .join(", ")
        ))
    }

    /// A world that is driven from outside has no end, so neither may its channels.
    pub fn ending_channel(&self) -> Option<String> {
        let ends = |group: &UserGroup| group.ue.as_ref().is_some_and(|ue| ue.channel.facts().ends);
        let group = self.users.iter().position(ends)?;
        Some(format!(
            "users.{group}.ue.channel.trace.at_end: the recording ends, but the emulation does not; expected \
             `loop` or `stop`"
        ))
    }

    pub fn user_count(&self) -> usize {
        self.users.iter().map(|group| group.count.get() as usize).sum()
    }
}
