pub mod always_dch;
pub mod always_fach;
mod idle;
pub mod longest_queue;
pub mod non_preemptive;
pub mod preemptive;
pub mod threshold;
pub mod traffic_volume;

use nodeb_base::plugin::Parameters;
use nodeb_base::registry;

use super::cell::Rrc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Of a packet in the user's queue.
    Arrival,
    /// Transmission to the user ended.
    Departure,
    /// A dedicated channel is being set up, or any switch has ended.
    Switched,
    /// The policy's timer has expired.
    Timer,
}

pub trait SwitchingPolicy: std::fmt::Debug {
    /// Commands to `rrc` may be for any user.
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>);
    /// Index in the waiting list, which is not empty, of the user for a free channel.
    fn pick(&self, _rrc: &Rrc<'_>) -> usize {
        0
    }
}

pub trait SwitchingParams: Parameters {
    /// Users are on the FACH.
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy>;
    /// Idle phones go to the paging channel.
    fn parks(&self) -> bool {
        false
    }
}

registry! {
    /// Switching policy with its parameters, as given in a scenario.
    "switching policy" SwitchingSpec = Threshold as SwitchingParams + Plugin {
        /// All users stay on the FACH.
        "always_fach" => AlwaysFach(always_fach::AlwaysFach),
        /// The first users get the dedicated channels and keep them.
        "always_dch" => AlwaysDch(always_dch::AlwaysDch),
        /// Users move to a DCH if their queue is long, and back if it is short and no DCH is free.
        "threshold" => Threshold(threshold::Thresholds),
        /// Like `threshold`, but users move back after a timeout, or as soon as another user waits.
        "preemptive" => Preemptive(preemptive::Preemptive),
        /// Like `threshold`, but users move back at the end of a timeout if another user waits.
        "non_preemptive" => NonPreemptive(non_preemptive::NonPreemptive),
        /// Users switch by traffic volume and inactivity timers, as in deployed networks.
        "traffic_volume" => TrafficVolume(traffic_volume::TrafficVolume),
        /// Idle users move back after a timeout if another waits; the longest queue gets the DCH.
        "longest_queue" => LongestQueue(longest_queue::LongestQueue),
    }
}
