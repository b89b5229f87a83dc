//! Parameters of links in a scenario, and functions that build links from these parameters.

use nodeb_base::check::{Check, Checked};
use nodeb_base::event::Site;
use nodeb_base::params;
use nodeb_base::remedy::{Change, Remedy};
use nodeb_base::rng::Streams;
use nodeb_base::units::{Duration, Rate};

use super::ingress::Ingress;
use super::jitter::JitterSpec;
use super::link::Link;
use super::loss::LossSetting;
use super::opportunities::Recording;
use super::outage::{self, Outage, Outages};
use super::propagation::{Propagation, Reordering};
use super::queue::QueueSpec;
use super::traced::TracedLink;

params! {
    /// Link of the fixed network, with both directions.
    pub struct Wired {
        // The default rate and delay are those of the fixed network in `wang`, Table 6.
        /// Name of the link in the table `links`. Default: `wired` or `core`, followed by its position if the
        /// core network has several links.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub name: Option<String>,
        /// Bit rate in each direction.
        pub rate: Rate = Rate(10_000_000),
        /// Propagation delay in each direction.
        pub delay: Duration = Duration::from_millis(110),
        /// Loss of packets towards the phone: a probability, or a model.
        pub loss: LossSetting,
        /// Loss of packets towards the server: a probability, or a model.
        pub ack_loss: LossSetting,
        /// Queue discipline in each direction.
        pub queue: QueueSpec,
        /// Extra delay of each packet in each direction; keeps the order of packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub jitter: Option<JitterSpec>,
        /// Reordering in each direction: delays some packets so that others overtake them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reordering: Option<Reordering>,
    }
}

params! {
    /// Uplink that belongs to one phone.
    pub struct Uplink {
        // The default rate and delay are those of the DCH uplink in `wang`, Table 6.
        /// Bit rate of the uplink.
        pub rate: Rate = Rate(64_000),
        /// Delay from the end of a transmission to the arrival at the Node B.
        pub delay: Duration = Duration::from_millis(20),
        /// Loss of packets: a probability, or a model.
        pub loss: LossSetting,
        /// Queue discipline at the phone, before the uplink.
        pub queue: QueueSpec,
        /// Extra delay of each packet; keeps the order of packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub jitter: Option<JitterSpec>,
        /// Reordering: delays some packets so that others overtake them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reordering: Option<Reordering>,
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    pub rate: Rate,
    pub delay: Duration,
    pub queue: &'a QueueSpec,
    pub loss: &'a LossSetting,
    /// `None` for no extra delay.
    pub jitter: Option<&'a JitterSpec>,
    /// Additional delay of some packets, so that later packets overtake them;
    pub reordering: Option<&'a Reordering>,
    /// In the order of time and without overlap.
    pub outages: &'a [Outage],
}

impl Path<'_> {
    pub fn link(&self, streams: &Streams, entity: &str, index: u64) -> Link {
        let (ingress, propagation) = self.parts(self.rate, *streams, entity, index);
        Link::new(self.rate, self.delay, ingress, propagation)
            .with_outages(Outages::new(self.outages.to_vec()))
    }

    /// Without [`Self::rate`] and outages.
    pub fn traced(
        &self,
        direction: &'static str,
        recording: &Recording,
        streams: &Streams,
        entity: &str,
        index: u64,
    ) -> TracedLink {
        let (ingress, propagation) = self.parts(recording.mean_rate(), *streams, entity, index);
        TracedLink::new(direction, recording, self.delay, ingress, propagation)
    }

    fn parts(&self, rate: Rate, streams: Streams, entity: &str, index: u64) -> (Ingress, Propagation) {
        let queue = self.queue.build(rate, streams.stream(entity, index, "queue"));
        let ingress = Ingress::new(self.loss.build(&streams, entity, index), queue);
        (ingress, Propagation::new(self.jitter, self.reordering, &streams, entity, index))
    }

    pub fn check(&self, check: &mut Check) {
        check.require(self.rate.0 > 0, "rate", || {
            "0 bps is out of range; expected a positive rate".to_owned()
        });
        self.loss.check_within("loss", check);
        check.within("queue", |check| self.queue.check(check));
        check.within("outages", |check| outage::check(self.outages, check));
        if let Some(jitter) = self.jitter {
            check.within("jitter", |check| jitter.check(check));
        }
        if let Some(reordering) = self.reordering {
            check.within("reordering", |check| reordering.check(check));
        }
    }
}

