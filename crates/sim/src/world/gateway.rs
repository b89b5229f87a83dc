//! The gateway between the server's network and the core network, where a proxy may stand.

use super::World;
use super::control::{Place, Tap};
use crate::engine::Key;
use crate::error::Result;
use crate::metrics::series::SegmentEvent;
use crate::packet::{Kind, Packet};

impl<T: Tap> World<'_, T> {
    pub(super) fn wake_wired_down(&mut self, key: Key) -> Result<()> {
        let packet = self.wired.down.wake(key, &mut self.agenda);
        if self.record.segments {
            for discarded in self.wired.down.link.take_discarded() {
                if self.flows[discarded.flow as usize].proxy.is_none() {
                    self.note_segment(discarded, SegmentEvent::Drop);
                }
            }
        }
        let Some(packet) = packet else {
            return Ok(());
        };
        let Some(proxy) = &mut self.flows[packet.flow as usize].proxy else {
            self.enter_core_down(packet, 0);
            return Ok(());
        };
        self.tap.packet(self.now, Place::ProxyToServer, &packet)?;
        proxy.agent.on_segment(self.now, &packet, &mut self.relayed);
        self.after_proxy(packet.flow)
    }

    /// A packet of a phone has come to the gateway.
    pub(super) fn reach_gateway_from_phone(&mut self, packet: Packet) -> Result<()> {
        let state = &mut self.flows[packet.flow as usize];
        let Some(proxy) = &mut state.proxy else {
            self.wired.up.accept(self.now, packet, &mut self.agenda);
            return Ok(());
        };
        self.tap.packet(self.now, Place::ProxyToPhone, &packet)?;
        proxy.agent.on_packet_of_phone(self.now, &packet, &mut self.relayed);
        if packet.kind == Kind::Ack {
            self.note_segment(packet, SegmentEvent::Ack);
        } else {
            state.requester.hear();
            self.agenda.set(state.alarms.request_timer, None);
        }
        self.after_proxy(packet.flow)
    }

    pub(super) fn proxy_timer(&mut self, flow: u32) -> Result<()> {
        if let Some(proxy) = &mut self.flows[flow as usize].proxy {
            proxy.agent.on_timer(self.now, &mut self.relayed);
        }
        self.after_proxy(flow)
    }

    /// Sends what a proxy has put out and keeps its timer.
    pub(super) fn after_proxy(&mut self, flow: u32) -> Result<()> {
        if let Some(proxy) = &self.flows[flow as usize].proxy {
            self.agenda.keep_time(proxy.alarm, proxy.agent.timer());
        }
        self.after_air_sender(flow);
        let mut relayed = std::mem::take(&mut self.relayed);
        for packet in relayed.down.drain(..) {
            self.tap.packet(self.now, Place::ProxyToPhone, &packet)?;
            self.note_segment(packet, SegmentEvent::Send);
            self.enter_core_down(packet, 0);
        }
        for packet in relayed.up.drain(..) {
            self.tap.packet(self.now, Place::ProxyToServer, &packet)?;
            self.wired.up.accept(self.now, packet, &mut self.agenda);
        }
        self.relayed = relayed;
        Ok(())
    }
}
