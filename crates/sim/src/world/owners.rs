//! Owners of the timers in the event queue. The owner of a timer is the component that handles its expiry.

/// Component that handles the expiry of a timer.
#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Link with this number in the direction towards the phones. Links are numbered from 0 at the server.
    Down(u32),
    /// Link with this number in the direction towards the server. Links are numbered from 0 at the server.
    Up(u32),
    /// Packets that will arrive at phones over bearers whose arrivals are computed ahead of time.
    ToPhones,
    /// Packets that will arrive at the Node B over uplinks whose arrivals are computed ahead of time.
    FromPhones,
    /// Radio bearer with this number, from 0.
    Bearer(u32),
    /// Uplink of the phone of the user with this number.
    Uplink(u32),
    /// Uplink that all users share.
    SharedUplink,
    /// Simulated connection with this number.
    Connection(u32),
}

/// Owner of each timer, by the timer's index in the event queue.
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

    /// Returns the number of timers, which is the size of the event queue.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
