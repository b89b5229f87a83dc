//! Always DCH: who comes first gets a dedicated channel and keeps it, as with circuits.

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

no_parameters! {
    /// Parameters of the baseline: none.
    AlwaysDch
}

impl SwitchingParams for AlwaysDch {
    fn build(&self, _users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(AlwaysDchPolicy)
    }
}

/// Everybody asks and nobody gives back; those who come too late stay on the FACH.
#[derive(Debug)]
pub struct AlwaysDchPolicy;

impl SwitchingPolicy for AlwaysDchPolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        if event == Event::Arrival {
            rrc.ask(user);
        }
    }
}
