//! The FACH of a cell. It sends signalling before packets, and packets of the users in turn.

use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Time};

use super::cell::Cell;
use super::params::FachDch;

/// Returns the transmission time of `bytes` bytes at `rate`. It is rounded up to whole nanoseconds,
/// so that a channel loaded to its full rate is always busy.
pub fn air_time(bytes: u64, rate: Rate) -> Duration {
    Duration((bytes * 8 * NANOS_PER_S).div_ceil(rate.0))
}

/// Signalling load on the FACH: packets of equal size at equal intervals, the first of which
/// arrives at time zero.
#[derive(Debug)]
struct Signalling {
    bits: u64,
    rate: Rate,
    air_time: Duration,
    /// Number of signalling packets sent so far.
    sent: u64,
}

impl Signalling {
    /// Returns the arrival time of the first signalling packet that is not sent yet.
    fn next(&self) -> Time {
        let nanos = u128::from(self.sent) * u128::from(self.bits) * u128::from(NANOS_PER_S);
        Time((nanos / u128::from(self.rate.0)) as u64)
    }
}

/// FACH of a cell, shared by signalling and users' packets.
///
/// While no user has packets, no events are scheduled for signalling. When a user's packet is to be
/// sent, all signalling that was due until then is accounted for at once.
#[derive(Debug)]
pub struct Fach {
    rate: Rate,
    signalling: Option<Signalling>,
    free_at: Time,
    /// Whether the bearer has scheduled a call of [`Self::finish`], at the end of a transmission.
    is_busy: bool,
    /// User whose packet is being sent; `None` while signalling is sent or the FACH is idle.
    sending: Option<usize>,
    /// Index of the user with whom the search for the next packet starts: the one after the user served last.
    next_user: usize,
}

impl Fach {
    /// Creates an idle FACH.
    pub fn new(params: &FachDch) -> Self {
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
            next_user: 0,
        }
    }

    /// Ends the current transmission. Returns the user whose packet was sent, or `None` if
    /// signalling was sent.
    pub fn finish(&mut self) -> Option<usize> {
        self.is_busy = false;
        self.sending.take()
    }

    /// Returns the user whose packet is being sent and the end of its transmission, or `None` if no
    /// user's packet is being sent.
    pub fn on_air(&self) -> Option<(usize, Time)> {
        self.sending.map(|user| (user, self.free_at))
    }

    /// Starts the next transmission at `now`: signalling if any has arrived, or else the packet of the next
    /// user in turn. Returns the end of the transmission, at which the caller must call [`Self::finish`].
    /// Returns `None` if [`Self::finish`] was not called yet for an earlier transmission, or if no user on
    /// the FACH has a packet to send.
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

    /// Accounts for all signalling whose transmission starts at or before `now`. This signalling
    /// makes the FACH busy until `free_at`.
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
