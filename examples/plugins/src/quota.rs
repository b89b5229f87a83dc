//! A switching policy plug-in: while a request of another user is unmet, a user releases its dedicated
//! channel after a number of packets, or earlier if it has no packet left.

use std::num::NonZeroU32;

use nodeb_base::check::Checked;
use nodeb_base::params;
use nodeb_base::units::positive;
use nodeb_radio::switching::State;
use nodeb_radio::switching::cell::Rrc;
use nodeb_radio::switching::policy::{Event, SwitchingParams, SwitchingPolicy};

params! {
    /// Parameters of the switching policy `quota`.
    pub struct Quota {
        /// Number of packets after which a user gives up its channel if another user's request is unmet.
        pub packets: NonZeroU32 = positive(50),
    }
}

impl Checked for Quota {}

impl SwitchingParams for Quota {
    fn build(&self, users: usize) -> Box<dyn SwitchingPolicy> {
        Box::new(QuotaPolicy { quota: self.packets.get(), sent: vec![0; users] })
    }
}

/// State of the switching policy, which covers all users of the cell.
#[derive(Debug)]
struct QuotaPolicy {
    quota: u32,
    /// For each user, the number of packets sent on its dedicated channel since it got the channel.
    sent: Vec<u32>,
}

impl SwitchingPolicy for QuotaPolicy {
    fn react(&mut self, event: Event, user: usize, rrc: &mut Rrc<'_>) {
        match (event, rrc.state(user)) {
            (Event::Arrival, State::Fach) => rrc.ask(user),
            (Event::Departure, State::Fach) if rrc.packets(user) == 0 => rrc.withdraw(user),
            (Event::Departure, State::Dch) => self.sent[user] += 1,
            (Event::Switched, _) => self.sent[user] = 0,
            _ => {}
        }
        for i in 0..rrc.holders().len() {
            let holder = rrc.holders()[i];
            let is_over = self.sent[holder] >= self.quota || rrc.packets(holder) == 0;
            if is_over && rrc.state(holder) == State::Dch && rrc.unmet() > 0 {
                rrc.release(holder);
            }
        }
    }
}
