//! Whose alarm is which in the agenda.

/// Whose alarm it is.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    WiredDown,
    WiredUp,
    /// The link of this position in the core network.
    CoreDown(u32),
    CoreUp(u32),
    Bearer(u32),
    Traffic(u32),
    Uplink(u32),
    RetransmissionTimer(u32),
    RequestTimer(u32),
    DelayedAck(u32),
    Proxy(u32),
    RadioNetworkFeedback(u32),
    Snoop(u32),
}

/// Gives every component its alarm: the events by the alarms' numbers.
#[derive(Debug, Default)]
pub struct Alarms(Vec<Event>);

impl Alarms {
    /// A new alarm that rings for `event`.
    pub fn add(&mut self, event: Event) -> usize {
        self.0.push(event);
        self.0.len() - 1
    }

    pub fn event(&self, alarm: usize) -> Event {
        self.0[alarm]
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
