use super::Handover;
use super::trigger::Trigger;
use crate::cell::channel::Channel;
use crate::numerology::Numerology;

#[derive(Debug)]
pub struct Mobility {
    pub serving: usize,
    pub resumes: u64,
    trigger: Option<Box<Trigger>>,
}

impl Mobility {
    pub fn new(handover: Option<&Handover>, channel: &Channel, numerology: Numerology) -> Self {
        let trigger = |handover| Box::new(Trigger::new(handover, numerology));
        Self { serving: channel.serving(), resumes: 0, trigger: handover.map(trigger) }
    }

    pub fn moves(&self, channel: &mut Channel) -> bool {
        self.trigger.is_some() && channel.journey().is_some()
    }

    /// True if the user changes its cell now; no comparison while it is interrupted by an earlier change.
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

    pub fn reselect(&mut self, tti: u64, channel: &mut Channel) {
        if let (Some(trigger), Some(journey)) = (&mut self.trigger, channel.journey()) {
            trigger.forget();
            self.serving = journey.best(tti);
            journey.change(self.serving);
        }
    }
}
