//! How a world that is driven from outside stands: asked a few times a second, it costs packets nothing.

use nodeb_base::error::{Error, Result};
use nodeb_radio::Backlog;

use super::control::Listener;
use super::live::Live;

/// How a user stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// What waits for the user at its bearer, as [`nodeb_radio::Bearer::backlog`] says.
    pub down: Backlog,
    /// What waits for the user's uplink.
    pub up: Backlog,
    /// The CQI that the Node B has, where the radio has one.
    pub cqi: Option<f32>,
}

/// Bytes that all simulated users together were carried, from the beginning on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// By their bearers, to phones.
    pub down: u64,
    /// By their uplinks, from phones.
    pub up: u64,
}

impl<L: Listener> Live<L> {
    /// How a user stands now. Asking makes good what was put off, and changes nothing that happens after it.
    ///
    /// # Errors
    /// [`Error::Scenario`] when there is no such user.
    pub fn snapshot(&mut self, user: u32) -> Result<Snapshot> {
        let world = &mut self.world;
        let Some(phone) = world.phones.get(user as usize) else {
            return Err(Error::Scenario(format!("there is no user number {user}")));
        };
        let uplink = &phone.uplink.link;
        let up = Backlog { packets: uplink.waiting(), bytes: uplink.waiting_bytes() };
        let down = world.bearers[phone.bearer as usize].backlog(phone.position);
        let cqi = world.cqi(user);
        world.emit();
        Ok(Snapshot { down, up, cqi })
    }

    /// What simulated users were carried by now.
    pub fn carried(&self) -> Carried {
        let world = &self.world;
        let all: u64 = world.bearers.iter().map(|air| air.counts.bytes_delivered).sum();
        let simulated = world.phones.iter().zip(&world.flows.0).filter(|(_, flow)| flow.is_some());
        let up = simulated.map(|(phone, _)| phone.uplink.link.counts().bytes).sum();
        Carried { down: all.saturating_sub(world.env.external.down_bytes), up }
    }
}
