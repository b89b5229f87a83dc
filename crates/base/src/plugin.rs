//! User-defined components: kinds that a program registers before it reads its first scenario.
//!
//! An open registry ([`registry!`](crate::registry!)) has one more variant, [`Plugin`], whose parameters are
//! behind a trait. Scenarios name, check and list registered kinds like the built-in ones.

use std::fmt::{self, Debug};
use std::sync::{Arc, PoisonError, RwLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Error as _};
use serde::{Deserializer, Serialize, Serializer};

use crate::check::Checked;
use crate::registry::{Entry, schema_of};

/// Requirements on the parameters of a component in an open registry, to which programs may add
/// kinds. Every type that meets them implements this trait.
pub trait Parameters: Checked + Debug + Send + Sync + erased_serde::Serialize {}

impl<T: Checked + Debug + Send + Sync + Serialize> Parameters for T {}

type Read<P> = dyn Fn(&mut dyn erased_serde::Deserializer) -> erased_serde::Result<Arc<P>> + Send + Sync;

/// `P` is the trait of its parameters.
pub struct Kind<P: ?Sized> {
    name: &'static str,
    doc: &'static str,
    read: Box<Read<P>>,
    schema: fn(&mut SchemaGenerator) -> Schema,
}

impl<P: ?Sized + 'static> Kind<P> {
    /// Creates a kind whose parameters have the type `T`. `doc` is its description in one line, and
    /// `hide` converts parameters to the trait object.
    pub fn new<T: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        doc: &'static str,
        hide: fn(T) -> Arc<P>,
    ) -> Self {
        let read = move |from: &mut dyn erased_serde::Deserializer| erased_serde::deserialize(from).map(hide);
        Self { name, doc, read: Box::new(read), schema: SchemaGenerator::subschema_for::<T> }
    }

    /// Returns a component of this kind, whose parameters all have their defaults.
    ///
    /// # Errors
    /// Returns an error if a parameter has no default.
    pub fn from_defaults<E: serde::de::Error>(&'static self) -> Result<Plugin<P>, E> {
        self.deserialize(MapDeserializer::new(std::iter::empty::<(&str, &str)>()))
    }
}

impl<'de, P: ?Sized + 'static> DeserializeSeed<'de> for &'static Kind<P> {
    type Value = Plugin<P>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Plugin<P>, D::Error> {
        let params = (self.read)(&mut <dyn erased_serde::Deserializer>::erase(from));
        let in_brief = |error: erased_serde::Error| {
            D::Error::custom(error.to_string().lines().next().unwrap_or_default())
        };
        Ok(Plugin { kind: self, params: params.map_err(in_brief)? })
    }
}

pub struct Plugin<P: ?Sized + 'static> {
    kind: &'static Kind<P>,
    params: Arc<P>,
}

impl<P: ?Sized> Plugin<P> {
    pub fn name(&self) -> &'static str {
        self.kind.name
    }
}

impl<P: ?Sized> std::ops::Deref for Plugin<P> {
    type Target = P;

    fn deref(&self) -> &P {
        &self.params
    }
}

impl<P: ?Sized> Clone for Plugin<P> {
    fn clone(&self) -> Self {
        Self { kind: self.kind, params: self.params.clone() }
    }
}

impl<P: ?Sized + Parameters> Debug for Plugin<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.params.fmt(f)
    }
}

impl<P: ?Sized + Parameters> PartialEq for Plugin<P> {
    fn eq(&self, other: &Self) -> bool {
        let words = |plugin: &Self| serde_json::to_value(plugin).ok();
        self.kind.name == other.kind.name && words(self) == words(other)
    }
}

impl<P: ?Sized + Parameters> Serialize for Plugin<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(&*self.params, serializer)
    }
}

pub struct Kinds<P: ?Sized + 'static>(RwLock<Registered<P>>);

struct Registered<P: ?Sized + 'static> {
    kinds: Vec<&'static Kind<P>>,
    /// Built-in names, then registered ones; `None` without registered kinds.
    names: Option<&'static [&'static str]>,
}

impl<P: ?Sized> Kinds<P> {
    #[expect(clippy::new_without_default, reason = "made in constants only")]
    pub const fn new() -> Self {
        Self(RwLock::new(Registered { kinds: Vec::new(), names: None }))
    }

    pub fn all(&self) -> Vec<&'static Kind<P>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).kinds.clone()
    }

    pub fn named(&self, name: &str) -> Option<&'static Kind<P>> {
        self.all().into_iter().find(|kind| kind.name == name)
    }

    /// Returns the built-in names, which the caller passes as `of_table`, followed by the names of
    /// the registered kinds.
    pub fn names(&self, of_table: &'static [&'static str]) -> &'static [&'static str] {
        self.0.read().unwrap_or_else(PoisonError::into_inner).names.unwrap_or(of_table)
    }

    /// Adds a kind, which stays registered until the program ends. `of_table` must be the built-in
    /// names.
    ///
    /// # Panics
    /// Panics if a built-in or registered kind has this name.
    pub fn add(&self, of_table: &'static [&'static str], kind: Kind<P>) {
        let names = self.names(of_table);
        assert!(!names.contains(&kind.name), "the name `{}` is taken; expected another name", kind.name);
        let mut registered = self.0.write().unwrap_or_else(PoisonError::into_inner);
        registered.names = Some([names, &[kind.name]].concat().leak());
        registered.kinds.push(Box::leak(Box::new(kind)));
    }

    pub fn entries(&self, component: &'static str) -> Vec<Entry> {
        self.all().iter().map(|kind| (component, kind.name, kind.doc)).collect()
    }

    pub fn schemas(&self, generator: &mut SchemaGenerator) -> Vec<serde_json::Value> {
        self.all().iter().map(|kind| schema_of(kind.name, kind.doc, &(kind.schema)(generator))).collect()
    }
}
