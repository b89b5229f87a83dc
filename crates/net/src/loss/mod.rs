//! Loss models, which lose packets in front of a link's queue.

pub mod data_list;
pub mod gilbert_elliott;
pub mod list;
pub mod periodic;
pub mod random;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::{ErrorGaps, Stream, Streams};
use nodeb_base::units::Probability;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, IntoDeserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub trait LossModel: fmt::Debug {
    /// Must be called once for every packet, in order from position 0.
    fn loses(&mut self, position: u64, payload: bool) -> bool;
}

registry! {
    /// Loss model of a link, as a scenario names it.
    "loss" LossSpec {
        /// Each packet is lost with the same probability, independently of the others.
        "random" => Random(random::RandomLoss),
        /// One packet of every n is lost.
        "periodic" => Periodic(periodic::PeriodicLoss),
        /// Packets at listed positions in the order of arrival are lost.
        "list" => List(list::LossList),
        /// Data segments at listed positions are lost; of other packets at most the first is.
        "data_list" => DataList(data_list::DataList),
        /// Packets are lost in bursts: a good and a bad state have a loss probability each.
        "gilbert_elliott" => GilbertElliott(gilbert_elliott::GilbertElliott),
    }
}

impl LossSpec {
    pub fn build(&self, streams: &Streams, entity: &str, index: u64) -> Loss {
        match self {
            Self::Random(params) => Loss::random(params.p, streams.stream(entity, index, "loss")),
            Self::Periodic(params) => Loss::Model(Box::new(*params)),
            Self::List(params) => Loss::listed(params.positions.clone()),
            Self::DataList(params) => Loss::Model(Box::new(params.build())),
            Self::GilbertElliott(params) => Loss::Model(Box::new(params.build(streams, entity, index))),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum LossSetting {
    Independent(Probability),
    Model(LossSpec),
}

impl Default for LossSetting {
    fn default() -> Self {
        Self::Independent(Probability(0.0))
    }
}

impl LossSetting {
    /// [`Loss::Never`] for a probability of 0.
    pub fn build(&self, streams: &Streams, entity: &str, index: u64) -> Loss {
        match self {
            Self::Independent(p) => Loss::random(*p, streams.stream(entity, index, "loss")),
            Self::Model(spec) => spec.build(streams, entity, index),
        }
    }

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub fn check_within(&self, key: &str, check: &mut Check) {
        match self {
            Self::Independent(p) => require_passage(check, key, *p),
            Self::Model(spec) => check.within(key, |check| spec.check(check)),
        }
    }
}

/// If the loss probability is 1, no packet would pass.
fn require_passage(check: &mut Check, key: &str, loss: Probability) {
    check.require(loss.0 < 1.0, key, || {
        "with a loss of 1 no packet passes; expected a probability below 1".to_owned()
    });
}

impl Serialize for LossSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Independent(p) => p.serialize(serializer),
            Self::Model(spec) => spec.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for LossSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SettingVisitor)
    }
}

struct SettingVisitor;

impl<'de> Visitor<'de> for SettingVisitor {
    type Value = LossSetting;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = LossSpec::NAMES.join(", ");
        write!(f, "a probability from 0 to 1, or a loss model as a table with one key, of: {names}")
    }

    fn visit_f64<E: de::Error>(self, p: f64) -> Result<LossSetting, E> {
        Probability::deserialize(p.into_deserializer()).map(LossSetting::Independent)
    }

    fn visit_i64<E: de::Error>(self, p: i64) -> Result<LossSetting, E> {
        self.visit_f64(p as f64)
    }

    fn visit_u64<E: de::Error>(self, p: u64) -> Result<LossSetting, E> {
        self.visit_f64(p as f64)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<LossSetting, E> {
        LossSpec::deserialize(StrDeserializer::new(name)).map(LossSetting::Model)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LossSetting, A::Error> {
        LossSpec::deserialize(MapAccessDeserializer::new(map)).map(LossSetting::Model)
    }
}

impl JsonSchema for LossSetting {
    /// Inlines the schema, so that each key that takes a loss shows a number or one of the models.
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "LossSetting".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [generator.subschema_for::<Probability>(), generator.subschema_for::<LossSpec>()],
        })
    }
}

#[derive(Debug)]
pub enum Loss {
    Never,
    Model(Box<dyn LossModel>),
}

impl Loss {
    /// It is [`Self::Never`] if `p` is 0.
    pub fn random(p: Probability, stream: Stream) -> Self {
        if p.0 > 0.0 { Self::Model(Box::new(ErrorGaps::new(p.0, stream))) } else { Self::Never }
    }

    pub fn listed(positions: Vec<u64>) -> Self {
        Self::Model(Box::new(list::Listed::new(positions)))
    }

    /// Must be called once for every packet, in order from position 0.
    pub fn loses(&mut self, position: u64, payload: bool) -> bool {
        match self {
            Self::Never => false,
            Self::Model(model) => model.loses(position, payload),
        }
    }
}
