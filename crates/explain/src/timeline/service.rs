//! Intervals of time in which links and channels transmitted packets.

use nodeb_base::event::{Place, Site, UplinkPassage};
use nodeb_base::units::{Duration, Time};

use super::packets::NONE;

/// Interval in which a packet is transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    pub from: Time,
    pub sent: Time,
}

/// Passage of a packet over a scheduled uplink, with the packet's stay there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Granted {
    pub passage: UplinkPassage,
    /// End of the last transmission of the block that completed the packet.
    pub sent: Time,
    /// Index of the packet's stay at the uplink (`Hop`).
    pub hop: u32,
}

/// Intervals of transmission at each link and channel.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    list: Vec<(Place, Lane)>,
    /// Index in `list` of each link and bearer, by its code ([`code`]); [`NONE`] for links and bearers that
    /// have served no packet.
    numbers: Vec<u32>,
}

/// Returns a small number that identifies a link or bearer in the timeline. Only the user's own bearer and
/// uplink are recorded, so the number omits the indices of bearers and uplinks.
fn code(place: Place) -> usize {
    let number = if matches!(place.site, Site::Bearer | Site::Uplink) { 0 } else { place.index as usize };
    number * Site::ALL.len() + place.site as usize
}

impl Lanes {
    /// Returns the intervals of transmission at a link or bearer. Adds an empty list first if there is none.
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

    /// Returns the intervals of transmission at a link or bearer, or `None` if it has served no packet.
    pub fn get(&self, place: Place) -> Option<&Lane> {
        self.list.get(*self.numbers.get(code(place))? as usize).map(|(_, lane)| lane)
    }

    /// Returns the time for which each link or bearer transmitted packets of the flow between `begun` and
    /// `ended`. Those for which this time is 0 are omitted.
    pub fn busy(&self, begun: Time, ended: Time) -> impl Iterator<Item = (Place, Duration)> {
        let busy = move |lane: &Lane| {
            let within = |served: &Served| served.sent.min(ended).since(served.from.max(begun)).0;
            Duration(lane.own.iter().map(|(served, _)| within(served)).sum())
        };
        self.list.iter().map(move |(place, lane)| (*place, busy(lane))).filter(|(_, busy)| busy.0 > 0)
    }

    /// Discards the intervals of all links and bearers, except the last interval of other packets at each of
    /// them.
    pub fn forget(&mut self) {
        self.list.iter_mut().for_each(|(_, lane)| lane.forget());
    }
}

/// Intervals of transmission at one link or bearer: those of the flow's packets (`own`), each with the index
/// of the packet's stay (`Hop`), and those of other packets (`others`).
#[derive(Debug, Default)]
pub(crate) struct Lane {
    pub own: Vec<(Served, u32)>,
    /// Intervals of other packets in the order of time; adjacent intervals are joined.
    pub others: Vec<Served>,
}

impl Lane {
    /// Adds the interval in which a packet of the flow is transmitted. `hop` is the index of the packet's
    /// stay at this link or bearer (`Hop`). Returns the index of the interval.
    pub fn own(&mut self, served: Served, hop: u32) -> u32 {
        self.own.push((served, hop));
        self.own.len() as u32 - 1
    }

    /// Adds the interval of a packet that does not belong to the flow.
    pub fn others(&mut self, served: Served) {
        match self.others.last_mut() {
            Some(last) if served.from <= last.sent => last.sent = last.sent.max(served.sent),
            _ => self.others.push(served),
        }
    }

    /// Discards all intervals except the last one of other packets.
    pub fn forget(&mut self) {
        self.own.clear();
        let last = self.others.pop();
        self.others.clear();
        self.others.extend(last);
    }

    /// Returns the last transmission interval of other packets that began before `time`, clipped to
    /// the range from `least` to `time`. Returns `None` if there is no such interval, or if it
    /// ended by `least`.
    pub fn others_before(&self, time: Time, least: Time) -> Option<Served> {
        let begun = self.others.partition_point(|served| served.from < time);
        let Served { from, sent } = *self.others[..begun].last()?;
        (sent > least).then(|| Served { from: from.max(least), sent: sent.min(time) })
    }

    /// Returns the flow's transmission just before that with the index `turn` in `own`: its index, its
    /// interval, and the index of its packet's stay (`Hop`). Returns `None` if `turn` is 0 or [`NONE`].
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
