use std::borrow::Cow;
use std::fmt;

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::Duration;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Wired;

/// From the gateway to the Node B (or the RNC), at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Core(Vec<Wired>);

impl Core {
    /// A link without a name in the scenario is called `core` if it is the only one, otherwise `core_1`, `core_2`, ...
    /// by its position.
    pub fn links<'a>(&'a self) -> impl Iterator<Item = (String, &'a Wired)> {
        let alone = self.0.len() == 1;
        let default = move |at: usize| if alone { "core".to_owned() } else { format!("core_{}", at + 1) };
        let named =
            move |(at, link): (usize, &'a Wired)| (link.name.clone().unwrap_or_else(|| default(at)), link);
        self.0.iter().enumerate().map(named)
    }

    /// Without queueing and transmission.
    pub fn delay(&self) -> Duration {
        Duration(self.0.iter().fold(0, |sum, link| sum.saturating_add(link.delay.0)))
    }

    pub fn links_mut(&mut self) -> &mut [Wired] {
        &mut self.0
    }

    pub fn keeps_order(&self) -> bool {
        self.0.iter().all(|link| link.reordering.is_none())
    }
}

impl Checked for Core {
    fn check(&self, check: &mut Check) {
        if let [link] = &self.0[..] {
            return link.check(check);
        }
        let names: Vec<String> = self.links().map(|(name, _)| name).collect();
        for (at, link) in self.0.iter().enumerate() {
            check.within(at, |check| {
                link.check(check);
                check.require(!names[..at].contains(&names[at]), "name", || {
                    format!("the name `{}` is used by another link; expected a unique name", names[at])
                });
            });
        }
    }
}

impl Serialize for Core {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [link] => link.serialize(serializer),
            links => links.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Core {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CoreVisitor)
    }
}

struct CoreVisitor;

impl<'de> Visitor<'de> for CoreVisitor {
    type Value = Core;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a link as a table of keys and values, or a list of such tables")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Core, A::Error> {
        Wired::deserialize(MapAccessDeserializer::new(map)).map(|link| Core(vec![link]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, links: A) -> Result<Core, A::Error> {
        let links = Vec::<Wired>::deserialize(SeqAccessDeserializer::new(links))?;
        if links.is_empty() {
            return Err(de::Error::custom(
                "the list of links is empty; expected at least one link, or no key `core`",
            ));
        }
        Ok(Core(links))
    }
}

impl JsonSchema for Core {
    /// Inlines the schema, so that the key `core` shows a table or a list of tables.
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Core".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let link = generator.subschema_for::<Wired>();
        json_schema!({ "anyOf": [link, { "type": "array", "items": link, "minItems": 1 }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &serde_json::Value) -> Result<Core, String> {
        serde_json::from_value(json.clone()).map_err(|error| error.to_string())
    }

    #[test]
    fn core_is_one_table_or_a_list_of_tables() {
        let single = read(&serde_json::json!({ "delay": "25 ms" })).unwrap();
        let names = |core: &Core| core.links().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!((names(&single), single.delay()), (vec!["core".to_owned()], Duration::from_millis(25)));
        assert!(serde_json::to_value(&single).unwrap().is_object());
        let links =
            [serde_json::json!({ "name": "gn", "delay": "10 ms" }), serde_json::json!({ "delay": "400 us" })];
        let chain = read(&serde_json::json!(links)).unwrap();
        assert_eq!(
            (names(&chain), chain.delay()),
            (vec!["gn".to_owned(), "core_2".to_owned()], Duration(10_400_000))
        );
        assert_eq!(read(&serde_json::to_value(&chain).unwrap()), Ok(chain));
        let schema = serde_json::Value::from(schemars::schema_for!(Core));
        let schema = &schema["anyOf"];
        assert_eq!(schema[0]["$ref"], "#/$defs/Wired", "{schema}");
        assert_eq!(schema[1]["items"]["$ref"], "#/$defs/Wired", "{schema}");
        assert!(read(&serde_json::json!([])).unwrap_err().contains("at least one link"));
        assert!(read(&serde_json::json!(3)).unwrap_err().contains("or a list of such tables"));
    }
}
