//! Lists that are stored once and shared by all users and replications of a scenario.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::from_db;

/// In dB; the linear ratios are computed when they are first used.
#[derive(Clone, Debug, Default)]
pub struct Decibels(Arc<Both>);

#[derive(Debug, Default)]
struct Both {
    db: Vec<f64>,
    linear: OnceLock<Vec<f32>>,
}

impl Decibels {
    pub fn linear(&self) -> &[f32] {
        self.0.linear.get_or_init(|| self.0.db.iter().map(|db| from_db(*db)).collect())
    }
}

impl From<Vec<f64>> for Decibels {
    fn from(db: Vec<f64>) -> Self {
        Self(Arc::new(Both { db, linear: OnceLock::new() }))
    }
}

impl Deref for Decibels {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.0.db
    }
}

impl PartialEq for Decibels {
    fn eq(&self, other: &Self) -> bool {
        self.0.db == other.0.db
    }
}

impl Serialize for Decibels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.db.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Decibels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for Decibels {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<f64>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<f64>::json_schema(generator)
    }
}

pub fn is_empty<T>(list: &Arc<Vec<T>>) -> bool {
    list.as_ref().is_empty()
}
