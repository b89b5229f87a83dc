//! One direction of a link, of whatever kind.

use super::link::{Link, LinkCounts};
use super::traced::{TracedLink, Usage};
use crate::context::Context;
use crate::engine::Key;
use crate::packet::Packet;
use crate::units::Time;

/// A link with a rate, or one that follows a recording.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every link has a rate, and is asked without a detour")]
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

    /// Packets waiting, the one in service on a link with a rate not counted.
    pub fn waiting(&self) -> usize {
        match self {
            Self::Rated(link) => link.waiting(),
            Self::Traced(link) => link.waiting(),
        }
    }

    /// Their bytes.
    pub fn waiting_bytes(&self) -> u64 {
        match self {
            Self::Rated(link) => link.waiting_bytes(),
            Self::Traced(link) => link.waiting_bytes(),
        }
    }

    /// What the link has done.
    pub fn counts(&self) -> LinkCounts {
        match self {
            Self::Rated(link) => link.counts,
            Self::Traced(link) => link.counts,
        }
    }

    /// What has become of its delivery opportunities by `now`, where it has any.
    pub fn usage(&mut self, now: Time) -> Option<Usage> {
        match self {
            Self::Rated(_) => None,
            Self::Traced(link) => Some(link.usage(now)),
        }
    }
}
