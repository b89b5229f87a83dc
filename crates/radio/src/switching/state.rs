//! UMTS: in connected mode, TS 25.331, 7.1; LTE: TS 36.331, 4.2.1.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Power};

/// Or the switch in progress; events identify a state by its index in [`State::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// CELL_PCH or URA_PCH, where no packets are received.
    Pch,
    /// From the paging channel to the FACH; on LTE without connection, while data wait for a paging occasion.
    Paging,
    Fach,
    /// The dedicated channel is held already.
    SettingUp,
    Dch,
    /// Back to the FACH; the dedicated channel is held until the end.
    Releasing,
    /// LTE, without downlink data that wait.
    Idle,
    /// LTE: random access, or set-up of an RRC connection.
    Connecting,
    /// LTE.
    Connected,
}

impl State {
    /// In the order of their indices 0 to 8.
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

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelUse {
    /// Started, from the FACH to a dedicated channel.
    pub set_ups: u64,
    /// Started.
    pub releases: u64,
    pub pagings: u64,
    times: [Duration; State::ALL.len()],
}

impl ChannelUse {
    pub fn time(&self, state: State) -> Duration {
        self.times[state as usize]
    }

    pub(crate) fn add(&mut self, state: State, time: Duration) {
        self.times[state as usize].0 += time.0;
    }

    /// In the states of UMTS: the sum of power times time.
    pub fn energy_j(&self, power: &PhonePower) -> f64 {
        self.energy_of(&power.by_state())
    }

    /// Other states do not count.
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
