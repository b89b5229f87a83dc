use nodeb_base::packet::PacketId;

use super::packets::NONE;

/// By [`PacketId::place`], the lower half of the identifier: the upper half, and the number in the timeline
/// or [`NONE`].
#[derive(Debug, Default)]
pub(super) struct InFlight(Vec<(u32, u32)>);

impl InFlight {
    fn place(id: PacketId) -> usize {
        id.0 as u32 as usize
    }

    pub fn insert(&mut self, id: PacketId, number: u32) {
        let place = Self::place(id);
        if self.0.len() <= place {
            self.0.resize(place + 1, (0, NONE));
        }
        self.0[place] = (id.number() as u32, number);
    }

    #[inline]
    pub fn get(&self, id: PacketId) -> Option<u32> {
        let &(found, number) = self.0.get(Self::place(id))?;
        (u64::from(found) == id.number() && number != NONE).then_some(number)
    }

    #[inline]
    pub fn remove(&mut self, id: PacketId) -> Option<u32> {
        let number = self.get(id)?;
        self.0[Self::place(id)].1 = NONE;
        Some(number)
    }

    /// In no particular order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|(_, number)| *number).filter(|number| *number != NONE)
    }

    pub fn renumber(&mut self, new: impl Fn(u32) -> u32) {
        let packets = self.0.iter_mut().filter(|(_, number)| *number != NONE);
        packets.for_each(|(_, number)| *number = new(*number));
    }
}

/// Old numbers of the packets kept, in ascending order.
#[derive(Debug)]
pub(super) struct Renumbering(Vec<u32>);

impl Renumbering {
    /// In ascending order.
    pub fn of(old: Vec<u32>) -> Self {
        Self(old)
    }

    pub fn old(&self) -> &[u32] {
        &self.0
    }

    /// `None` if it was not kept.
    pub fn renumbered(&self, old: u32) -> Option<u32> {
        self.0.binary_search(&old).ok().map(|new| new as u32)
    }
}
