//! Whose alarm is which in the agenda.

/// Whose alarm it is.
#[derive(Clone, Copy, Debug)]
pub enum Alarm {
    /// The link of this position from the server on.
    Down(u32),
    Up(u32),
    Bearer(u32),
    Traffic(u32),
    /// A server that works on its answer.
    Server(u32),
    Uplink(u32),
    RetransmissionTimer(u32),
    RequestTimer(u32),
    DelayedAck(u32),
    Proxy(u32),
    RadioNetworkFeedback(u32),
    Snoop(u32),
}

/// Gives every component its alarm: whose it is, by the alarms' numbers in the agenda.
#[derive(Debug, Default)]
pub struct Alarms(Vec<Alarm>);

impl Alarms {
    /// The number of a new alarm.
    pub fn add(&mut self, alarm: Alarm) -> usize {
        self.0.push(alarm);
        self.0.len() - 1
    }

    /// Whose alarm has this number.
    pub fn of(&self, number: usize) -> Alarm {
        self.0[number]
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }
}
