//! Of a world that is driven from outside; computed on demand, so that they add no work to packets. The
//! emulator takes them every 0.1 s.

use std::ops::Range;

use nodeb_air::Backlog;
use nodeb_base::{Error, Result};

use super::World;
use super::control::Listener;
use super::hop::Port;
use super::live::Live;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// See [`nodeb_air::Hop::backlog`].
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
    /// Delivered by uplinks.
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
        let backlog = |port: Port| world.hops.all[port.hop].backlog(port.user);
        let (down, up) = (backlog(phone.down), backlog(phone.up));
        let cqi = world.cqi(user);
        world.emit();
        Ok(Snapshot { down, up, cqi })
    }

    pub fn carried(&self) -> Carried {
        let World { hops, env, .. } = &self.world;
        let delivered = |range: &Range<usize>| -> u64 {
            hops.all[range.clone()].iter().map(|hop| hop.counts.bytes_delivered).sum()
        };
        Carried {
            down: delivered(&hops.bearers).saturating_sub(env.external.down_bytes),
            up: delivered(&hops.uplinks).saturating_sub(env.external.up_bytes),
        }
    }
}
