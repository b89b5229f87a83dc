//! Whose alarm is which in the agenda.

/// Whose alarm it is.
#[derive(Clone, Copy, Debug)]
pub enum Alarm {
    /// The link of this position from the server on.
    Down(u32),
    Up(u32),
    /// Packets that arrive in order over several bearers, or uplinks.
    ToPhones,
    FromPhones,
    Bearer(u32),
    Uplink(u32),
    /// The timers of a flow.
    Timers(u32),
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
