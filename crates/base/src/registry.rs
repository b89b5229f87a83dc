//! Registries of model variants: one file per variant, one line per variant in a table.
//!
//! [`registry!`](crate::registry!) turns such a table into an enum of parameter structs. A scenario selects a
//! variant either by name (`scheduler = "max_ci"`, with all defaults) or by a table with one key
//! (`scheduler.proportional_fair.window = "1 s"`). The variant's line also supplies the one-line description,
//! the JSON Schema, and the list over which property tests iterate.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::check::Checked;
//! use nodeb_base::units::Duration;
//!
//! nodeb_base::params! {
//!     /// Parameters of a constant delay.
//!     pub struct ConstantDelay {
//!         /// Delay of each packet.
//!         pub delay: Duration = Duration::from_millis(10),
//!     }
//! }
//!
//! impl Checked for ConstantDelay {}
//!
//! nodeb_base::registry! {
//!     /// Delay of a link, as in a scenario.
//!     "delay" DelaySpec = Constant {
//!         /// The same delay for all packets.
//!         "constant" => Constant(ConstantDelay),
//!     }
//! }
//!
//! let by_name: DelaySpec = serde_json::from_str(r#""constant""#)?;
//! assert_eq!(by_name, DelaySpec::default());
//!
//! let DelaySpec::Constant(params) = serde_json::from_str(r#"{ "constant": { "delay": "5 ms" } }"#)?;
//! assert_eq!(params.delay, Duration::from_millis(5));
//! # Ok::<(), serde_json::Error>(())
//! ```

use serde::Deserialize;
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// A variant's entry: (kind of component, name, one-line description).
pub type Entry = (&'static str, &'static str, &'static str);

/// Returns parameters that all have their defaults, for a scenario that selects a variant by its
/// bare name.
///
/// # Errors
/// Returns an error if a parameter has no default.
pub fn from_defaults<'de, T: Deserialize<'de>, E: serde::de::Error>() -> Result<T, E> {
    T::deserialize(MapDeserializer::new(std::iter::empty::<(&str, &str)>()))
}

/// "`a` or `b`".
pub fn choice<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
}

/// Deserializer that accepts one of the given names. Returns the matching name from the list, which
/// lives as long as the program.
pub struct OneOf(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = &'static str;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "one of: {}", self.0.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<&'static str, E> {
        let found = self.0.iter().find(|other| **other == name);
        found.copied().ok_or_else(|| E::unknown_variant(name, self.0))
    }
}

/// Returns the JSON Schema of a table that selects a variant: an object with the only key `name`,
/// whose value has the schema `params`.
pub fn schema_of(name: &str, doc: &str, params: &schemars::Schema) -> serde_json::Value {
    serde_json::json!({
        "type": "object",
        "title": name,
        "description": doc,
        "properties": { (name): params },
        "required": [name],
        "additionalProperties": false,
    })
}

