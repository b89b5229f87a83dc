//! Owners of the timers in the event queue.

/// The component that handles a timer's expiry.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// The link at this position from the server on, towards the phones.
    Down(u32),
    /// The same link's direction towards the server.
    Up(u32),
    /// Packets known to arrive at the first link or the core from several bearers or links, in order.
    ToPhones,
    FromPhones,
    Bearer(u32),
    /// The plain uplink of a phone.
    Uplink(u32),
    /// The timers of a connection.
    Connection(u32),
}

/// The owner of each timer, by the timer's index in the event queue.
#[derive(Debug, Default)]
pub struct Owners(Vec<Owner>);

impl Owners {
    /// Adds a timer and returns its index.
    pub fn add(&mut self, owner: Owner) -> usize {
        self.0.push(owner);
        self.0.len() - 1
    }

    /// Returns the owner of a timer.
    pub fn of(&self, timer: usize) -> Owner {
        self.0[timer]
    }

    /// Returns the number of timers.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
