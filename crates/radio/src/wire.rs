use nodeb_base::context::{Context, Output};
use nodeb_base::engine::Instant;
use nodeb_base::packet::Packet;
use nodeb_base::table::Table;
use nodeb_base::units::Time;
use nodeb_net::{Line, Link, OPPORTUNITIES, Overcount, UsageRow};

use super::{Backlog, BandwidthMeter, Bearer};

#[derive(Debug)]
pub struct WireBearer {
    /// With a constant rate or trace-driven.
    pub line: Line,
}

impl Bearer for WireBearer {
    fn accept(&mut self, ctx: &mut Context, _user: usize, packet: Packet) -> bool {
        self.line.accept(ctx, packet)
    }

    fn as_link(&mut self) -> Option<&mut Link> {
        self.line.rated()
    }

    fn next_wake(&self) -> Option<Instant> {
        self.line.next_wake()
    }

    fn wake(&mut self, ctx: &mut Context, instant: Instant) {
        if let Some(packet) = self.line.wake(ctx, instant) {
            ctx.out.push(Output::Arrived { user: 0, packet });
        }
    }

    fn backlog(&self, _user: usize) -> Backlog {
        Backlog { packets: self.line.waiting(), bytes: self.line.waiting_bytes() }
    }

    fn settle(&mut self, ctx: &mut Context) {
        let Overcount { taken, lost, overflowed, .. } = self.line.settle(ctx.now);
        ctx.counts.packets_in -= taken;
        ctx.counts.packets_dropped -= lost + overflowed;
    }

    fn tables(&mut self, now: Time) -> Vec<Table> {
        let row = |usage| OPPORTUNITIES.table(&[UsageRow { user: 0, direction: "down", usage }]);
        self.line.usage(now).map(row).into_iter().collect()
    }

    fn bandwidth_meter(&mut self) -> Option<&mut dyn BandwidthMeter> {
        Some(self)
    }
}

impl BandwidthMeter for WireBearer {
    fn measure(&mut self, _user: usize) {}

    fn record(&mut self) {}

    fn available_bytes(&mut self, now: Time, _user: usize) -> Option<f64> {
        Some(self.line.offered_by(now))
    }
}