/// Declares the variants of one kind of component.
///
/// The variant after `=` is the default; without `=` the enum has none. With `as Trait` the
/// parameters of each variant must implement this trait, and the enum dereferences to it. So each
/// variant's behaviour is in its own file. With `+ Plugin` after the trait the registry is open:
/// programs may register further kinds. The trait must then extend
/// [`Parameters`](crate::plugin::Parameters).
#[macro_export]
macro_rules! registry {
    (@deref $enum:ident { $( $variant:ident )+ }) => {};
    (@deref $of:ident $enum:ident { $( $variant:ident )+ $( + $plugin:ident )? }) => {
        impl std::ops::Deref for $enum {
            type Target = dyn $of;

            fn deref(&self) -> &Self::Target {
                match self {
                    $( Self::$variant(params) => params, )+
                    $( Self::$plugin(params) => &**params, )?
                }
            }
        }
    };
    (@names $enum:ident) => {
        impl $enum {
            pub fn names() -> &'static [&'static str] {
                Self::NAMES
            }

            pub fn entries() -> Vec<$crate::registry::Entry> {
                Self::ENTRIES.to_vec()
            }

            fn schemas(_: &mut schemars::SchemaGenerator) -> Vec<serde_json::Value> {
                Vec::new()
            }
        }
    };
    (@names $of:ident $plugin:ident $enum:ident) => {
        impl $enum {
            fn kinds() -> &'static $crate::plugin::Kinds<dyn $of> {
                static KINDS: $crate::plugin::Kinds<dyn $of> = $crate::plugin::Kinds::new();
                &KINDS
            }

            /// Registers a kind with parameters `T` and a one-line description.
            ///
            /// # Panics
            /// Panics if the name is taken.
            pub fn register<T>(name: &'static str, doc: &'static str)
            where
                T: $of + serde::de::DeserializeOwned + schemars::JsonSchema + 'static,
            {
                let hide = |params: T| std::sync::Arc::new(params) as std::sync::Arc<dyn $of>;
                Self::kinds().add(Self::NAMES, $crate::plugin::Kind::new(name, doc, hide));
            }

            pub fn names() -> &'static [&'static str] {
                Self::kinds().names(Self::NAMES)
            }

            pub fn entries() -> Vec<$crate::registry::Entry> {
                [Self::ENTRIES.to_vec(), Self::kinds().entries(Self::KIND)].concat()
            }

            fn schemas(generator: &mut schemars::SchemaGenerator) -> Vec<serde_json::Value> {
                Self::kinds().schemas(generator)
            }
        }
    };
    (
        $(#[$meta:meta])*
        $kind:literal $enum:ident $( = $default:ident )? $( as $of:ident $( + $plugin:ident )? )? {
            $( #[doc = $doc:literal] $key:literal => $variant:ident($params:ty), )+
        }
    ) => {
        $crate::registry!(@deref $( $of )? $enum { $( $variant )+ $( $( + $plugin )? )? });
        $crate::registry!(@names $( $( $of $plugin )? )? $enum);
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $enum {
            $( #[doc = $doc] $variant($params), )+
            $( $(
                $plugin($crate::plugin::Plugin<dyn $of>),
            )? )?
        }

        impl $enum {
            pub const KIND: &'static str = $kind;
            pub const NAMES: &'static [&'static str] = &[$($key),+];
            pub const ENTRIES: &'static [$crate::registry::Entry] = &[$(($kind, $key, $doc.trim_ascii())),+];

            pub fn defaults() -> Vec<Self> {
                let named = |name: &&'static str| {
                    let name = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(name);
                    <Self as serde::Deserialize>::deserialize(name).ok()
                };
                Self::names().iter().filter_map(named).collect()
            }

            pub fn key(&self) -> &'static str {
                match self {
                    $( Self::$variant(_) => $key, )+
                    $( $( Self::$plugin(params) => params.name(), )? )?
                }
            }

            pub fn check(&self, check: &mut $crate::check::Check) {
                use $crate::check::Checked as _;
                match self {
                    $( Self::$variant(params) => check.within($key, |check| params.check(check)), )+
                    $( $( Self::$plugin(params) => check.within(params.name(), |check| params.check(check)), )? )?
                }
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
                match self {
                    $( Self::$variant(params) => map.serialize_entry($key, params)?, )+
                    $( $( Self::$plugin(params) => map.serialize_entry(params.name(), params)?, )? )?
                }
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $enum {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error as _;
                struct Table;
                impl<'de> serde::de::Visitor<'de> for Table {
                    type Value = $enum;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        let names = $enum::names().join(", ");
                        write!(f, "a {} by name or as a table with one key, of: {names}", $kind)
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
                        $( if name == $key {
                            return $crate::registry::from_defaults().map($enum::$variant);
                        } )+
                        $( $( if let Some(kind) = $enum::kinds().named(name) {
                            return kind.from_defaults().map($enum::$plugin);
                        } )? )?
                        Err(E::unknown_variant(name, $enum::names()))
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let names = || $crate::registry::OneOf($enum::names());
                        let Some(name) = map.next_key_seed(names())? else {
                            return Err(A::Error::invalid_length(0, &self));
                        };
                        let value = match name {
                            $( $key => $enum::$variant(map.next_value()?), )+
                            _ => {
                                $( $( if let Some(kind) = $enum::kinds().named(name) {
                                    $enum::$plugin(map.next_value_seed(kind)?)
                                } else )? )?
                                { return Err(A::Error::unknown_variant(name, $enum::names())) }
                            }
                        };
                        match map.next_key_seed(names())? {
                            None => Ok(value),
                            Some(_) => Err(A::Error::custom(format!(
                                "two variants of one {}; keep one of: {}", $kind, $enum::names().join(", ")))),
                        }
                    }
                }
                deserializer.deserialize_any(Table)
            }
        }

        impl schemars::JsonSchema for $enum {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($enum).into() }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut any_of = vec![serde_json::json!({ "enum": $enum::names() })];
                $( any_of.push($crate::registry::schema_of(
                    $key, $doc.trim_ascii(), &generator.subschema_for::<$params>())); )+
                any_of.extend($enum::schemas(generator));
                schemars::json_schema!({
                    "description": concat!("The ", $kind, ": a name, or a table with one key."),
                    "anyOf": any_of,
                })
            }
        }
    };
}

/// Declares the parameters of a component: a struct in which every field has a default. The default
/// is the value after the type (`pub beta: u32 = 3`) or, without a value, that of the type.
/// Deserializing rejects unknown keys.
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

/// Declares the empty parameter struct of a variant that has no parameters.
#[macro_export]
macro_rules! no_parameters {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {}

        impl $crate::check::Checked for $name {}
    };
}
