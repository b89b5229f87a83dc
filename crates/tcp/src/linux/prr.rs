//! RFC 6937, RFC 9937, in segments as in Linux 6 (`tcp_cwnd_reduction`): above the threshold the window
//! reaches it after a round trip; below, an ACK releases what it delivers or the difference of delivered and
//! sent, and one more on new data without new loss (6.2, `SafeACK`), up to the threshold.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prr {
    mss: u64,
    /// In segments.
    ssthresh: u64,
    /// `prior_cwnd`, in segments.
    before: u64,
    /// `prr_delivered`, in segments.
    delivered: u64,
    /// `prr_out`, in segments.
    out: u64,
    /// In bytes; a pause may lower it.
    cwnd: u64,
}

impl Prr {
    /// In bytes.
    pub fn new(mss: u64, ssthresh: u64, before: u64) -> Self {
        let segments = |bytes: u64| (bytes / mss).max(1);
        Self {
            mss,
            ssthresh: segments(ssthresh),
            before: segments(before),
            delivered: 0,
            out: 0,
            cwnd: before,
        }
    }

    /// Nothing unless it delivers; `safe` is `SafeACK` of RFC 9937.
    pub fn on_ack(&mut self, delivered: u64, pipe: u64, safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let in_flight = pipe.div_ceil(self.mss);
        let allowed = if in_flight > self.ssthresh {
            (self.ssthresh * self.delivered).div_ceil(self.before).saturating_sub(self.out)
        } else {
            let catching_up = self.delivered.saturating_sub(self.out).max(delivered);
            (catching_up + u64::from(safe)).min(self.ssthresh - in_flight)
        };
        // At least one segment may leave until the first segment of the recovery has been sent.
        let allowed = allowed.max(u64::from(self.out == 0));
        self.cwnd = pipe + allowed * self.mss;
    }

    /// Reduced after a pause.
    pub fn restart(&mut self, window: u64) {
        self.cwnd = self.cwnd.min(window);
    }

    pub fn on_sent(&mut self) {
        self.out += 1;
    }

    /// In bytes, at least one segment.
    pub fn cwnd(&self) -> u64 {
        self.cwnd.max(self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ACK that released each segment.
    fn sent_on(prr: &mut Prr, mut pipe: u64, acks: std::ops::RangeInclusive<u64>) -> Vec<u64> {
        let mut sent = Vec::new();
        for ack in acks {
            prr.on_ack(1, pipe, true);
            while pipe < prr.cwnd() {
                prr.on_sent();
                pipe += 1;
                sent.push(ack);
            }
            pipe -= 1;
        }
        sent
    }

    #[test]
    fn first_example_of_rfc_6937() {
        // By section 4, figure 1, of the RFC, the first of 20 segments is lost and Reno halves the
        // window to 10. The third ACK triggers the retransmission; then every second ACK releases a
        // segment.
        let mut prr = Prr::new(1, 10, 20);
        assert_eq!(sent_on(&mut prr, 18, 3..=15), [3, 5, 7, 9, 11, 13, 15]);
    }

    #[test]
    fn second_example_of_rfc_6937() {
        // By section 4, figure 2, of the RFC, segments 1 to 15 of 20 are lost. So little is in
        // flight that each ACK releases as much as it delivers and one segment more, as in slow
        // start.
        let mut prr = Prr::new(1, 10, 20);
        let (mut sent, mut pipe) = (Vec::new(), 4);
        for _ in 0..4 {
            prr.on_ack(1, pipe, true);
            let allowed = prr.cwnd() - pipe;
            sent.push(allowed);
            (0..allowed).for_each(|_| prr.on_sent());
            pipe += allowed - 1;
        }
        assert_eq!(sent, [2, 2, 2, 2]);
    }

    /// `tcp_cwnd_reduction`: `max(prr_delivered - prr_out, newly_acked_sacked)`, one more on new data without
    /// loss.
    #[test]
    fn ack_revealing_loss_releases_only_delivered_segments() {
        let mut prr = Prr::new(1, 10, 20);
        prr.on_sent();
        prr.on_ack(1, 4, false);
        assert_eq!(prr.cwnd(), 5);
        prr.on_ack(2, 4, false);
        assert_eq!(prr.cwnd(), 6);
        prr.on_ack(0, 4, true);
        assert_eq!(prr.cwnd(), 6, "no word of anything delivered");
    }

    #[test]
    fn prr_window_ends_at_threshold() {
        let mut prr = Prr::new(1, 70, 100);
        prr.on_ack(1, 99, true);
        prr.on_sent();
        // In the recovery 70 of the 100 segments in flight at the start are replaced, so the data
        // in flight falls to the threshold.
        assert_eq!(sent_on(&mut prr, 99, 2..=100).len() + 1, 70);
    }
}
