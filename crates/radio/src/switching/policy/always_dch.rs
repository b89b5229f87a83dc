//! As in circuit switching.

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

nodeb_base::no_parameters! {
    /// Empty set of parameters of the policy that keeps dedicated channels.
    AlwaysDch
}

impl SwitchingParams for AlwaysDch {
    fn build(&self, _users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(AlwaysDchPolicy)
    }
}

/// No user releases its channel; users for whom none is left stay on the FACH.
#[derive(Debug)]
pub struct AlwaysDchPolicy;

impl SwitchingPolicy for AlwaysDchPolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        if event == Event::Arrival {
            rrc.ask(user);
        }
    }
}
