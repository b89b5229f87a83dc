//! Like mahimahi's `mm-link`.

use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::params;
use nodeb_base::remedy::{self, Change, Remedy};
use nodeb_base::rng::Streams;
use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Rate, Size};
use nodeb_net::jitter::JitterSpec;
use nodeb_net::{
    AtEnd, LossSetting, OPPORTUNITIES, Opportunities, Path, QueueSpec, Recording, Reordering, Trains,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Bearers, Meter, Parts, Queue, Radio, RadioSpec, Uplink};
use nodeb_air::UserRadio;

/// Of an opportunity, or of a packet's additional header.
const MAX_BYTES: Size = Size(1_000_000_000);

/// Recording of the same network with short trains of packets, each sent on an idle link, as CellReplay makes it
/// beside that of a saturating sender (NSDI 2025).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LightTrace {
    /// Opportunities of trains towards a phone.
    pub down: Opportunities,
    /// Opportunities of trains from a phone. Default: none, those of the trace's `up`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<Opportunities>,
    /// Packets of a recorded train: so many opportunities carry a train before the link counts as busy.
    pub train: NonZeroU32,
    /// Time without packets after which a train begins.
    #[serde(default)]
    pub gap: Duration,
}

params! {
    /// Links that follow traces in mahimahi's format.
    pub struct TraceBearer {
        // The default sizes of an opportunity and of the additional header are those of mahimahi.
        /// Delivery opportunities towards a phone. Each phone has a link of its own that uses all of them.
        pub down: Opportunities,
        /// Opportunities at which a phone can send, instead of `uplink.rate`. The other keys of `uplink`
        /// still apply. Default: none, `uplink.rate` applies.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub up: Option<Opportunities>,
        /// Second recording, of trains of packets. An idle link has its opportunities, a busy link those of
        /// `down` and `up`. Default: none, a link always has those of `down` and `up`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub light: Option<LightTrace>,
        /// Behaviour at the end of a trace.
        pub at_end: AtEnd = AtEnd::Loop,
        /// Largest number of bytes that a delivery opportunity can carry.
        pub opportunity: Size = Size(1504),
        /// Bytes that each packet takes in addition to its own size. In mahimahi, packets have the
        /// 4-byte header of a TUN device.
        pub header: Size = Size(4),
        /// Propagation delay towards the phone.
        pub delay: Duration = Duration::ZERO,
        /// Queue at the Node B, in which every packet waits for an opportunity.
        pub queue: QueueSpec,
        /// Loss of packets towards the phone: a probability, or a model.
        pub loss: LossSetting,
        /// Extra delay of each packet towards the phone; keeps the order of packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub jitter: Option<JitterSpec>,
        /// Reordering towards the phone: delays some packets so that others overtake them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reordering: Option<Reordering>,
    }
}

impl Checked for TraceBearer {
    fn check(&self, check: &mut Check) {
        check.within("down", |check| self.down.check(check));
        if let Some(up) = &self.up {
            check.within("up", |check| up.check(check));
        }
        if let Some(light) = &self.light {
            check.within("light", |check| {
                check.within("down", |check| light.down.check(check));
                if let Some(up) = &light.up {
                    check.within("up", |check| up.check(check));
                }
                check.require(light.up.is_none() || self.up.is_some(), "up", || {
                    "trains need the recording of a busy link too; expected a key `up` of `trace`".to_owned()
                });
            });
        }
        check.range("opportunity", self.opportunity, Size(1)..=MAX_BYTES);
        check.at_most("header", self.header, MAX_BYTES);
        self.path().check(check);
        check.within("queue", |check| {
            check.within(self.queue.key(), |check| self.queue.check_waiting(check));
        });
    }
}

impl TraceBearer {
    fn recording<'a>(
        &self,
        opportunities: &'a Opportunities,
        of_trains: Option<&'a Opportunities>,
    ) -> Recording<'a> {
        let light = self.light.as_ref().zip(of_trains);
        let trains =
            light.map(|(light, opportunities)| Trains { opportunities, length: light.train, gap: light.gap });
        let (at_end, size, header) = (self.at_end, self.opportunity, self.header);
        Recording { opportunities, trains, at_end, size, header }
    }

    fn down(&self) -> Recording<'_> {
        self.recording(&self.down, self.light.as_ref().map(|light| &light.down))
    }

    fn path(&self) -> Path<'_> {
        Path {
            // `Path` requires a rate, but a trace-driven link does not use it.
            rate: Rate(1),
            delay: self.delay,
            queue: &self.queue,
            loss: &self.loss,
            jitter: self.jitter.as_ref(),
            reordering: self.reordering.as_ref(),
            outages: &[],
        }
    }
}

impl Radio for TraceBearer {
    fn parts(&self) -> Parts<'_> {
        let light = self.light.as_ref().and_then(|light| light.up.as_ref());
        let recorded = |up| Uplink::Recorded(self.recording(up, light));
        Parts {
            meter: Some(Meter::OnRequest),
            recording: Some(self.down()),
            uplink: self.up.as_ref().map_or(Uplink::Plain, recorded),
            ..Parts::new(Queue::Link(&self.queue))
        }
    }

    /// Mean of the downlink's trace.
    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.down().mean_rate()
    }

    fn remedies(&self, _phone: &UserRadio, _phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let up = self.up.as_ref().map(Opportunities::doubled);
        let light_up =
            self.light.clone().map(|of| LightTrace { up: of.up.as_ref().map(Opportunities::doubled), ..of });
        let light_down = self.light.clone().map(|of| LightTrace { down: of.down.doubled(), ..of });
        let remedies = vec![
            Remedy::no_losses(Self { loss: LossSetting::default(), ..self.clone() }),
            Remedy::long_queues(Self { queue: QueueSpec::endless(), ..self.clone() }),
            Remedy::faster(
                Change::FasterRadio,
                &[Site::Bearer],
                Self { down: self.down.doubled(), light: light_down, ..self.clone() },
            ),
            Remedy::faster(
                Change::FasterUplink,
                &[Site::Uplink],
                Self { up, light: light_up, ..self.clone() },
            ),
            Remedy::nearer(Self { delay: self.delay.half(), ..self.clone() }),
        ];
        remedy::within(remedies, RadioSpec::Trace)
    }

    fn unread(&self) -> Option<String> {
        let light = self.light.as_ref();
        let ways = [
            ("down", Some(&self.down)),
            ("up", self.up.as_ref()),
            ("light.down", light.map(|light| &light.down)),
            ("light.up", light.and_then(|light| light.up.as_ref())),
        ];
        let of_way = |(way, named): (&str, Option<&Opportunities>)| {
            let file = named?.unread()?;
            Some(format!("{way}: the trace `{file}` has not been read; expected its contents as `times_ms`"))
        };
        ways.into_iter().find_map(of_way).or_else(|| self.jitter.as_ref()?.unread())
    }

    fn tables(&self) -> Vec<Table> {
        vec![OPPORTUNITIES.empty()]
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        let recording = self.down();
        Bearers::one_per_user(users, |user| {
            Box::new(self.path().traced("down", &recording, streams, "link", user.id))
        })
    }
}
