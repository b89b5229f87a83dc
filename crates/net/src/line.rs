//! One direction of a link, of whatever kind.

use nodeb_base::context::Context;
use nodeb_base::engine::Key;
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::foresight::Unhappened;
use super::ingress::LinkCounts;
use super::link::Link;
use super::traced::{TracedLink, Usage};

/// A link with a rate, or one that follows a recording.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the usual one stands where it is used, without a pointer")]
pub enum Line {
    /// With a rate.
    Rated(Link),
    /// With delivery opportunities.
    Traced(Box<TracedLink>),
}

impl Line {
    /// Hands a packet to the link; `false` means that it is lost.
    #[inline]
    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        match self {
            Self::Rated(link) => link.accept(ctx, packet),
            Self::Traced(link) => link.accept(ctx, packet),
        }
    }

    /// The link with a rate.
    #[inline]
    pub fn rated(&mut self) -> Option<&mut Link> {
        match self {
            Self::Rated(link) => Some(link),
            Self::Traced(_) => None,
        }
    }

    /// Lets packets come ahead of time from now on, as [`Link::foresee`] says; false where that is not possible.
    pub fn foresee(&mut self) -> bool {
        self.rated().is_some_and(Link::foresee)
    }

    /// Returns true if packets come ahead of time.
    #[inline]
    pub fn is_foreseen(&self) -> bool {
        matches!(self, Self::Rated(link) if link.is_foreseen())
    }

    /// Ends foresight, as [`Link::settle`] says.
    pub fn settle(&mut self, end: Key) -> Unhappened {
        self.rated().map_or_else(Unhappened::default, |link| link.settle(end))
    }

    /// When [`Self::wake`] must be called next.
    #[inline]
    pub fn next_wake(&self) -> Option<Key> {
        match self {
            Self::Rated(link) => link.next_wake(),
            Self::Traced(link) => link.next_wake(),
        }
    }

    /// Does what is due under `key`; the packet that has come through, if one has.
    #[inline]
    pub fn wake(&mut self, ctx: &mut Context, key: Key) -> Option<Packet> {
        match self {
            Self::Rated(link) => link.wake(ctx, key),
            Self::Traced(link) => link.wake(ctx, key),
        }
    }

    /// What the link has done.
    pub fn counts(&self) -> LinkCounts {
        match self {
            Self::Rated(link) => link.counts(),
            Self::Traced(link) => link.counts(),
        }
    }

    /// Packets waiting for the transmitter.
    pub fn waiting(&self) -> usize {
        match self {
            Self::Rated(link) => link.waiting(),
            Self::Traced(link) => link.waiting(),
        }
    }

    /// Bytes of these.
    pub fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Rated(link) => link.waiting_bytes(),
            Self::Traced(link) => link.waiting_bytes(),
        }
    }

    /// What has become of its delivery opportunities by `now`, where it has any.
    pub fn usage(&mut self, now: Time) -> Option<Usage> {
        match self {
            Self::Rated(_) => None,
            Self::Traced(link) => Some(link.usage(now)),
        }
    }

    /// Bytes of packets that could have gone up to `now`.
    pub fn offered_by(&self, now: Time) -> f64 {
        match self {
            Self::Rated(link) => link.offered_by(now),
            Self::Traced(link) => link.offered_by(now) as f64,
        }
    }
}
