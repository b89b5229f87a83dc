//! Always FACH: the baseline without dedicated channels.

use super::{Event, Rrc, SwitchingPolicy};

no_parameters! {
    /// Parameters of the baseline: none.
    AlwaysFach
}

/// Nothing ever changes.
#[derive(Debug)]
pub struct Policy;

impl SwitchingPolicy for Policy {
    fn react(&mut self, _: Event, _: usize, _: &mut Rrc<'_>) {}
}
