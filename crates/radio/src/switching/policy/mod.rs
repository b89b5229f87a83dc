//! Switching policies: decide which user gets a dedicated channel, and which must release it.

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

/// Event of a user that is reported to a switching policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet has arrived in the user's queue.
    Arrival,
    /// The transmission of a packet to the user has ended.
    Departure,
    /// A dedicated channel is being set up for the user, or any switch of the user has ended.
    Switched,
    /// The timer that the policy has armed for the user has expired.
    Timer,
}

/// Switching policy, which decides on switches by queue lengths, states and its own timers.
pub trait SwitchingPolicy: Send + std::fmt::Debug {
    /// Reacts to an event of `user`. The policy may give commands to `rrc` for any user.
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>);
    /// Returns the index, in the waiting list, of the user who gets the channel that is free. The
    /// list is not empty. Default: 0, the earliest request.
    fn pick(&self, _rrc: &Rrc<'_>) -> usize {
        0
    }
}

/// Parameters of a kind of switching policy, from which the policy of a bearer is built.
pub trait SwitchingParams: Parameters {
    /// Returns the switching policy in its initial state, for `users` users on the FACH.
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy>;
    /// Returns true if the policy moves idle phones to the paging channel.
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
