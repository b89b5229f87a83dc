//! Component that handles the expiry of a timer in the event queue.

use nodeb_base::engine::{EventQueue, Order};
use nodeb_base::rng::Streams;

#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Link towards the phones, numbered from 0 at the server.
    Down(u32),
    /// Link towards the server, numbered from 0 at the server.
    Up(u32),
    Bearer(u32),
    /// Of this user's phone.
    Uplink(u32),
    /// Of all users.
    SharedUplink,
    /// A simulated one.
    Connection(u32),
}

/// More than there are links in a direction.
const LINKS: u32 = 1 << 16;

impl Owner {
    /// Links and bearers on the way of a packet from the server to the phone and back; timers have a phase of their
    /// own.
    fn order(self) -> Order {
        let (rank, user) = match self {
            Self::Down(at) => (at, 0),
            Self::Bearer(index) => (LINKS, index),
            Self::Uplink(user) => (LINKS + 1, user),
            Self::SharedUplink => (LINKS + 1, 0),
            Self::Up(at) => (3 * LINKS - at, 0),
            Self::Connection(flow) => (3 * LINKS + 1, flow),
        };
        Order { rank, user }
    }
}

/// By the timer's index in the event queue.
#[derive(Debug, Default)]
pub struct Owners(Vec<Owner>);

impl Owners {
    /// Index in the event queue.
    pub fn add(&mut self, owner: Owner) -> usize {
        self.0.push(owner);
        self.0.len() - 1
    }

    pub fn of(&self, timer: usize) -> Owner {
        self.0[timer]
    }

    pub fn event_queue(&self, streams: &Streams) -> EventQueue {
        EventQueue::new(self.0.iter().map(|owner| owner.order()).collect::<Vec<_>>(), streams)
    }
}
