//! Times at which links and channels served packets.

use nodeb_base::event::{Place, Site};
use nodeb_base::units::{Duration, Time};

use super::packets::NONE;

/// Time for which a packet is transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub from: Time,
    pub sent: Time,
}

/// Times of service at each place.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    list: Vec<(Place, Lane)>,
    /// Index in the list of each place, by its code; [`NONE`] for places that served no packet.
    numbers: Vec<u32>,
}

/// Returns a small code of a place. Of bearers and uplinks only the user's own is recorded.
fn code(place: Place) -> usize {
    let number = if matches!(place.site, Site::Bearer | Site::Uplink) { 0 } else { place.index as usize };
    number * Site::ALL.len() + place.site as usize
}

impl Lanes {
    /// Returns the times at a place, adding an empty list for a new place.
    #[inline]
    pub fn at(&mut self, place: Place) -> &mut Lane {
        let code = code(place);
        let found = self.numbers.get(code).copied().filter(|number| *number != NONE);
        let number = found.unwrap_or_else(|| self.add(place));
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

    /// Returns the times at a place, or `None` if it served no packet.
    pub fn get(&self, place: Place) -> Option<&Lane> {
        self.list.get(*self.numbers.get(code(place))? as usize).map(|(_, lane)| lane)
    }

    /// Returns the time for which each place served packets of the flow between two times, without places that served
    /// none.
    pub fn busy(&self, begun: Time, ended: Time) -> impl Iterator<Item = (Place, Duration)> {
        let busy = move |lane: &Lane| {
            let within = |served: &Served| served.sent.min(ended).since(served.from.max(begun)).0;
            Duration(lane.own.iter().map(|(served, _)| within(served)).sum())
        };
        self.list.iter().map(move |(place, lane)| (*place, busy(lane))).filter(|(_, busy)| busy.0 > 0)
    }

    /// Discards the recorded times of all places.
    pub fn forget(&mut self) {
        self.list.iter_mut().for_each(|(_, lane)| lane.forget());
    }
}

/// Times of service at one place: of the flow's packets with their stays there, and of other packets.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub own: Vec<(Served, u32)>,
    /// Times of service of other packets in order of time; adjacent ones are joined.
    pub others: Vec<Served>,
}

impl Lane {
    /// Adds a time of service of a packet of the flow. Returns its index.
    pub fn own(&mut self, served: Served, hop: u32) -> u32 {
        self.own.push((served, hop));
        self.own.len() as u32 - 1
    }

    /// Adds a time of service of another packet.
    pub fn others(&mut self, served: Served) {
        match self.others.last_mut() {
            Some(last) if served.from <= last.sent => last.sent = last.sent.max(served.sent),
            _ => self.others.push(served),
        }
    }

    /// Discards the recorded times, except the last one of other packets.
    pub fn forget(&mut self) {
        self.own.clear();
        let last = self.others.pop();
        self.others.clear();
        self.others.extend(last);
    }

    /// Returns the last time of other packets that began before `time`, clipped to `least` and `time`, or `None` if
    /// it ended by `least`.
    pub fn others_before(&self, time: Time, least: Time) -> Option<Served> {
        let begun = self.others.partition_point(|served| served.from < time);
        let Served { from, sent } = *self.others[..begun].last()?;
        (sent > least).then(|| Served { from: from.max(least), sent: sent.min(time) })
    }

    /// Returns the index, time and stay of the packet of the flow served before number `turn`.
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
    fn times_of_others_are_joined_and_clipped() {
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
