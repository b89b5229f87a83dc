//! Owners of the timers in the event queue: the component that handles each timer's expiry.

/// The component that handles a timer's expiry.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Link of this number, towards the phones. Links are numbered from 0 at the server.
    Down(u32),
    /// Link of this number, towards the server. Links are numbered from 0 at the server.
    Up(u32),
    /// Packets that will arrive at phones over bearers whose arrivals are computed ahead of time.
    ToPhones,
    /// Packets that will arrive at the Node B over uplinks whose arrivals are computed ahead of time.
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
    /// Adds a timer of `owner` and returns the timer's index in the event queue.
    pub fn add(&mut self, owner: Owner) -> usize {
        self.0.push(owner);
        self.0.len() - 1
    }

    /// Returns the owner of the timer at index `timer` in the event queue.
    pub fn of(&self, timer: usize) -> Owner {
        self.0[timer]
    }

    /// Returns the number of timers.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
