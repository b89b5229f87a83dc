use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Time};

/// Transmission time of a packet of `bytes` bytes: whole nanoseconds, and a remainder in units of 1
/// / `rate_bps` nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Airtime {
    bytes: u32,
    whole: Duration,
    remainder: u64,
}

/// The end of a transmission is stored with its fraction of a nanosecond, so that long busy periods do not
/// drift.
#[derive(Clone, Debug)]
pub struct Transmitter {
    rate_bps: u64,
    /// Whole nanoseconds, and a remainder in units of 1 / `rate_bps` nanoseconds.
    free_at: Time,
    remainder: u64,
    airtime: Airtime,
}

impl Transmitter {
    pub fn new(rate: Rate) -> Self {
        Self { rate_bps: rate.0, free_at: Time::ZERO, remainder: 0, airtime: Airtime::default() }
    }

    #[inline]
    pub fn free_at(&self) -> Time {
        self.free_at
    }

    /// End of a transmission from `start`, which must not be before the end of the previous one.
    #[inline]
    pub fn occupy(&mut self, start: Time, bytes: u32) -> Time {
        if self.free_at < start {
            self.remainder = 0;
        }
        let airtime = self.airtime(bytes);
        self.remainder += airtime.remainder;
        self.free_at = start + airtime.whole;
        if self.remainder >= self.rate_bps {
            self.remainder -= self.rate_bps;
            self.free_at += Duration(1);
        }
        self.free_at
    }

    /// This time is computed again only if the size differs from that of the previous packet.
    #[inline]
    fn airtime(&mut self, bytes: u32) -> Airtime {
        if self.airtime.bytes != bytes {
            let bits = u64::from(bytes) * 8 * NANOS_PER_S;
            let (whole, remainder) = (Duration(bits / self.rate_bps), bits % self.rate_bps);
            self.airtime = Airtime { bytes, whole, remainder };
        }
        self.airtime
    }

    /// Number of bytes that a transmitter that never pauses could have transmitted until `now`.
    pub fn offered_by(&self, now: Time) -> f64 {
        self.rate_bps as f64 * now.as_secs() / 8.0
    }
}
