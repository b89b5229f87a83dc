//! What the recordings say that a scenario names: lists that stay beside its text, since they may be long.

use std::sync::Arc;

use super::{Scenario, UserGroup};
use crate::check::{Check, Checked};
use crate::error::{Error, Result};
use crate::radio::cell::channel::ChannelSpec;
use crate::radio::cell::channel::trace::Trace;
use crate::radio::hsdpa::ue::Ue;
use crate::traffic::TrafficSpec;
use crate::traffic::replay::Replay;
use crate::units::{Duration, Rate, Size};

/// The lists of one recording of a group, of its channel or of its traffic; those that it does not have are
/// empty.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// SNRs in dB after one, two and three transmissions.
    pub snrs_db: [Vec<f64>; 3],
    /// CQIs.
    pub cqi: Vec<u8>,
    /// Bit rates in bit/s.
    pub rates: Vec<u64>,
    /// Times of traffic in ns.
    pub times: Vec<u64>,
    /// Its amounts in bytes.
    pub bytes: Vec<u64>,
}

impl Recorded {
    fn is_traffic(&self) -> bool {
        !self.times.is_empty()
    }

    fn put_channel(self, trace: &mut Trace) {
        let [first, second, third] = self.snrs_db;
        (trace.snrs_db, trace.second_db, trace.third_db) = (first.into(), second.into(), third.into());
        trace.cqi = Arc::new(self.cqi);
        trace.rates = Arc::new(self.rates.into_iter().map(Rate).collect());
    }

    fn put_traffic(self, replay: &mut Replay) {
        replay.times = Arc::new(self.times.into_iter().map(Duration).collect());
        replay.bytes = Arc::new(self.bytes.into_iter().map(Size).collect());
    }
}

impl Scenario {
    /// Puts the lists of recordings into their groups.
    ///
    /// # Errors
    /// [`Error::Scenario`] where there is no such group or recording, or the lists make no sense.
    pub fn attach(&mut self, recorded: Vec<(usize, Recorded)>) -> Result<()> {
        for (group, lists) in recorded {
            let missing = || Error::Scenario(format!("users.{group}: there is no recording to fill"));
            let place = self.users.get_mut(group).ok_or_else(missing)?;
            if lists.is_traffic() {
                lists.put_traffic(traffic(place).ok_or_else(missing)?);
            } else {
                lists.put_channel(channel(place).ok_or_else(missing)?);
            }
        }
        let mut check = Check::default();
        self.check(&mut check);
        let problem = check.into_problems().into_iter().next();
        problem.map_or(Ok(()), |problem| {
            Err(Error::Scenario(format!("{}: {}", problem.path.join("."), problem.message)))
        })
    }

    /// The scenario without the lists of recordings that these groups name.
    #[must_use]
    pub fn without(&self, groups: &[usize]) -> Self {
        let mut bare = self.clone();
        for group in groups {
            let Some(place) = bare.users.get_mut(*group) else { continue };
            if let Some(trace) = channel(place).filter(|trace| trace.file.is_some()) {
                Recorded::default().put_channel(trace);
            }
            if let Some(replay) = traffic(place).filter(|replay| replay.file.is_some()) {
                Recorded::default().put_traffic(replay);
            }
        }
        bare
    }

    /// Takes over the lists that another scenario has from the same files in the same groups.
    pub fn take_recorded(&mut self, from: &Self) {
        for (own, other) in self.users.iter_mut().zip(&from.users) {
            let mut other = other.clone();
            if let (Some(own), Some(other)) = (channel(own), channel(&mut other))
                && own.unread().is_some()
                && own.file == other.file
            {
                *own = Trace { at_end: own.at_end, ..other.clone() };
            }
            if let (Some(own), Some(other)) = (traffic(own), traffic(&mut other))
                && own.unread().is_some()
                && own.file == other.file
            {
                own.clone_from(other);
            }
        }
    }
}

fn channel(group: &mut UserGroup) -> Option<&mut Trace> {
    match &mut group.ue {
        Some(Ue { channel: ChannelSpec::Trace(trace), .. }) => Some(trace),
        _ => None,
    }
}

fn traffic(group: &mut UserGroup) -> Option<&mut Replay> {
    if let Some(TrafficSpec::Replay(replay)) = &mut group.traffic { Some(replay) } else { None }
}
