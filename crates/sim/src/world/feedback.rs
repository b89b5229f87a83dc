use nodeb_base::event::{Site, TimerKind};

use super::World;
use super::connection_timers::Timer;
use super::control::Listener;
use super::hop::Port;

impl<T: Listener> World<T> {
    /// Samples the bandwidth if due, and delivers arrived messages; stopped once the proxy has the last ACK.
    pub(super) fn radio_network_feedback(&mut self, flow: u32) {
        let state = &mut self.flows[flow];
        let (Some(meter), Some(proxy)) = (&mut state.meter, &mut state.proxy) else {
            return;
        };
        if state.finished.is_some() {
            meter.stop();
            return;
        }
        let mut has_message = false;
        if meter.is_due(self.env.now) {
            let Port { hop, user } = self.phones[flow as usize].down;
            let bearer = self.hops.all[hop].hop();
            let bandwidth = bearer.bandwidth_meter();
            let available = bandwidth.and_then(|meter| meter.available_bytes(self.env.common.now, user));
            meter.sample(self.env.common.now, available, bearer.backlog(user).packets);
        }
        while let Some(message) = meter.arrived(self.env.now) {
            proxy.on_feedback(self.env.now, &message, &mut self.relayed);
            has_message = true;
        }
        state.timers.keep(&mut self.env, Timer::RadioNetworkFeedback, meter.timer());
        if has_message {
            self.emit_timer(Site::Proxy, flow, TimerKind::Feedback);
        }
        self.after_proxy(flow);
    }
}
