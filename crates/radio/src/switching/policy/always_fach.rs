use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};

nodeb_base::no_parameters! {
    /// Empty set of parameters of the policy that keeps all users on the FACH.
    AlwaysFach
}

impl SwitchingParams for AlwaysFach {
    fn build(&self, _users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(AlwaysFachPolicy)
    }
}

#[derive(Debug)]
pub struct AlwaysFachPolicy;

impl SwitchingPolicy for AlwaysFachPolicy {
    fn react(&mut self, _: Event, _: usize, _: &mut Rrc<'_>) {}
}
