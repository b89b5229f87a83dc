//! Passed separately from the scenario's text, since their lists may be long.

use std::sync::Arc;

use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::cell::channel::trace::Trace;
use nodeb_air::ue::Ue;
use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Rate, Size};
use nodeb_base::{Error, Result};
use nodeb_net::Opportunities;
use nodeb_radio::RadioSpec;

use super::{Scenario, UserGroup};
use crate::traffic::TrafficSpec;
use crate::traffic::replay::Replay;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Index in `users`.
    Group(usize),
    /// `radio.trace.down`.
    Down,
    /// `radio.trace.up`.
    Up,
    /// `radio.trace.light.down`.
    LightDown,
    /// `radio.trace.light.up`.
    LightUp,
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Group(group) => write!(f, "users.{group}"),
            Self::Down => f.write_str("radio.trace.down"),
            Self::Up => f.write_str("radio.trace.up"),
            Self::LightDown => f.write_str("radio.trace.light.down"),
            Self::LightUp => f.write_str("radio.trace.light.up"),
        }
    }
}

/// Of a channel, of traffic, or of delivery opportunities; the lists of the other two kinds are empty.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// In dB after one, two and three transmissions of a block.
    pub snrs_db: [Vec<f64>; 3],
    pub cqi: Vec<u8>,
    /// In bit/s.
    pub rates: Vec<u64>,
    /// In ns, counted from the user's start.
    pub times: Vec<u64>,
    /// One per time.
    pub bytes: Vec<u64>,
    /// Delivery opportunities.
    pub times_ms: Vec<u64>,
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
    /// # Errors
    ///
    /// [`Error::Scenario`] if the scenario has no recording at one of the positions, or the lists are invalid.
    pub fn attach(&mut self, recorded: Vec<(Spot, Recorded)>) -> Result<()> {
        for (spot, lists) in recorded {
            let missing = || {
                Error::Scenario(format!(
                    "{spot}: the scenario names no recording here; expected a recorded channel, traffic or trace"
                ))
            };
            self.put(spot, lists).ok_or_else(missing)?;
        }
        let mut check = Check::default();
        self.check(&mut check);
        let problem = check.into_problems().into_iter().next();
        problem.map_or(Ok(()), |problem| {
            Err(Error::Scenario(format!("{}: {}", problem.path.join("."), problem.message)))
        })
    }

    /// `None` if the scenario has no recording at `spot`.
    fn put(&mut self, spot: Spot, lists: Recorded) -> Option<()> {
        let Spot::Group(group) = spot else {
            opportunities(&mut self.radio, spot)?.times_ms = Arc::new(lists.times_ms);
            return Some(());
        };
        let group = self.users.get_mut(group)?;
        if lists.is_traffic() {
            lists.put_traffic(traffic(group)?);
        } else {
            lists.put_channel(channel(group)?);
        }
        Some(())
    }

    /// A recording for which the scenario names no file keeps its lists, as they could not be read again.
    #[must_use]
    pub fn without(&self, spots: &[Spot]) -> Self {
        let mut bare = self.clone();
        for spot in spots {
            let Spot::Group(group) = *spot else {
                let named = opportunities(&mut bare.radio, *spot).filter(|named| named.file.is_some());
                if let Some(named) = named {
                    named.times_ms = Arc::default();
                }
                continue;
            };
            let Some(place) = bare.users.get_mut(group) else { continue };
            if let Some(trace) = channel(place).filter(|trace| trace.file.is_some()) {
                Recorded::default().put_channel(trace);
            }
            if let Some(replay) = traffic(place).filter(|replay| replay.file.is_some()) {
                Recorded::default().put_traffic(replay);
            }
        }
        bare
    }

    /// Only if both name the same file at the same position and this one lacks the list.
    pub fn take_recorded(&mut self, from: &Self) {
        for (own, other) in self.users.iter_mut().zip(&from.users) {
            let mut other = other.clone();
            if let (Some(own), Some(other)) = (channel(own), channel(&mut other))
                && own.unread_file().is_some()
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
        let mut radio = from.radio.clone();
        for spot in [Spot::Down, Spot::Up, Spot::LightDown, Spot::LightUp] {
            if let (Some(own), Some(other)) =
                (opportunities(&mut self.radio, spot), opportunities(&mut radio, spot))
                && own.unread().is_some()
                && own.file == other.file
            {
                own.clone_from(other);
            }
        }
    }
}

fn opportunities(radio: &mut RadioSpec, spot: Spot) -> Option<&mut Opportunities> {
    let RadioSpec::Trace(trace) = radio else { return None };
    match spot {
        Spot::Down => Some(&mut trace.down),
        Spot::Up => trace.up.as_mut(),
        Spot::LightDown => trace.light.as_mut().map(|light| &mut light.down),
        Spot::LightUp => trace.light.as_mut()?.up.as_mut(),
        Spot::Group(_) => None,
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
