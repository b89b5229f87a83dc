//! Signalling before packets, and packets of the users in turn.

use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Time};

use super::cell::Cell;
use super::params::FachDch;

/// Rounded up to whole nanoseconds, so that a channel loaded to its full rate is always busy.
pub fn air_time(bytes: u64, rate: Rate) -> Duration {
    Duration((bytes * 8 * NANOS_PER_S).div_ceil(rate.0))
}

/// Equal packets at equal intervals, the first at time zero.
#[derive(Debug)]
struct Signalling {
    bits: u64,
    rate: Rate,
    air_time: Duration,
    sent: u64,
}

impl Signalling {
    fn next(&self) -> Time {
        let nanos = u128::from(self.sent) * u128::from(self.bits) * u128::from(NANOS_PER_S);
        Time((nanos / u128::from(self.rate.0)) as u64)
    }
}

/// Without users' packets no events are scheduled for signalling; when one is to be sent, all signalling due
/// until then is accounted for at once.
#[derive(Debug)]
pub struct Fach {
    rate: Rate,
    signalling: Option<Signalling>,
    free_at: Time,
    /// A call of [`Self::finish`] is scheduled.
    is_busy: bool,
    /// `None` while signalling is sent or the FACH is idle.
    sending: Option<usize>,
    /// The one after the user served last.
    next_user: usize,
}

impl Fach {
    pub fn new(params: &FachDch, next_user: usize) -> Self {
        let signalling = (params.signalling_rate.0 > 0).then(|| Signalling {
            bits: params.signalling_size.0 * 8,
            rate: params.signalling_rate,
            air_time: air_time(params.signalling_size.0, params.fach_rate),
            sent: 0,
        });
        Self {
            rate: params.fach_rate,
            signalling,
            free_at: Time::ZERO,
            is_busy: false,
            sending: None,
            next_user,
        }
    }

    /// `None` if signalling was sent.
    pub fn finish(&mut self) -> Option<usize> {
        self.is_busy = false;
        self.sending.take()
    }

    /// With the end of the transmission.
    pub fn on_air(&self) -> Option<(usize, Time)> {
        self.sending.map(|user| (user, self.free_at))
    }

    /// End of the transmission, for [`Self::finish`]; `None` if it was not called yet for an earlier one, or
    /// no user on the FACH has a packet.
    pub fn serve(&mut self, now: Time, cell: &mut Cell) -> Option<Time> {
        if self.is_busy {
            return None;
        }
        let user = cell.next_on_fach(self.next_user)?;
        self.signal_until(now);
        if self.free_at <= now {
            self.sending = Some(user);
            self.next_user = user + 1;
            self.free_at = now + air_time(cell.begin_packet(user), self.rate);
        }
        self.is_busy = true;
        Some(self.free_at)
    }

    /// Started at or before `now`; makes the FACH busy until `free_at`.
    fn signal_until(&mut self, now: Time) {
        let Some(signalling) = &mut self.signalling else {
            return;
        };
        loop {
            let begin = signalling.next().max(self.free_at);
            if begin > now {
                return;
            }
            self.free_at = begin + signalling.air_time;
            signalling.sent += 1;
        }
    }
}
