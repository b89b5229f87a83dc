//! Experiments: a link at one or more values of Eb/N0, and a stopping rule. This is the content of a configuration
//! file.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::config::{Air, Link, Receiver};
use super::run::Stop;
use super::service::Service;
use crate::error::{Error, Result};

/// Experiment: a link that is simulated at one or several values of Eb/N0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Short description of the experiment.
    #[serde(default)]
    pub name: String,
    /// Seed of all random numbers. All points use the same seed, so that they have the same fading.
    #[serde(default = "first")]
    pub seed: u64,
    /// Energy per information bit over noise density at each antenna in dB, as in `Link`: a number,
    /// or a list with a number for each point.
    pub eb_n0_db: Points,
    /// Rule that ends the simulation of each point.
    #[serde(default)]
    pub stop: Stop,
    /// Service of the link, by its name or as a table of all parameters.
    pub service: ServiceSpec,
    /// Radio channel from the terminal to the base station.
    #[serde(default)]
    pub air: Air,
    /// Parameters of the base station's receiver.
    #[serde(default)]
    pub receiver: Receiver,
    /// Scrambling code of the terminal, 0 to 16777215.
    #[serde(default)]
    pub scrambling_code: u32,
}

fn first() -> u64 {
    1
}

impl Experiment {
    /// Maximum number of Eb/N0 values in an experiment.
    pub const MAX_POINTS: usize = 1000;

    pub fn link(&self, eb_n0_db: f64) -> Link {
        Link {
            service: self.service.service(),
            eb_n0_db,
            air: self.air.clone(),
            receiver: self.receiver.clone(),
            scrambling_code: self.scrambling_code,
        }
    }

    /// Checks the stopping rule, the number of Eb/N0 values, and the link at each of them.
    ///
    /// # Errors
    ///
    /// Returns an error if a value cannot be simulated.
    pub fn check(&self) -> Result<()> {
        self.stop.check().map_err(|error| error.under("stop"))?;
        let points = &self.eb_n0_db.0;
        if points.is_empty() || points.len() > Self::MAX_POINTS {
            let message = format!("1 to {} points, not {}", Self::MAX_POINTS, points.len());
            return Err(Error::config("eb_n0_db", message));
        }
        points.iter().try_for_each(|&eb_n0_db| self.link(eb_n0_db).check())
    }
}

/// Values of Eb/N0 in dB at which a link is simulated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Points(pub Vec<f64>);

impl JsonSchema for Points {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Points".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number, or a list of numbers.",
            "anyOf": [{ "type": "number" }, { "type": "array", "items": { "type": "number" }, "minItems": 1 }],
        })
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Points;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a list of numbers")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> std::result::Result<Points, E> {
                Ok(Points(vec![value]))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> std::result::Result<Points, E> {
                self.visit_f64(value as f64)
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> std::result::Result<Points, E> {
                self.visit_f64(value as f64)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> std::result::Result<Points, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Points)
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

/// Predefined service, which an experiment selects by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NamedService {
    /// Service of 64 kbit/s in Costamagna et al., Table 1: 4 PDUs of 40 bytes in 20 ms.
    #[serde(rename = "costamagna_64")]
    Costamagna64,
    /// Service of 144 kbit/s in Costamagna et al., Table 1: 9 PDUs of 40 bytes in 20 ms.
    #[serde(rename = "costamagna_144")]
    Costamagna144,
    /// Service of 384 kbit/s in Costamagna et al., Table 1: 12 PDUs of 40 bytes in 10 ms.
    #[serde(rename = "costamagna_384")]
    Costamagna384,
}

impl NamedService {
    #[expect(clippy::missing_panics_doc, reason = "each name has a service")]
    pub fn service(self) -> Service {
        let kbps = match self {
            Self::Costamagna64 => 64,
            Self::Costamagna144 => 144,
            Self::Costamagna384 => 384,
        };
        Service::costamagna(kbps).expect("one of the three")
    }
}

/// Service of a link, either by name or as a table of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ServiceSpec {
    /// Predefined service, given by its name.
    Named(NamedService),
    /// Service that is given with all its parameters.
    Table(Service),
}

impl ServiceSpec {
    pub fn service(&self) -> Service {
        match self {
            Self::Named(named) => named.service(),
            Self::Table(service) => service.clone(),
        }
    }
}

impl<'de> Deserialize<'de> for ServiceSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct NameOrTable;
        impl<'de> Visitor<'de> for NameOrTable {
            type Value = ServiceSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a service, such as \"costamagna_384\", or a table")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> std::result::Result<ServiceSpec, E> {
                NamedService::deserialize(de::value::StrDeserializer::new(name)).map(ServiceSpec::Named)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<ServiceSpec, A::Error> {
                Service::deserialize(MapAccessDeserializer::new(map)).map(ServiceSpec::Table)
            }
        }
        deserializer.deserialize_any(NameOrTable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> std::result::Result<Experiment, String> {
        let experiment: Experiment = serde_json::from_str(json).map_err(|error| error.to_string())?;
        experiment.check().map_err(|error| error.to_string())?;
        Ok(experiment)
    }

    #[test]
    fn service_name_and_one_point_are_sufficient() {
        let experiment = read(r#"{"service": "costamagna_144", "eb_n0_db": 3}"#).unwrap();
        assert_eq!(experiment.eb_n0_db, Points(vec![3.0]));
        assert_eq!(experiment.link(3.0), Link::new(Service::costamagna(144).unwrap(), 3.0));
        let again = serde_json::to_string(&experiment).unwrap();
        assert_eq!(read(&again).unwrap(), experiment);
    }

    #[test]
    fn service_can_be_a_table() {
        let service = serde_json::to_string(&Service::costamagna(64).unwrap()).unwrap();
        let experiment = read(&format!(r#"{{"service": {service}, "eb_n0_db": [1, 2.5]}}"#)).unwrap();
        assert_eq!(experiment.service.service(), Service::costamagna(64).unwrap());
        assert_eq!(experiment.eb_n0_db, Points(vec![1.0, 2.5]));
    }

    #[test]
    fn invalid_values_are_rejected_with_their_key() {
        let explain = |json: &str| read(json).unwrap_err();
        assert!(explain(r#"{"eb_n0_db": 3}"#).contains("missing field `service`"));
        assert!(explain(r#"{"service": "umts", "eb_n0_db": 3}"#).contains("costamagna_384"));
        assert!(explain(r#"{"service": "costamagna_64", "eb_n0_db": []}"#).contains("1 to 1000 points"));
        assert!(
            explain(r#"{"service": "costamagna_64", "eb_n0_db": "3 dB"}"#).contains("a number or a list")
        );
        let stop = r#"{"service": "costamagna_64", "eb_n0_db": 3, "stop": {"bits": 0}}"#;
        assert!(explain(stop).starts_with("stop.bits: at least one bit"));
        let schema = serde_json::to_string(&schemars::schema_for!(Experiment)).unwrap();
        assert!(schema.contains("costamagna_64") && schema.contains("spreading_factor"));
    }
}
