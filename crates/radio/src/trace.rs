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
use nodeb_net::{AtEnd, LossSetting, OPPORTUNITIES, Opportunities, Path, QueueSpec, Recording, Reordering};

use super::{Bearers, Meter, Parts, Queue, Radio, RadioSpec, Uplink};
use nodeb_air::UserRadio;

/// Of an opportunity, or of a packet's additional header.
const MAX_BYTES: Size = Size(1_000_000_000);

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
        check.range("opportunity", self.opportunity, Size(1)..=MAX_BYTES);
        check.at_most("header", self.header, MAX_BYTES);
        self.path().check(check);
        check.within("queue", |check| {
            check.within(self.queue.key(), |check| self.queue.check_waiting(check));
        });
    }
}

impl TraceBearer {
    fn recording<'a>(&self, opportunities: &'a Opportunities) -> Recording<'a> {
        Recording { opportunities, at_end: self.at_end, size: self.opportunity, header: self.header }
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
        let recorded = |up| Uplink::Recorded(self.recording(up));
        Parts {
            queue: Some(Queue::Link(&self.queue)),
            meter: Some(Meter::OnRequest),
            recording: Some(self.recording(&self.down)),
            uplink: self.up.as_ref().map_or(Uplink::Plain, recorded),
            ..Parts::default()
        }
    }

    /// Mean of the downlink's trace.
    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.recording(&self.down).mean_rate()
    }

    fn remedies(&self, _phone: &UserRadio, _phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let up = self.up.as_ref().map(Opportunities::doubled);
        let remedies = vec![
            Remedy::no_losses(Self { loss: LossSetting::default(), ..self.clone() }),
            Remedy::long_queues(Self { queue: QueueSpec::endless(), ..self.clone() }),
            Remedy::faster(
                Change::FasterRadio,
                &[Site::Bearer],
                Self { down: self.down.doubled(), ..self.clone() },
            ),
            Remedy::faster(Change::FasterUplink, &[Site::Uplink], Self { up, ..self.clone() }),
            Remedy::nearer(Self { delay: self.delay.half(), ..self.clone() }),
        ];
        remedy::within(remedies, RadioSpec::Trace)
    }

    fn unread(&self) -> Option<String> {
        let ways = [("down", Some(&self.down)), ("up", self.up.as_ref())];
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
        let recording = self.recording(&self.down);
        Bearers::one_per_user(users, |user| {
            Box::new(self.path().traced("down", &recording, streams, "link", user.id))
        })
    }
}
