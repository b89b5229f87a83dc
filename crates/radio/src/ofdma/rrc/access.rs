#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occasions {
    /// In TTIs.
    pub period: u64,
    /// Of each period, in which phones may send preambles.
    pub ttis: &'static [u8],
}

impl Occasions {
    /// At or after `from`.
    pub fn next(self, from: u64) -> u64 {
        (from..from + self.period).find(|&at| self.has(at)).unwrap_or(from)
    }

    pub fn has(self, at: u64) -> bool {
        self.ttis.contains(&((at % self.period) as u8))
    }
}

/// In TTIs.
#[derive(Clone, Debug)]
pub struct Access {
    pub paging_cycle: u64,
    pub frame: u64,
    /// With the paging occasion, in the frame.
    pub paging_tti: u64,
    pub occasions: Occasions,
    /// From a preamble to the connection.
    pub set_up: u64,
}

impl Access {
    /// From this TTI on, the phone paged at its first occasion can begin random access.
    pub fn paged(&self, id: u64, from: u64) -> u64 {
        let frame = id % (self.paging_cycle / self.frame);
        let position = frame * self.frame + self.paging_tti;
        from + (position + self.paging_cycle - from % self.paging_cycle) % self.paging_cycle + 1
    }

    /// First connected TTI if random access begins in `from`, in the first occasion for the preamble.
    pub fn connected(&self, from: u64) -> u64 {
        self.occasions.next(from) + self.set_up
    }
}
