//! Owners of the timers in the event queue.

/// The component that handles a timer's expiry.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Link at this position from the server on, towards the phones.
    Down(u32),
    /// Link at this position from the server on, towards the server.
    Up(u32),
    /// Packets that arrive at phones over bearers whose arrivals are known ahead of time.
    ToPhones,
    /// Packets that arrive at the Node B over uplinks whose arrivals are known ahead of time.
    FromPhones,
    /// Bearer of this number.
    Bearer(u32),
    /// Uplink of this user.
    Uplink(u32),
    /// Connection of this user.
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
