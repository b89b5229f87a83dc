//! Links as hops of one user, between hosts of the fixed network and in place of a radio.

use nodeb_base::context::{Context, Counts};
use nodeb_base::engine::Instant;
use nodeb_base::packet::Packet;
use nodeb_base::table::Table;
use nodeb_base::units::Time;
use nodeb_net::{Chain, Link, LinkCounts, TracedLink};

use super::{Backlog, BandwidthMeter, Hop};

/// `own` are the methods that only this kind of link has.
macro_rules! link_hop {
    ($link:ty { $($own:tt)* }) => {
        impl Hop for $link {
            fn accept(&mut self, ctx: &mut Context, _user: usize, packet: Packet) -> bool {
                Self::accept(self, ctx, packet)
            }

            fn next_wake(&self) -> Option<Instant> {
                Self::next_wake(self)
            }

            fn wake(&mut self, ctx: &mut Context, instant: Instant) {
                Self::wake(self, ctx, instant);
            }

            fn backlog(&self, _user: usize) -> Backlog {
                Backlog { packets: self.waiting(), bytes: self.waiting_bytes() }
            }

            fn links(&self) -> Vec<LinkCounts> {
                vec![self.counts()]
            }

            fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
                Some(self)
            }

            $($own)*
        }

        impl BandwidthMeter for $link {
            fn measure(&mut self, _user: usize) {}

            fn record(&mut self) {}

            fn available_bytes(&mut self, now: Time, _user: usize) -> Option<f64> {
                Some(self.offered_by(now))
            }
        }
    };
}

link_hop!(Link {
    fn chain(&mut self) -> Option<Chain> {
        Self::chain(self)
    }
});

link_hop!(TracedLink {
    fn tables(&mut self, now: Time) -> Vec<Table> {
        vec![self.table(now)]
    }
});

/// Its backlog is not known, as packets pass ahead of time.
impl Hop for Chain {
    #[inline]
    fn accept(&mut self, ctx: &mut Context, user: usize, packet: Packet) -> bool {
        Self::accept(self, ctx, user, packet)
    }

    #[inline]
    fn next_wake(&self) -> Option<Instant> {
        Self::next_wake(self)
    }

    #[inline]
    fn wake(&mut self, ctx: &mut Context, _instant: Instant) {
        Self::wake(self, ctx);
    }

    fn backlog(&self, _user: usize) -> Backlog {
        Backlog::default()
    }

    fn chain(&mut self) -> Option<Chain> {
        Some(std::mem::take(self))
    }

    fn links(&self) -> Vec<LinkCounts> {
        self.counts()
    }

    fn counts_of(&self, user: usize) -> Option<Counts> {
        Self::counts_of(self, user)
    }

    fn apply_deferred(&mut self, ctx: &mut Context) {
        Self::apply_deferred(self, ctx);
    }
}
