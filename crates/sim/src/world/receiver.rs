//! At the phone in a download, at the server in an upload.

use nodeb_base::context::Common;
use nodeb_base::event::Event;
use nodeb_tcp::segment::Segment;

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use super::flow::Flow;
use crate::scenario::Direction;

impl Flow {
    /// Also records the progress of the transfers; the ACK to send now.
    #[expect(clippy::inline_always, reason = "a call would cost each packet of a download 30 instructions")]
    #[inline(always)]
    pub fn on_data(&mut self, common: &mut Common, flow: u32, segment: &Segment) -> Option<Segment> {
        let ack = self.receiver.on_segment(common.now, segment);
        let delivered = self.receiver.delivered_bytes();
        self.metrics.on_delivery(common.now, delivered, self.demand.bytes);
        let (now, sink) = (common.now, &mut common.sink);
        self.demand.arrive(now, delivered, |bytes| sink.emit(now, Event::Arrived { flow, bytes }));
        if self.downloaded.is_none() && Some(delivered) == self.total_bytes {
            self.downloaded = Some(now);
        }
        ack
    }
}

impl<T: Listener> World<T> {
    /// Arms the timer for delayed ACKs.
    #[expect(clippy::inline_always, reason = "a call would cost each packet of a download 30 instructions")]
    #[inline(always)]
    pub(super) fn after_receiver(&mut self, flow: u32, ack: Option<Segment>) {
        let state = &mut self.flows[flow];
        let direction = state.direction;
        state.timers.keep(&mut self.env, Timer::DelayedAck, state.receiver.timer());
        if let Some(ack) = ack {
            match direction {
                Direction::Down => self.send_up(&ack),
                Direction::Up => self.send_upload_ack(&ack),
            }
        }
    }

    // Not inlined, so that a packet of a download costs only one additional comparison.
    #[inline(never)]
    fn send_upload_ack(&mut self, ack: &Segment) {
        self.send_down(ack);
    }

    // Not inlined, so that a packet of a download costs only one additional comparison.
    #[inline(never)]
    pub(super) fn receive_upload_data(&mut self, flow: u32, segment: &Segment) {
        let ack = self.flows[flow].on_data(&mut self.env.common, flow, segment);
        self.after_receiver(flow, ack);
    }
}
