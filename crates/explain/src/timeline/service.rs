//! When a link or channel served whom.

use nodeb_base::event::{Place, Site};
use nodeb_base::units::{Duration, Time};

use super::packets::NONE;

/// A time of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub from: Time,
    pub sent: Time,
}

/// The times of service at each place; there are few.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    list: Vec<(Place, Lane)>,
    /// Where each place is in the list, by its code; [`NONE`] of those at which nothing was served.
    numbers: Vec<u32>,
}

/// A small number for a place: of bearers and uplinks there is the user's own only.
fn code(place: Place) -> usize {
    let number = if matches!(place.site, Site::Bearer | Site::Uplink) { 0 } else { place.index as usize };
    number * Site::ALL.len() + place.site as usize
}

impl Lanes {
    /// Those at a place, which may be new.
    #[inline]
    pub fn at(&mut self, place: Place) -> &mut Lane {
        let code = code(place);
        let known = self.numbers.get(code).copied().filter(|number| *number != NONE);
        let number = known.unwrap_or_else(|| self.add(place));
        &mut self.list[number as usize].1
    }

    #[cold]
    fn add(&mut self, place: Place) -> u32 {
        let code = code(place);
        self.numbers.resize(self.numbers.len().max(code + 1), NONE);
        self.numbers[code] = self.list.len() as u32;
        self.list.push((place, Lane::default()));
        self.numbers[code]
    }

    /// Those at a place, if there are any.
    pub fn get(&self, place: Place) -> Option<&Lane> {
        self.list.get(*self.numbers.get(code(place))? as usize).map(|(_, lane)| lane)
    }

    /// How long each was serving the flow's packets between two times; none that was not.
    pub fn busy(&self, begun: Time, ended: Time) -> impl Iterator<Item = (Place, Duration)> {
        let busy = move |lane: &Lane| {
            let within = |served: &Served| served.sent.min(ended).since(served.from.max(begun)).0;
            Duration(lane.own.iter().map(|(served, _)| within(served)).sum())
        };
        self.list.iter().map(move |(place, lane)| (*place, busy(lane))).filter(|(_, busy)| busy.0 > 0)
    }

    /// Forgets all that has been noted.
    pub fn forget(&mut self) {
        self.list.iter_mut().for_each(|(_, lane)| lane.forget());
    }
}

/// One place's times of service: those of the flow's packets with their stays there, and those of others.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub own: Vec<(Served, u32)>,
    /// In order of time, those that touch each other joined.
    pub others: Vec<Served>,
}

impl Lane {
    /// A packet of the flow is served; its turn.
    pub fn own(&mut self, served: Served, hop: u32) -> u32 {
        self.own.push((served, hop));
        self.own.len() as u32 - 1
    }

    /// Another packet is served.
    pub fn others(&mut self, served: Served) {
        match self.others.last_mut() {
            Some(last) if served.from <= last.sent => last.sent = last.sent.max(served.sent),
            _ => self.others.push(served),
        }
    }

    /// Forgets all that has been noted.
    pub fn forget(&mut self) {
        self.own.clear();
        let last = self.others.pop();
        self.others.clear();
        self.others.extend(last);
    }

    /// The last time of others that began before `time`, if it ended after `least`, within the two.
    pub fn others_before(&self, time: Time, least: Time) -> Option<Served> {
        let begun = self.others.partition_point(|served| served.from < time);
        let Served { from, sent } = *self.others[..begun].last()?;
        (sent > least).then(|| Served { from: from.max(least), sent: sent.min(time) })
    }

    /// The turn before one, with its stay.
    pub fn own_before(&self, turn: u32) -> Option<(u32, Served, u32)> {
        let before = if turn == NONE { None } else { turn.checked_sub(1) }?;
        let (served, hop) = self.own[before as usize];
        Some((before, served, hop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(from: u64, sent: u64) -> Served {
        Served { from: Time(from), sent: Time(sent) }
    }

    #[test]
    fn what_others_were_served_is_found_and_clipped() {
        let mut lane = Lane::default();
        for (from, sent) in [(0, 10), (10, 20), (30, 40)] {
            lane.others(served(from, sent));
        }
        assert_eq!(lane.others.len(), 2);
        assert_eq!(lane.others_before(Time(50), Time(0)), Some(served(30, 40)));
        assert_eq!(lane.others_before(Time(35), Time(32)), Some(served(32, 35)));
        assert_eq!(lane.others_before(Time(30), Time(5)), Some(served(5, 20)));
        assert_eq!(lane.others_before(Time(30), Time(20)), None);
    }
}
