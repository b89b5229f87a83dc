//! RRC states of a phone (UMTS: in connected mode, TS 25.331, 7.1; LTE: TS 36.331, 4.2.1), the time spent in each
//! state, and the energy used.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Power};

/// RRC state of a phone, or the switch in progress. [`State::Pch`] stands for CELL_PCH and URA_PCH.
/// Events identify a state by its index in [`State::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The phone is on the paging channel, where it receives no packets.
    Pch,
    /// The phone is switching from the paging channel to the FACH. On LTE, the phone has no connection, and data for it
    /// wait for its paging occasion.
    Paging,
    /// The phone is on the FACH.
    Fach,
    /// The phone is switching from the FACH to a dedicated channel, which it holds already.
    SettingUp,
    /// The phone is on a dedicated channel.
    Dch,
    /// The phone is switching back to the FACH, and holds its dedicated channel until the end of
    /// the switch.
    Releasing,
    /// On LTE, the phone has no RRC connection, and no downlink data wait for it.
    Idle,
    /// On LTE, the phone is in random access or sets up an RRC connection.
    Connecting,
    /// On LTE, the phone has an RRC connection.
    Connected,
}

impl State {
    /// All states, in the order of their indices 0 to 8.
    pub const ALL: [Self; 9] = [
        Self::Pch,
        Self::Paging,
        Self::Fach,
        Self::SettingUp,
        Self::Dch,
        Self::Releasing,
        Self::Idle,
        Self::Connecting,
        Self::Connected,
    ];
}

/// Number of switches of a phone, and time that it has spent in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelUse {
    /// Number of switches from the FACH to a dedicated channel that were started.
    pub set_ups: u64,
    /// Number of switches from a dedicated channel back to the FACH that were started.
    pub releases: u64,
    /// Number of times that the phone was paged.
    pub pagings: u64,
    times: [Duration; State::ALL.len()],
}

impl ChannelUse {
    /// Returns the total time that the phone has spent in `state` so far.
    pub fn time(&self, state: State) -> Duration {
        self.times[state as usize]
    }

    pub(crate) fn add(&mut self, state: State, time: Duration) {
        self.times[state as usize].0 += time.0;
    }

    /// Returns the energy in joules that the phone's radio has used in the states of UMTS: the sum of
    /// power times time over these states.
    pub fn energy_j(&self, power: &PhonePower) -> f64 {
        self.energy_of(&power.by_state())
    }

    /// Returns the energy in joules used in the states of `powers`, each given with its power. Other states do not
    /// count.
    pub fn energy_of(&self, powers: &[(State, Power)]) -> f64 {
        powers.iter().map(|(state, power)| self.time(*state).as_secs() * power.as_watts()).sum()
    }
}

params! {
    /// Power of a phone's radio in each state, independent of traffic.
    ///
    /// Defaults: the 3G profile of AT&T's Application Resource Optimizer (Qian et al., MobiSys 2011),
    /// measured with one carrier. The power on the paging channel is 1 to 2 % of that of CELL_DCH, as in
    /// Pérez-Romero et al. (*Radio Resource Management Strategies in UMTS*, 2005).
    pub struct PhonePower {
        /// Power on the paging channel.
        pub pch: Power = Power::from_milliwatts(10),
        /// Power on the FACH and during paging.
        pub fach: Power = Power::from_milliwatts(350),
        /// Power while a dedicated channel is being set up.
        pub set_up: Power = Power::from_milliwatts(550),
        /// Power on a dedicated channel and during its release.
        pub dch: Power = Power::from_milliwatts(700),
    }
}

impl Checked for PhonePower {}

impl PhonePower {
    fn by_state(&self) -> [(State, Power); 6] {
        [
            (State::Pch, self.pch),
            (State::Paging, self.fach),
            (State::Fach, self.fach),
            (State::SettingUp, self.set_up),
            (State::Dch, self.dch),
            (State::Releasing, self.dch),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_power_times_time() {
        let mut usage = ChannelUse::default();
        for (state, seconds) in [(State::Pch, 100), (State::Fach, 10), (State::SettingUp, 2), (State::Dch, 3)]
        {
            usage.add(state, Duration::from_secs(seconds));
        }
        usage.add(State::Dch, Duration::from_secs(1));
        // The expected energy in joules is 100 s x 10 mW + 10 s x 350 mW + 2 s x 550 mW + 4 s x 700 mW,
        // which is 8.4.
        assert!((usage.energy_j(&PhonePower::default()) - 8.4).abs() < 1e-12);
    }
}
