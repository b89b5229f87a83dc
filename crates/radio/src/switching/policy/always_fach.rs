//! Always FACH: the baseline without dedicated channels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Event, Rrc, SwitchingPolicy};
use crate::check::{Check, Checked};

/// Parameters of the baseline: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlwaysFach {}

impl Checked for AlwaysFach {
    fn check(&self, _: &mut Check) {}
}

/// Nothing ever changes.
#[derive(Debug)]
pub struct Policy;

impl SwitchingPolicy for Policy {
    fn react(&mut self, _: Event, _: usize, _: &mut Rrc<'_>) {}
}