impl Wired {
    fn path<'a>(&'a self, loss: &'a LossSetting) -> Path<'a> {
        let (jitter, reordering) = (self.jitter.as_ref(), self.reordering.as_ref());
        let (rate, delay, queue) = (self.rate, self.delay, &self.queue);
        Path { rate, delay, queue, loss, jitter, reordering, outages: &[] }
    }

    pub fn down(&self, entity: &str, streams: &Streams) -> Link {
        self.path(&self.loss).link(streams, entity, 0)
    }

    pub fn up(&self, entity: &str, streams: &Streams) -> Link {
        self.path(&self.ack_loss).link(streams, entity, 1)
    }

    /// `faster` is the change of the rates of all links at `sites`.
    pub fn remedies(&self, faster: Change, sites: &'static [Site]) -> Vec<Remedy<Self>> {
        let lossless = LossSetting::default();
        vec![
            Remedy::no_losses(Self { loss: lossless.clone(), ack_loss: lossless, ..self.clone() }),
            Remedy::long_queues(Self { queue: QueueSpec::endless(), ..self.clone() }),
            Remedy::faster(faster, sites, Self { rate: self.rate.doubled(), ..self.clone() }),
            Remedy::nearer(Self { delay: self.delay.half(), ..self.clone() }),
        ]
    }
}

impl Uplink {
    fn path(&self) -> Path<'_> {
        Path {
            rate: self.rate,
            delay: self.delay,
            queue: &self.queue,
            loss: &self.loss,
            jitter: self.jitter.as_ref(),
            reordering: self.reordering.as_ref(),
            outages: &[],
        }
    }

    pub fn link(&self, user: u64, streams: &Streams) -> Link {
        self.path().link(streams, "uplink", user)
    }

    /// Transmits at the recorded opportunities instead of at [`Self::rate`].
    pub fn traced(&self, user: u64, recording: &Recording, streams: &Streams) -> TracedLink {
        self.path().traced("up", recording, streams, "uplink", user)
    }

    pub fn remedies(&self) -> Vec<Remedy<Self>> {
        let faster = Self { rate: self.rate.doubled(), ..self.clone() };
        vec![
            Remedy::no_losses(Self { loss: LossSetting::default(), ..self.clone() }),
            Remedy::long_queues(Self { queue: QueueSpec::endless(), ..self.clone() }),
            Remedy::faster(Change::FasterUplink, &[Site::Uplink], faster),
            Remedy::nearer(Self { delay: self.delay.half(), ..self.clone() }),
        ]
    }
}

/// Returns true if a link may have the name `name`. It must not be `wired`, `core`, `uplink` or `link`, and not begin
/// with one of these words and `_`: default names of links and names of random streams have this form.
fn is_free(name: &str) -> bool {
    let taken = ["wired", "core", "uplink", "link"];
    let is_taken =
        |start: &&str| name.strip_prefix(*start).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    let is_word = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    is_word && !taken.iter().any(is_taken)
}

impl Checked for Wired {
    fn check(&self, check: &mut Check) {
        self.path(&self.loss).check(check);
        self.ack_loss.check_within("ack_loss", check);
        let reserved = self.name.as_ref().filter(|name| !is_free(name));
        check.require(reserved.is_none(), "name", || {
            let name = reserved.map_or("", String::as_str);
            format!("`{name}` is reserved or not a word; expected a word that is not wired, core, uplink or link, alone or before _")
        });
    }
}

impl Checked for Uplink {
    fn check(&self, check: &mut Check) {
        self.path().check(check);
    }
}
