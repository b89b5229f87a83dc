//! Which packets of a flow are on their way.

use nodeb_base::packet::PacketId;

use super::packets::NONE;

/// Packets on their way, by the place that their identity names: the low half counts those on their way. Of each the
/// other half of its identity and its number, [`NONE`] where the place has no packet of the flow.
#[derive(Debug, Default)]
pub(super) struct Flying(Vec<(u32, u32)>);

impl Flying {
    fn place(id: PacketId) -> usize {
        id.0 as u32 as usize
    }

    /// A packet begins its way.
    pub fn insert(&mut self, id: PacketId, number: u32) {
        let place = Self::place(id);
        if self.0.len() <= place {
            self.0.resize(place + 1, (0, NONE));
        }
        self.0[place] = (id.number() as u32, number);
    }

    /// A packet's number, if it is on its way.
    #[inline]
    pub fn get(&self, id: PacketId) -> Option<u32> {
        let &(found, number) = self.0.get(Self::place(id))?;
        (u64::from(found) == id.number() && number != NONE).then_some(number)
    }

    /// A packet's way is over; its number.
    #[inline]
    pub fn remove(&mut self, id: PacketId) -> Option<u32> {
        let number = self.get(id)?;
        self.0[Self::place(id)].1 = NONE;
        Some(number)
    }

    /// The numbers of all.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(_, number)| *number).filter(|number| *number != NONE)
    }

    /// Gives all new numbers.
    pub fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        let known = self.0.iter_mut().filter(|(_, number)| *number != NONE);
        known.for_each(|(_, number)| *number = new(*number));
    }
}

/// The old numbers of the packets that were kept.
#[derive(Debug)]
pub(super) struct Kept(Vec<u32>);

impl Kept {
    /// Those with these old numbers, in order.
    pub fn of(old: Vec<u32>) -> Self {
        Self(old)
    }

    /// The old numbers, in order of the new.
    pub fn old(&self) -> &[u32] {
        &self.0
    }

    /// A packet's new number.
    pub fn renumbered(&self, old: u32) -> Option<u32> {
        self.0.binary_search(&old).ok().map(|new| new as u32)
    }
}
