use nodeb_base::event::{Place, Site, UplinkPassage};
use nodeb_base::units::{Duration, Time};

use super::packets::NONE;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub from: Time,
    pub sent: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granted {
    pub passage: UplinkPassage,
    /// End of the last transmission of the block that completed the packet.
    pub sent: Time,
    /// Index of the stay at the uplink.
    pub hop: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Lanes {
    list: Vec<(Place, Lane)>,
    /// Index in `list` by [`code`], or [`NONE`].
    numbers: Vec<u32>,
}

/// Only the user's own bearer and uplink are recorded, so indices of bearers and uplinks are omitted.
fn code(place: Place) -> usize {
    let number = if matches!(place.site, Site::Bearer | Site::Uplink) { 0 } else { place.index as usize };
    number * Site::ALL.len() + place.site as usize
}

impl Lanes {
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

    pub fn get(&self, place: Place) -> Option<&Lane> {
        self.list.get(*self.numbers.get(code(place))? as usize).map(|(_, lane)| lane)
    }

    /// Without those that sent none.
    pub fn busy(&self, begun: Time, ended: Time) -> impl Iterator<Item = (Place, Duration)> {
        let busy = move |lane: &Lane| {
            let within = |served: &Served| served.sent.min(ended).since(served.from.max(begun)).0;
            Duration(lane.own.iter().map(|(served, _)| within(served)).sum())
        };
        self.list.iter().map(move |(place, lane)| (*place, busy(lane))).filter(|(_, busy)| busy.0 > 0)
    }

    /// Except the last interval of other packets.
    pub fn forget(&mut self) {
        self.list.iter_mut().for_each(|(_, lane)| lane.forget());
    }
}

/// `own` has the flow's packets, with the index of the stay (`Hop`).
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub own: Vec<(Served, u32)>,
    /// In the order of time; adjacent intervals are joined.
    pub others: Vec<Served>,
}

impl Lane {
    /// `hop` is the packet's stay; the index of the interval.
    pub fn own(&mut self, served: Served, hop: u32) -> u32 {
        self.own.push((served, hop));
        self.own.len() as u32 - 1
    }

    pub fn others(&mut self, served: Served) {
        match self.others.last_mut() {
            Some(last) if served.from <= last.sent => last.sent = last.sent.max(served.sent),
            _ => self.others.push(served),
        }
    }

    /// Except the last one of other packets.
    pub fn forget(&mut self) {
        self.own.clear();
        let last = self.others.pop();
        self.others.clear();
        self.others.extend(last);
    }

    /// Last one begun before `time`, clipped to `least` to `time`.
    pub fn others_before(&self, time: Time, least: Time) -> Option<Served> {
        let begun = self.others.partition_point(|served| served.from < time);
        let Served { from, sent } = *self.others[..begun].last()?;
        (sent > least).then(|| Served { from: from.max(least), sent: sent.min(time) })
    }

    /// Index, interval and stay (`Hop`) of the flow's transmission before `turn`.
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
