//! Of a world that is driven from outside; computed on demand, so that they add no work to packets. The
//! emulator takes them every 0.1 s.

use nodeb_base::{Error, Result};
use nodeb_radio::Backlog;

use super::control::Listener;
use super::live::Live;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// See [`nodeb_radio::Bearer::backlog`].
    pub down: Backlog,
    /// Waiting for the uplink.
    pub up: Backlog,
    /// That the Node B uses; `None` if the radio has no CQIs.
    pub cqi: Option<f32>,
}

/// In bytes, for all simulated users since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Delivered by bearers.
    pub down: u64,
    /// Sent over the phones' uplinks.
    pub up: u64,
}

impl<L: Listener> Live<L> {
    /// The bearer applies its deferred updates for the CQI, which changes no later result.
    ///
    /// # Errors
    /// [`Error::Scenario`] if there is no user with the number `user`.
    pub fn snapshot(&mut self, user: u32) -> Result<Snapshot> {
        let world = &mut self.world;
        let Some(phone) = world.phones.get(user as usize) else {
            return Err(Error::Scenario(format!(
                "there is no user number {user}; expected less than {}",
                world.phones.len()
            )));
        };
        let uplink = &phone.uplink.link;
        let up = match &world.uplink {
            Some(air) => air.backlog(user as usize),
            None => Backlog { packets: uplink.waiting(), bytes: uplink.waiting_bytes() },
        };
        let down = world.bearers[phone.bearer as usize].backlog(phone.position);
        let cqi = world.cqi(user);
        world.emit();
        Ok(Snapshot { down, up, cqi })
    }

    pub fn carried(&self) -> Carried {
        let world = &self.world;
        let all: u64 = world.bearers.iter().map(|air| air.counts.bytes_delivered).sum();
        let simulated = world.phones.iter().zip(&world.flows.0).filter(|(_, flow)| flow.is_some());
        let up = match &world.uplink {
            Some(air) => air.counts.bytes_delivered.saturating_sub(world.env.external.up_bytes),
            None => simulated.map(|(phone, _)| phone.uplink.link.counts().bytes).sum(),
        };
        Carried { down: all.saturating_sub(world.env.external.down_bytes), up }
    }
}
