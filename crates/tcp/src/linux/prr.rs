//! Proportional Rate Reduction (RFC 6937): how much may be sent on each ACK of a recovery.
//!
//! While more is in flight than the new threshold, sending is spread so that the window has come
//! down to it when one round trip is over. Below it, the slow-start reduction bound lets the
//! window catch up, but only after ACKs that acknowledge new data and reveal no new loss; others
//! get the conservative bound (as Linux has it, and RFC 9937, 6.2, `SafeACK`).

/// The state of one recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prr {
    mss: u64,
    ssthresh: u64,
    /// Bytes in flight when recovery began (`RecoverFS`).
    recover_fs: u64,
    /// Bytes delivered and sent since (`prr_delivered`, `prr_out`).
    delivered: u64,
    out: u64,
    /// What may be sent now (`sndcnt`).
    allowance: u64,
}

impl Prr {
    /// Begins a recovery with `recover_fs` bytes in flight; the first retransmission is free.
    pub fn new(mss: u64, ssthresh: u64, recover_fs: u64) -> Self {
        Self { mss, ssthresh, recover_fs: recover_fs.max(mss), delivered: 0, out: 0, allowance: mss }
    }

    /// Takes an ACK that delivers `delivered` bytes and leaves `pipe` in flight.
    pub fn on_ack(&mut self, delivered: u64, pipe: u64, safe: bool) {
        self.delivered += delivered;
        let allowance = if pipe > self.ssthresh {
            let share = u128::from(self.delivered) * u128::from(self.ssthresh);
            (share.div_ceil(u128::from(self.recover_fs)) as u64).saturating_sub(self.out)
        } else {
            let conservative = self.delivered.saturating_sub(self.out);
            let limit = if safe { conservative.max(delivered) + self.mss } else { conservative };
            limit.min(self.ssthresh - pipe)
        };
        self.allowance = if self.out == 0 { allowance.max(self.mss) } else { allowance };
    }

    /// Takes note of `bytes` sent.
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.allowance = self.allowance.saturating_sub(bytes);
    }

    /// Bytes in flight when the recovery began.
    #[cfg(test)]
    pub fn recover_fs(&self) -> u64 {
        self.recover_fs
    }

    /// Whether `bytes` may be sent.
    pub fn allows(&self, bytes: u64) -> bool {
        bytes <= self.allowance
    }

    /// The window that this amounts to with `pipe` bytes in flight.
    pub fn cwnd(&self, pipe: u64) -> u64 {
        (pipe + self.allowance).max(self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds one ACK of one segment for each number in `acks`; returns which let a segment go.
    fn sent_on(prr: &mut Prr, mut pipe: u64, acks: std::ops::RangeInclusive<u64>) -> Vec<u64> {
        let mut sent = Vec::new();
        for ack in acks {
            prr.on_ack(1, pipe, true);
            while prr.allows(1) {
                prr.on_sent(1);
                pipe += 1;
                sent.push(ack);
            }
            pipe -= 1;
        }
        sent
    }

    #[test]
    fn the_first_example_of_rfc_6937() {
        // Section 4, figure 1: the first of 20 segments is lost and Reno halves the window to 10.
        // The third ACK triggers the retransmission, then every second one lets a segment go.
        let mut prr = Prr::new(1, 10, 20);
        assert_eq!(sent_on(&mut prr, 18, 3..=15), [3, 5, 7, 9, 11, 13, 15]);
    }

    #[test]
    fn the_second_example_of_rfc_6937() {
        // Figure 2: segments 1 to 15 of 20 are lost. So little is in flight that each ACK lets one
        // segment go for what it delivers and one more, as in slow start.
        let mut prr = Prr::new(1, 10, 20);
        let mut sent = Vec::new();
        let mut pipe = 4;
        for _ in 0..4 {
            prr.on_ack(1, pipe, true);
            sent.push(prr.allowance);
            pipe = pipe + prr.allowance - 1;
            prr.on_sent(prr.allowance);
        }
        assert_eq!(sent, [2, 2, 2, 2]);
    }

    #[test]
    fn an_ack_that_reveals_loss_sends_no_more_than_it_delivers() {
        let mut prr = Prr::new(1, 10, 20);
        prr.on_sent(1);
        prr.on_ack(1, 4, false);
        assert_eq!(prr.allowance, 0);
        prr.on_ack(2, 4, false);
        assert_eq!(prr.allowance, 2);
    }

    #[test]
    fn the_window_ends_at_the_threshold() {
        let mut prr = Prr::new(1, 70, 100);
        prr.on_ack(1, 99, true);
        prr.on_sent(1);
        // 100 in flight, 70 sent in their place.
        assert_eq!(sent_on(&mut prr, 99, 2..=100).len() + 1, 70);
    }
}
