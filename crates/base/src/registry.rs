//! One variant, one file, one line in a table.
//!
//! [`registry!`](crate::registry!) turns such a table into an enum of parameter structs that a
//! scenario names either by a bare name (`scheduler = "max_ci"`, all defaults) or by a table with
//! one key (`scheduler.proportional_fair.window = "1 s"`). The name, the one-line description,
//! the JSON Schema and the list that law tests walk over all come from the same line.

use serde::Deserialize;
use serde::de::value::MapDeserializer;

/// A line of a registry: (kind, name, one-line description).
pub type Entry = (&'static str, &'static str, &'static str);

/// Parameters made from their defaults alone, as a bare name asks for.
///
/// # Errors
/// When a parameter has no default.
pub fn from_defaults<'de, T: Deserialize<'de>, E: serde::de::Error>() -> Result<T, E> {
    T::deserialize(MapDeserializer::new(std::iter::empty::<(&str, &str)>()))
}

/// Returns names in a row, as a message shows a choice: "`a` or `b`".
pub fn choice<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// Declares the variants of one kind of component. `= Variant` behind the name is the default. With `as Trait` behind the name all parameters implement this
/// trait, and the enum dereferences to it: what is asked of a variant is answered in the variant's own file.
#[macro_export]
macro_rules! registry {
    (@deref $enum:ident { $( $variant:ident )+ }) => {};
    (@deref $of:ident $enum:ident { $( $variant:ident )+ }) => {
        impl std::ops::Deref for $enum {
            type Target = dyn $of;

            fn deref(&self) -> &Self::Target {
                match self { $( Self::$variant(params) => params, )+ }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $kind:literal $enum:ident $( = $default:ident )? $( as $of:ident )? {
            $( #[doc = $doc:literal] $key:literal => $variant:ident($params:ty), )+
        }
    ) => {
        $crate::registry!(@deref $( $of )? $enum { $( $variant )+ });
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $enum {
            $( #[doc = $doc] $variant($params), )+
        }

        impl $enum {
            /// What this kind of component is called.
            pub const KIND: &'static str = $kind;
            /// The names a scenario may use.
            pub const NAMES: &'static [&'static str] = &[$($key),+];
            /// The lines of the table.
            pub const ENTRIES: &'static [$crate::registry::Entry] = &[$(($kind, $key, $doc.trim_ascii())),+];

            /// Every variant whose parameters all have defaults, with those.
            pub fn defaults() -> Vec<Self> {
                type Failure = serde::de::value::Error;
                [$( $crate::registry::from_defaults::<$params, Failure>().map(Self::$variant) ),+]
                    .into_iter()
                    .flatten()
                    .collect()
            }

            /// The variant's name in a scenario.
            pub fn key(&self) -> &'static str {
                match self { $( Self::$variant(_) => $key, )+ }
            }

            /// Looks for impossible values in the variant's parameters.
            pub fn check(&self, check: &mut $crate::check::Check) {
                use $crate::check::Checked as _;
                match self { $( Self::$variant(params) => check.within($key, |check| params.check(check)), )+ }
            }
        }

        $( impl Default for $enum {
            fn default() -> Self {
                Self::$default(Default::default())
            }
        } )?

        impl serde::Serialize for $enum {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(Some(1))?;
                match self { $( Self::$variant(params) => map.serialize_entry($key, params)?, )+ }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Table;
                impl<'de> serde::de::Visitor<'de> for Table {
                    type Value = $enum;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "a {} by name or as a table with one key, of: {}", $kind, $enum::NAMES.join(", "))
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
                        match name {
                            $( $key => $crate::registry::from_defaults().map($enum::$variant), )+
                            _ => Err(E::unknown_variant(name, $enum::NAMES)),
                        }
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        use serde::de::Error as _;
                        let Some(name) = map.next_key::<Name>()? else {
                            return Err(A::Error::invalid_length(0, &self));
                        };
                        let value = match name { $( Name::$variant => $enum::$variant(map.next_value()?), )+ };
                        match map.next_key::<Name>()? {
                            None => Ok(value),
                            Some(_) => Err(A::Error::custom(format!(
                                "two variants of one {}; keep one of: {}", $kind, $enum::NAMES.join(", ")))),
                        }
                    }
                }
                #[derive(serde::Deserialize)]
                enum Name { $( #[serde(rename = $key)] $variant, )+ }
                deserializer.deserialize_any(Table)
            }
        }

        impl schemars::JsonSchema for $enum {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($enum).into() }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let variants = [$(
                    schemars::json_schema!({
                        "type": "object",
                        "title": $key,
                        "description": $doc.trim_ascii(),
                        "properties": { $key: generator.subschema_for::<$params>() },
                        "required": [$key],
                        "additionalProperties": false,
                    })
                ),+];
                let mut any_of: Vec<serde_json::Value> = vec![serde_json::json!({ "enum": $enum::NAMES })];
                any_of.extend(variants.into_iter().map(serde_json::Value::from));
                schemars::json_schema!({
                    "description": concat!("The ", $kind, ": a name, or a table with one key."),
                    "anyOf": any_of,
                })
            }
        }
    };
}

/// Declares parameters as a scenario sets them: a struct whose fields each have a default, written behind the type
/// (`pub beta: u32 = 3`) unless it is that of the type. A key that is no field is refused.
#[macro_export]
macro_rules! params {
    (@default) => { ::std::default::Default::default() };
    (@default $default:expr) => { $default };
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$field_meta:meta])* pub $field:ident: $type:ty $( = $default:expr )?, )*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        $(#[$meta])*
        pub struct $name {
            $( $(#[$field_meta])* pub $field: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $crate::params!(@default $( $default )?), )* }
            }
        }
    };
}
