//! Where a phone stands in RRC connected mode (TS 25.331, 7.1), and what that has cost it.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Power};

/// A phone's RRC state, or the switch it is in. CELL_PCH stands for URA_PCH as well. Events name a state by
/// its place in this list, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Listens to the paging channel; nothing can be sent.
    Pch,
    /// On the way from the paging channel to the FACH.
    Paging,
    /// On the shared channel.
    Fach,
    /// On the way from the FACH to a dedicated channel, which it holds already.
    SettingUp,
    /// On a dedicated channel.
    Dch,
    /// On the way back to the FACH; the channel is free at the end.
    Releasing,
}

impl State {
    /// All of them, in order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Pch, Self::Paging, Self::Fach, Self::SettingUp, Self::Dch, Self::Releasing];
}

/// How often and for how long a phone was in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelUse {
    /// Switches from the FACH to a dedicated channel begun.
    pub set_ups: u64,
    /// Switches back begun.
    pub releases: u64,
    /// Times the phone was called from the paging channel.
    pub pagings: u64,
    times: [Duration; State::ALL.len()],
}

impl ChannelUse {
    /// Time spent in a state.
    pub fn time(&self, state: State) -> Duration {
        self.times[state as usize]
    }

    pub(super) fn add(&mut self, state: State, time: Duration) {
        self.times[state as usize].0 += time.0;
    }

    /// Energy in joules that the phone's radio has used: the power of each state times the time in
    /// it.
    pub fn energy_j(&self, power: &PhonePower) -> f64 {
        let of_state = |(state, power): (State, Power)| self.time(state).as_secs() * power.as_watts();
        power.by_state().into_iter().map(of_state).sum()
    }
}

params! {
    /// What a phone's radio consumes, whatever it sends.
    ///
    /// The defaults are the 3G profile of AT&T's Application Resource Optimizer (Qian and others, MobiSys
    /// 2011), measured at one carrier; for the paging channel the 1 to 2 % of CELL_DCH that Pérez-Romero
    /// and others give (*Radio Resource Management Strategies in UMTS*, 2005).
    pub struct PhonePower {
        /// On the paging channel.
        pub pch: Power = Power::from_milliwatts(10),
        /// On the FACH, and while it is being paged.
        pub fach: Power = Power::from_milliwatts(350),
        /// While a dedicated channel is being set up.
        pub set_up: Power = Power::from_milliwatts(550),
        /// On a dedicated channel, and while that is being released.
        pub dch: Power = Power::from_milliwatts(700),
    }
}

impl Checked for PhonePower {}

impl PhonePower {
    fn by_state(&self) -> [(State, Power); State::ALL.len()] {
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
        // 100 s x 10 mW + 10 s x 350 mW + 2 s x 550 mW + 4 s x 700 mW.
        assert!((usage.energy_j(&PhonePower::default()) - 8.4).abs() < 1e-12);
    }
}
