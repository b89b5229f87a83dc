//! One direction of a link, with a constant rate or with recorded delivery opportunities.

use nodeb_base::context::Context;
use nodeb_base::engine::Instant;
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;

use super::ingress::LinkCounts;
use super::link::Link;
use super::look_ahead::Overcount;
use super::traced::{TracedLink, Usage};

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the usual one stands where it is used, without a pointer")]
pub enum Line {
    Rated(Link),
    Traced(Box<TracedLink>),
}

impl Line {
    #[inline]
    pub fn accept(&mut self, ctx: &mut Context, packet: Packet) -> bool {
        match self {
            Self::Rated(link) => link.accept(ctx, packet),
            Self::Traced(link) => link.accept(ctx, packet),
        }
    }

    #[inline]
    pub fn rated(&mut self) -> Option<&mut Link> {
        match self {
            Self::Rated(link) => Some(link),
            Self::Traced(_) => None,
        }
    }

    /// Returns false if the link does not support look-ahead.
    pub fn look_ahead(&mut self) -> bool {
        self.rated().is_some_and(Link::look_ahead)
    }

    #[inline]
    pub fn looks_ahead(&self) -> bool {
        matches!(self, Self::Rated(link) if link.looks_ahead())
    }

    pub fn settle(&mut self, end: Time) -> Overcount {
        self.rated().map_or_else(Overcount::default, |link| link.settle(end))
    }

    /// See [`Link::next_wake`] and [`TracedLink::next_wake`].
    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        match self {
            Self::Rated(link) => link.next_wake(),
            Self::Traced(link) => link.next_wake(),
        }
    }

    #[inline]
    pub fn wake(&mut self, ctx: &mut Context, instant: Instant) -> Option<Packet> {
        match self {
            Self::Rated(link) => link.wake(ctx, instant),
            Self::Traced(link) => link.wake(ctx, instant),
        }
    }

    pub fn counts(&self) -> LinkCounts {
        match self {
            Self::Rated(link) => link.counts(),
            Self::Traced(link) => link.counts(),
        }
    }

    /// Includes a packet that is partly transmitted; 0 with look-ahead.
    pub fn waiting(&self) -> usize {
        match self {
            Self::Rated(link) => link.waiting(),
            Self::Traced(link) => link.waiting(),
        }
    }

    /// Includes a packet that is partly transmitted; 0 with look-ahead.
    pub fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Rated(link) => link.waiting_bytes(),
            Self::Traced(link) => link.waiting_bytes(),
        }
    }

    pub fn usage(&mut self, now: Time) -> Option<Usage> {
        match self {
            Self::Rated(_) => None,
            Self::Traced(link) => Some(link.usage(now)),
        }
    }

    /// If packets had always waited, without outages; each recorded opportunity carries one packet, whose
    /// additional header does not count.
    pub fn offered_by(&self, now: Time) -> f64 {
        match self {
            Self::Rated(link) => link.offered_by(now),
            Self::Traced(link) => link.offered_by(now) as f64,
        }
    }
}
