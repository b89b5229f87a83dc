//! Search for the critical path through an uplink whose resources the base station grants: waits
//! for a request and for a grant, and transmissions with hybrid ARQ.

use super::Walk;
use crate::cause::{Cause, Step};
use crate::timeline::Hop;

impl Walk<'_> {
    /// Goes back through a packet's stay at a scheduled uplink to its arrival there. Waits behind earlier packets of the
    /// phone count as waits for a request or grant.
    pub(super) fn stay_on_uplink(&mut self, stay: &Hop) {
        let place = stay.place;
        if let Some(&granted) = self.timeline.granted.get(stay.service as usize) {
            let begins = granted.sent - self.timeline.radio.tti.unwrap_or_default();
            self.to(granted.sent, Cause::Reordering, Step::Held, place);
            self.fixed(begins, Cause::Transmission, Step::Sends, place);
            self.to(granted.from, Cause::Harq, Step::RetransmissionAwaited, place);
            if let Some(first) = granted.first {
                // RLC retransmitted a part of the packet. This span includes the retransmission's request and grant.
                self.to(first.max(stay.entered), Cause::Rlc, Step::ReportAwaited, place);
                self.to(stay.entered, Cause::Grant, Step::GrantAwaited, place);
                return;
            }
            self.to(granted.asked.max(stay.entered), Cause::Grant, Step::GrantAwaited, place);
            self.to(stay.entered, Cause::Grant, Step::RequestAwaited, place);
        } else {
            // No request is recorded: the packet has not left the uplink, or left it before the record begins.
            self.to(stay.entered, Cause::Grant, Step::GrantAwaited, place);
        }
    }
}
