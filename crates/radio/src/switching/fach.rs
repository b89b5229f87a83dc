//! The FACH as a server: signalling first, then the users in turn, packet by packet.

use nodeb_base::units::{Duration, NANOS_PER_S, Rate, Time};

use super::cell::Cell;
use super::params::FachDch;

/// How long `bytes` take at `rate`; rounded up, so that a channel that is full stays full.
pub fn air_time(bytes: u64, rate: Rate) -> Duration {
    Duration((bytes * 8 * NANOS_PER_S).div_ceil(rate.0))
}

/// Signalling: packets of one size at equal intervals, the first when the simulation begins.
#[derive(Debug)]
struct Signalling {
    bits: u64,
    rate: Rate,
    air_time: Duration,
    /// Packets begun.
    sent: u64,
}

impl Signalling {
    /// Arrival of the next packet to be sent.
    fn next(&self) -> Time {
        let nanos = u128::from(self.sent) * u128::from(self.bits) * u128::from(NANOS_PER_S);
        Time((nanos / u128::from(self.rate.0)) as u64)
    }
}

/// The shared channel.
///
/// Signalling that passes while no user has anything to send costs no event: what it has done to
/// the channel is worked out when the next packet asks.
#[derive(Debug)]
pub struct Fach {
    rate: Rate,
    signalling: Option<Signalling>,
    free_at: Time,
    /// Whether it waits for the end of what is on the air.
    is_busy: bool,
    /// Whose packet is on the air.
    sending: Option<usize>,
    /// Whose turn it is, if that user has something to send.
    next_user: usize,
}

impl Fach {
    /// An idle FACH.
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

    /// Ends the transmission under way, if it is a user's, and says whose.
    pub fn finish(&mut self) -> Option<usize> {
        self.is_busy = false;
        self.sending.take()
    }

    /// Whose packet is on the air, and until when.
    pub fn on_air(&self) -> Option<(usize, Time)> {
        self.sending.map(|user| (user, self.free_at))
    }

    /// Goes on at `now`, if it does not wait: sends the signalling that has come, or a packet of the user whose turn it
    /// is. Returns when to [`Self::finish`], unless nobody has something to send.
    pub fn go_on(&mut self, now: Time, cell: &mut Cell) -> Option<Time> {
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

    /// Sends all signalling that could begin by `now`.
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
