//! The numbers of the alarms in the agenda.

/// Whose alarm it is.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    WiredDown,
    WiredUp,
    Traffic(u32),
    Uplink(u32),
    RetransmissionTimer(u32),
    RequestTimer(u32),
    DelayedAck(u32),
    Bearer(u32),
}

/// Numbers of the alarms in the agenda: two for the wired link, five a flow, one a bearer.
#[derive(Clone, Copy, Debug)]
pub struct Alarms {
    pub flows: usize,
}

impl Alarms {
    pub const WIRED_DOWN: usize = 0;
    pub const WIRED_UP: usize = 1;

    pub fn count(self, bearers: usize) -> usize {
        2 + 5 * self.flows + bearers
    }

    pub fn traffic(flow: u32) -> usize {
        2 + 5 * flow as usize
    }

    pub fn uplink(flow: u32) -> usize {
        3 + 5 * flow as usize
    }

    pub fn retransmission_timer(flow: u32) -> usize {
        4 + 5 * flow as usize
    }

    pub fn request_timer(flow: u32) -> usize {
        5 + 5 * flow as usize
    }

    pub fn delayed_ack(flow: u32) -> usize {
        6 + 5 * flow as usize
    }

    pub fn bearer(self, bearer: u32) -> usize {
        2 + 5 * self.flows + bearer as usize
    }

    pub fn event(self, alarm: usize) -> Event {
        let flow = (alarm.wrapping_sub(2) / 5) as u32;
        match alarm {
            Self::WIRED_DOWN => Event::WiredDown,
            Self::WIRED_UP => Event::WiredUp,
            _ if flow as usize >= self.flows => Event::Bearer((alarm - 2 - 5 * self.flows) as u32),
            _ => match (alarm - 2) % 5 {
                0 => Event::Traffic(flow),
                1 => Event::Uplink(flow),
                2 => Event::RetransmissionTimer(flow),
                3 => Event::RequestTimer(flow),
                _ => Event::DelayedAck(flow),
            },
        }
    }
}
