use std::num::NonZeroU32;

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::params;
use nodeb_base::remedy::{self, Change, Remedy};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Rate};
use nodeb_net::jitter::JitterSpec;
use nodeb_net::loss::{LossSpec, list::LossList};
use nodeb_net::{Link, LossSetting, Outage, Path, QueueSpec, Reordering};

use super::{Bearers, Meter, Parts, Queue, Radio, RadioSpec};
use nodeb_air::UserRadio;

params! {
    /// Plain link to each user with a rate, a delay, a queue and loss, instead of a radio bearer.
    pub struct LinkBearer {
        /// Bit rate of the link to each user.
        pub rate: Rate = Rate(384_000),
        /// Propagation delay of the link to each user.
        pub delay: Duration = Duration::ZERO,
        /// Queue discipline at the Node B, for each user.
        pub queue: QueueSpec,
        /// Loss of packets: a probability, or a model.
        pub loss: LossSetting,
        /// Packets to lose, by position in the order of arrival, from 0. Short form of `loss.list.positions`;
        /// cannot be combined with `loss`.
        pub drop_list: Vec<u64>,
        /// Outages, in order of time: intervals in which no transmission starts and packets queue.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub outages: Vec<Outage>,
        /// Extra delay of each packet; keeps the order of packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub jitter: Option<JitterSpec>,
        /// Reordering: delays some packets so that others overtake them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reordering: Option<Reordering>,
    }
}

impl Checked for LinkBearer {
    fn check(&self, check: &mut Check) {
        self.path(&self.loss).check(check);
        check.require(self.loss.is_none() || self.drop_list.is_empty(), "drop_list", || {
            "`loss` and `drop_list` cannot be combined; leave one of them out".to_owned()
        });
    }
}

impl LinkBearer {
    fn path<'a>(&'a self, loss: &'a LossSetting) -> Path<'a> {
        let (jitter, reordering) = (self.jitter.as_ref(), self.reordering.as_ref());
        let (rate, delay, queue, outages) = (self.rate, self.delay, &self.queue, &self.outages);
        Path { rate, delay, queue, loss, jitter, reordering, outages }
    }

    fn link(&self, user: &UserRadio, streams: &Streams) -> Link {
        let listed = LossSetting::Model(LossSpec::List(LossList { positions: self.drop_list.clone() }));
        let loss = if self.drop_list.is_empty() { &self.loss } else { &listed };
        self.path(loss).link(streams, "link", user.id)
    }
}

impl Radio for LinkBearer {
    fn parts(&self) -> Parts<'_> {
        Parts { meter: Some(Meter::OnRequest), ..Parts::new(Queue::Link(&self.queue)) }
    }

    fn remedies(&self, _phone: &UserRadio, _phones: NonZeroU32) -> Vec<Remedy<RadioSpec>> {
        let faster = Self { rate: self.rate.doubled(), ..self.clone() };
        let remedies = vec![
            Remedy::no_losses(Self { loss: LossSetting::default(), drop_list: Vec::new(), ..self.clone() }),
            Remedy::long_queues(Self { queue: QueueSpec::endless(), ..self.clone() }),
            Remedy::faster(Change::FasterRadio, &[Site::Bearer], faster),
            Remedy::nearer(Self { delay: self.delay.half(), ..self.clone() }),
        ];
        remedy::within(remedies, RadioSpec::Link)
    }

    fn channel_rate(&self, _best_ci: Option<u32>) -> Rate {
        self.rate
    }

    fn unread(&self) -> Option<String> {
        self.jitter.as_ref()?.unread()
    }

    fn build(&self, users: &[UserRadio], streams: &Streams) -> Bearers {
        Bearers::one_per_user(users, |user| Box::new(self.link(user, streams)))
    }
}
