use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Place, Purpose, Record, SendLimit, Sink, Site, TimerKind};
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;
use nodeb_tcp::segment::{Kind, Segment};

use super::World;
use super::control::Listener;
use super::flow::Flow;
use super::hop::Port;
use super::recorder::Recorder;

/// Only changes: loss recovery state, and expiry of the retransmission timer, of the sender over the radio.
#[cold]
fn emit_recovery(sink: &mut Sink, now: Time, flow: u32, state: &mut Flow) {
    let (recovery, at) = (state.air_sender().recovery(), state.air_sender().timer());
    if state.emitted.recovery.replace(recovery).unwrap_or_default() != recovery {
        sink.emit(now, Event::Recovery { flow, state: recovery });
    }
    if std::mem::replace(&mut state.emitted.timer, at) != at {
        sink.emit(now, Event::Timer { flow, at });
    }
}

fn purpose(kind: Kind) -> Purpose {
    match kind {
        Kind::Connect => Purpose::Connect,
        Kind::Request => Purpose::Request,
        Kind::Data => Purpose::Data,
        Kind::Ack => Purpose::Ack,
    }
}

pub struct Listeners<T> {
    pub recorder: Recorder,
    listener: T,
    /// The caller's listener gets no more events.
    pub is_over: bool,
}

impl<T: Listener> Listeners<T> {
    pub fn new(recorder: Recorder, listener: T) -> Self {
        Self { recorder, listener, is_over: false }
    }

    pub fn mask(&self) -> Mask {
        self.recorder.mask().or(self.listener.mask())
    }

    /// `segment` if the events are about one packet of simulated TCP.
    #[inline]
    fn on_events(&mut self, events: &[Record], segment: Option<&Segment>) {
        let is_alone = self.recorder.mask() == Mask::NONE && !self.is_over;
        for (at, event) in events {
            // If the recorder subscribes to no events, all events in the list are for the listener, so that its mask
            // need not be checked.
            let flow = if is_alone {
                self.listener.on_event(*at, event, segment)
            } else {
                self.dispatch(*at, event, segment)
            };
            if flow.is_break() {
                self.is_over = true;
                return;
            }
        }
    }

    fn dispatch(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        self.recorder.on_event(at, event);
        if !self.is_over && self.listener.mask().has(event.class()) {
            self.listener.on_event(at, event, segment)
        } else {
            ControlFlow::Continue(())
        }
    }
}

impl<T: Listener> World<T> {
    #[inline]
    pub(super) fn emit(&mut self) {
        if !self.env.sink.is_empty() {
            self.emit_all();
        }
    }

    #[cold]
    fn emit_all(&mut self) {
        let sink = &mut self.env.common.sink;
        self.listeners.on_events(sink.kept(), None);
        sink.clear();
    }

    /// After all earlier events.
    #[cold]
    fn emit_packet(&mut self, event: Event, segment: Option<&Segment>) {
        self.emit();
        self.listeners.on_events(&[(self.env.now, event)], segment);
    }

    /// With [`Event::Sent`].
    #[inline]
    pub(super) fn launch(&mut self, site: Site, segment: &Segment) -> Packet {
        let packet = self.env.in_flight.launch(segment);
        if self.env.sink.wants(Mask::PACKETS) {
            let &Segment { flow, kind, size, seq, retransmission: again, .. } = segment;
            let place = Place::new(site, flow);
            let (packet, purpose) = (packet.id, purpose(kind));
            self.emit_packet(Event::Sent { place, packet, flow, purpose, size, seq, again }, Some(segment));
        }
        packet
    }

    /// With [`Event::Received`]; the connection, or the user for a packet from outside.
    #[inline]
    pub(super) fn receive(&mut self, site: Site, packet: &Packet) -> u32 {
        let flow = self.env.in_flight.flow(packet);
        if self.env.sink.wants(Mask::PACKETS) {
            let segment = self.env.in_flight.segment(packet).copied();
            let event = Event::Received { place: Place::new(site, flow), packet: packet.id };
            self.emit_packet(event, segment.as_ref());
        }
        flow
    }

    #[inline]
    pub(super) fn emit_queue(&mut self, flow: u32) {
        if self.env.sink.wants(Mask::QUEUE) {
            self.emit_backlog(flow);
        }
    }

    #[cold]
    fn emit_backlog(&mut self, flow: u32) {
        let Port { hop, user } = self.phone_of(flow).down;
        let bearer = &self.hops.all[hop];
        let (backlog, bearer) = (bearer.backlog(user), bearer.number());
        let (packets, bytes) = (backlog.packets as u32, backlog.bytes);
        self.env.emit(Event::Queue { bearer, user: user as u32, packets, bytes });
    }

    #[inline]
    pub(super) fn emit_timer(&mut self, site: Site, flow: u32, timer: TimerKind) {
        if self.env.sink.wants(Mask::DECISIONS) {
            let place = Place::new(site, flow);
            self.env.emit(Event::TimerExpired { place, flow, timer });
        }
    }

    #[inline]
    pub(super) fn emit_proxy_timers(&mut self, flow: u32) {
        if !self.env.sink.wants(Mask::DECISIONS) {
            return;
        }
        let proxy = self.flows[flow].proxy.as_ref();
        let timers: Vec<_> = proxy.into_iter().flat_map(|proxy| proxy.expired_timers(self.env.now)).collect();
        for timer in timers {
            self.emit_timer(Site::Proxy, flow, timer);
        }
    }

    /// If it has changed since it was last emitted.
    #[inline]
    pub(super) fn emit_send_limit(&mut self, site: Site, flow: u32) {
        if !self.env.sink.wants(Mask::DECISIONS) {
            return;
        }
        let state = &mut self.flows[flow];
        let (limit, last): (SendLimit, &mut SendLimit) = match site {
            Site::Proxy => (state.air_sender().send_limit(), &mut state.emitted.limits[1]),
            _ => (state.sender.send_limit(), &mut state.emitted.limits[0]),
        };
        if std::mem::replace(last, limit) != limit {
            let place = Place::new(site, flow);
            self.env.emit(Event::SendLimit { place, flow, limit });
        }
    }

    /// Of the sender over the radio: a new round-trip time, and window, recovery state and timer if they have
    /// changed.
    #[inline]
    pub(super) fn emit_sender(&mut self, flow: u32) {
        let (now, sink) = (self.env.now, &mut self.env.common.sink);
        let state = &mut self.flows[flow];
        if sink.wants(Mask::ROUND_TRIPS)
            && let Some(rtt) = state.air_sender_mut().take_rtt_sample()
        {
            sink.emit(now, Event::RoundTrip { flow, rtt });
        }
        if sink.wants(Mask::WINDOW) {
            let window = state.air_sender().window();
            if state.emitted.window.replace(window) != Some(window) {
                sink.emit(now, Event::Window { flow, cwnd: window.cwnd, ssthresh: window.ssthresh });
            }
        }
        if sink.wants(Mask::RECOVERY) {
            emit_recovery(sink, now, flow, state);
        }
    }
}
