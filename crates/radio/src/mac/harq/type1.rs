//! H-ARQ type I without combining, the model of `wang`, section 8.2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check::{Check, Checked};

/// Parameters of H-ARQ type I: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NoCombining {}

impl Checked for NoCombining {
    fn check(&self, _: &mut Check) {}
}
