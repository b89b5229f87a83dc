//! Component that handles the expiry of a timer in the event queue.

#[derive(Clone, Copy, Debug)]
pub enum Owner {
    /// Link towards the phones, numbered from 0 at the server.
    Down(u32),
    /// Link towards the server, numbered from 0 at the server.
    Up(u32),
    /// Arrivals computed ahead of time.
    ToPhones,
    /// Arrivals computed ahead of time.
    FromPhones,
    Bearer(u32),
    /// Of this user's phone.
    Uplink(u32),
    /// Of all users.
    SharedUplink,
    /// A simulated one.
    Connection(u32),
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

    /// Size of the event queue.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}
