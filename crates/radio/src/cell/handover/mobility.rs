//! Serving cell of a user.

use super::Handover;
use super::trigger::Trigger;
use crate::cell::channel::Channel;
use crate::numerology::Numerology;

/// Serving cell of a user, and the state by which it changes.
#[derive(Debug)]
pub struct Mobility {
    /// Index of the cell that serves the user.
    pub serving: usize,
    /// First TTI in which the user may be served after its last change of cell; 0 before any change.
    pub resumes: u64,
    /// State of event 1D; `None` without handover.
    trigger: Option<Box<Trigger>>,
}

impl Mobility {
    /// Creates the state of a user with the given channel; `handover` is `None` without handover.
    pub fn new(handover: Option<&Handover>, channel: &Channel, numerology: Numerology) -> Self {
        let trigger = |handover| Box::new(Trigger::new(handover, numerology));
        Self { serving: channel.serving(), resumes: 0, trigger: handover.map(trigger) }
    }

    /// Returns true if handover is configured and the user moves, so that the user may change to another cell.
    pub fn moves(&self, channel: &mut Channel) -> bool {
        self.trigger.is_some() && channel.journey().is_some()
    }

    /// Compares the sites in TTI `tti`, unless the user is still interrupted by an earlier change of cell. Returns true
    /// if the user changes its cell now.
    pub fn compare(&mut self, tti: u64, channel: &mut Channel) -> bool {
        if tti >= self.resumes
            && let (Some(trigger), Some(journey)) = (&mut self.trigger, channel.journey())
            && let Some(site) = trigger.compare(tti, journey)
        {
            journey.change(site);
            self.serving = site;
            return true;
        }
        false
    }

    /// Assigns the user to the cell that it receives best in TTI `tti`, without an interruption.
    pub fn reselect(&mut self, tti: u64, channel: &mut Channel) {
        if let (Some(trigger), Some(journey)) = (&mut self.trigger, channel.journey()) {
            trigger.forget();
            self.serving = journey.best(tti);
            journey.change(self.serving);
        }
    }
}
