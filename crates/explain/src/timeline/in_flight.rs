//! Set of the packets of a flow that are in flight, with their numbers in the timeline.

use nodeb_base::packet::PacketId;

use super::packets::NONE;

/// Packets of the flow in flight, indexed by [`PacketId::place`], the lower half of the packet
/// identifier. An element has the upper half of the identifier, and the packet's number in the
/// timeline or [`NONE`].
#[derive(Debug, Default)]
pub(super) struct InFlight(Vec<(u32, u32)>);

impl InFlight {
    fn place(id: PacketId) -> usize {
        id.0 as u32 as usize
    }

    /// Adds a packet whose number in the timeline is `number`.
    pub fn insert(&mut self, id: PacketId, number: u32) {
        let place = Self::place(id);
        if self.0.len() <= place {
            self.0.resize(place + 1, (0, NONE));
        }
        self.0[place] = (id.number() as u32, number);
    }

    /// Returns the number of a packet in the timeline, or `None` if the packet is not in flight or
    /// belongs to another flow.
    #[inline]
    pub fn get(&self, id: PacketId) -> Option<u32> {
        let &(found, number) = self.0.get(Self::place(id))?;
        (u64::from(found) == id.number() && number != NONE).then_some(number)
    }

    /// Removes a packet and returns its number in the timeline, or `None` if the packet is not in
    /// flight or belongs to another flow.
    #[inline]
    pub fn remove(&mut self, id: PacketId) -> Option<u32> {
        let number = self.get(id)?;
        self.0[Self::place(id)].1 = NONE;
        Some(number)
    }

    /// Returns the numbers of all packets in flight, in no particular order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(_, number)| *number).filter(|number| *number != NONE)
    }

    /// Renumbers the packets in flight: a packet with number `n` gets the number `new(n)`.
    pub fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        let packets = self.0.iter_mut().filter(|(_, number)| *number != NONE);
        packets.for_each(|(_, number)| *number = new(*number));
    }
}

/// Old numbers, in ascending order, of the packets that were kept. The new number of a packet is
/// its index in this list.
#[derive(Debug)]
pub(super) struct Renumbering(Vec<u32>);

impl Renumbering {
    /// Creates a renumbering from the old numbers of the kept packets, which must be in ascending
    /// order.
    pub fn of(old: Vec<u32>) -> Self {
        Self(old)
    }

    /// Returns the old numbers of the kept packets, indexed by the new numbers.
    pub fn old(&self) -> &[u32] {
        &self.0
    }

    /// Returns a packet's new number, or `None` if it was not kept.
    pub fn renumbered(&self, old: u32) -> Option<u32> {
        self.0.binary_search(&old).ok().map(|new| new as u32)
    }
}
