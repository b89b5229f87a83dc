//! Always DCH: the first users with packets get the dedicated channels and keep them, as in circuit
//! switching.

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

no_parameters! {
    /// Empty set of parameters of the policy that keeps dedicated channels.
    AlwaysDch
}

impl SwitchingParams for AlwaysDch {
    fn build(&self, _users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(AlwaysDchPolicy)
    }
}

/// Policy in which every user with a packet requests a channel and no user releases its channel.
/// Users for whom no channel is left stay on the FACH.
#[derive(Debug)]
pub struct AlwaysDchPolicy;

impl SwitchingPolicy for AlwaysDchPolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        if event == Event::Arrival {
            rrc.ask(user);
        }
    }
}
