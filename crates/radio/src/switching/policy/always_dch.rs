//! Always DCH: who comes first gets a dedicated channel and keeps it, as with circuits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Event, Rrc, SwitchingPolicy};
use crate::check::{Check, Checked};

/// Parameters of the baseline: none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AlwaysDch {}

impl Checked for AlwaysDch {
    fn check(&self, _: &mut Check) {}
}

/// Everybody asks and nobody gives back; those who come too late stay on the FACH.
#[derive(Debug)]
pub struct Policy;

impl SwitchingPolicy for Policy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        if event == Event::Arrival {
            rrc.ask(user);
        }
    }
}
