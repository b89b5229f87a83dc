//! Traffic from outside: a user whose packets nobody here makes up.

use nodeb_base::check::Checked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A user whose packets come from outside, both ways: a real host, or another program. Only a world
/// that is driven from outside has such users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct External {}

impl Checked for External {}
