//! Switching policies: which user gets a dedicated channel, and who must give one back.

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

/// What has happened to a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A packet has come into its queue.
    Arrival,
    /// A packet has been sent to the end.
    Departure,
    /// A switch to a dedicated channel has begun, or any switch has ended.
    Switched,
    /// Its timer has run out.
    Timer,
}

/// Decides on switches. It sees queue lengths, states and its own timers, nothing else.
pub trait SwitchingPolicy: Send + std::fmt::Debug {
    /// Something has happened to `user`: gives orders, to whomever they concern.
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>);
    /// The position among those who wait, of whom there is at least one, of the user who gets the
    /// channel that is free.
    fn pick(&self, _rrc: &Rrc<'_>) -> usize {
        0
    }
}

/// The parameters of a switching policy.
pub trait SwitchingParams: Parameters {
    /// The policy in its initial state, for `users` users on the FACH.
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy>;
    /// Whether idle phones go to the paging channel.
    fn parks(&self) -> bool {
        false
    }
}

registry! {
    /// The switching policy, as a scenario names it.
    "switching policy" SwitchingSpec = Threshold as SwitchingParams + Plugin {
        /// Nobody leaves the FACH.
        "always_fach" => AlwaysFach(always_fach::AlwaysFach),
        /// The first to come get the dedicated channels and keep them.
        "always_dch" => AlwaysDch(always_dch::AlwaysDch),
        /// To a dedicated channel when the queue is long, back when it is empty.
        "threshold" => Threshold(threshold::Thresholds),
        /// As `threshold`, but back after a time, or as soon as another user waits.
        "preemptive" => Preemptive(preemptive::Preemptive),
        /// As `threshold`, but back at the end of a time at which another user waits.
        "non_preemptive" => NonPreemptive(non_preemptive::NonPreemptive),
        /// By traffic volume and inactivity timers, as in deployed networks; idle phones are paged.
        "traffic_volume" => TrafficVolume(traffic_volume::TrafficVolume),
        /// As `non_preemptive` without rounds, and the longest queue gets the channel.
        "longest_queue" => LongestQueue(longest_queue::LongestQueue),
    }
}
