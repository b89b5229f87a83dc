//! A user is switched up when the transport channel traffic volume exceeds a threshold for a time to trigger
//! (event 4A, TS 25.331, 14.4.2.1). In this model the volume is that of the downlink buffer. A user without
//! packets is switched down at the end of an inactivity timer, from CELL_DCH to CELL_FACH and from CELL_FACH
//! to CELL_PCH, even if no other user waits.

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::{Duration, Size, Time};

use super::{Event, Rrc, SwitchingParams, SwitchingPolicy};
use crate::switching::State;

params! {
    /// Traffic volume and timers by which users switch channels. Defaults: measured by Qian et al.
    /// with one carrier (*Characterizing radio resource allocation for 3G networks*, IMC 2010).
    pub struct TrafficVolume {
        /// Number of bytes in a user's buffer above which a dedicated channel is requested.
        pub volume: Size = Size(475),
        /// Time for which a user's bytes must exceed `volume` before a channel is requested.
        pub time_to_trigger: Duration = Duration::ZERO,
        /// Time without packets after which a user's dedicated channel is released.
        pub dch_inactivity: Duration = Duration::from_secs(5),
        /// Time without packets after which a phone on the FACH moves to the paging channel.
        pub fach_inactivity: Duration = Duration::from_secs(12),
    }
}

impl Checked for TrafficVolume {}

/// One timer for the time to trigger while the volume exceeds the threshold, and for inactivity without
/// packets.
#[derive(Debug)]
pub struct TrafficVolumePolicy {
    params: TrafficVolume,
    /// On the FACH, with the volume exceeded.
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
    /// End of the time to trigger if it runs; requests a channel after it, and withdraws below the volume.
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
