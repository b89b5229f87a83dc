//! Switching by traffic volume and inactivity, as deployed networks do.
//!
//! Up: the transport channel traffic volume exceeds a threshold for a time to trigger (event 4A,
//! TS 25.331, 14.4.2.1, here of the downlink buffer). Down: nothing to send for an inactivity timer,
//! from CELL_DCH to CELL_FACH and from there to CELL_PCH, whether somebody waits or not.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Size, Time};

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};
use crate::switching::State;

params! {
    /// Volume and timers. The defaults were measured by Qian and others at one carrier
    /// (*Characterizing radio resource allocation for 3G networks*, IMC 2010).
    pub struct TrafficVolume {
        /// A dedicated channel is asked for above so many bytes.
        pub volume: Size = Size(475),
        /// How long the volume must stay above that.
        pub time_to_trigger: Duration = Duration::ZERO,
        /// From the last packet until the channel is given back.
        pub dch_inactivity: Duration = Duration::from_secs(5),
        /// From the last packet on the FACH until the phone goes to the paging channel.
        pub fach_inactivity: Duration = Duration::from_secs(12),
    }
}

impl Checked for TrafficVolume {}

/// The policy at work. A user's one timer is that of the trigger while the volume is large, and the
/// state's inactivity timer while there is none.
#[derive(Debug)]
pub struct TrafficVolumePolicy {
    params: TrafficVolume,
    /// Since when users on the FACH have had more than the volume.
    above_since: Vec<Option<Time>>,
}

impl SwitchingParams for TrafficVolume {
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(TrafficVolumePolicy { params: self.clone(), above_since: vec![None; users] })
    }

    fn parks(&self) -> bool {
        true
    }
}

impl TrafficVolumePolicy {
    /// Asks for a channel, or takes that back; returns when the trigger is to be looked at again.
    fn measure(&mut self, user: usize, rrc: &mut Rrc<'_>) -> Option<Time> {
        if rrc.state(user) != State::Fach || rrc.bytes(user) <= self.params.volume.0 {
            self.above_since[user] = None;
            rrc.withdraw(user);
            return None;
        }
        let since = *self.above_since[user].get_or_insert(rrc.now());
        let triggered = since + self.params.time_to_trigger;
        if triggered > rrc.now() {
            return Some(triggered);
        }
        rrc.ask(user);
        None
    }
}

impl SwitchingPolicy for TrafficVolumePolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        let trigger = self.measure(user, rrc);
        let inactivity = match rrc.state(user) {
            State::Dch => Some(self.params.dch_inactivity),
            State::Fach => Some(self.params.fach_inactivity),
            _ => None,
        };
        let end = inactivity.filter(|_| rrc.packets(user) == 0).map(|wait| rrc.now() + wait);
        if event == Event::Timer && end.is_some() {
            rrc.release(user);
            rrc.park(user);
        } else {
            rrc.set_timer(user, end.or(trigger));
        }
    }
}
