//! How a run is watched from outside: progress, cancelling, and taps on its packets.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::packet::Packet;
use crate::units::Time;

/// Lets another thread watch a run and stop it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    /// Progress from 0 to 1, as the bits of a double.
    progress: AtomicU64,
}

impl Control {
    /// Asks the run to stop soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Share of the run that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    pub(super) fn report(&self, progress: f64) -> Result<()> {
        self.progress.store(progress.to_bits(), Ordering::Relaxed);
        if self.cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Where a packet is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The server's interface.
    Server,
    /// The phone's interface.
    Phone,
    /// The proxy's interface on the side of the server.
    ProxyToServer,
    /// The proxy's interface on the side of the phone.
    ProxyToPhone,
}

/// Sees every packet that passes the interfaces of servers, phones and proxies, in order of time.
pub trait Tap {
    /// A packet passes; segments go from the server towards the phone, all else the other way.
    ///
    /// # Errors
    /// Whatever keeps the tap from taking the packet; it ends the run.
    fn packet(&mut self, at: Time, place: Place, packet: &Packet) -> Result<()>;
}

/// A tap that looks away.
#[derive(Debug)]
pub struct NoTap;

impl Tap for NoTap {
    fn packet(&mut self, _: Time, _: Place, _: &Packet) -> Result<()> {
        Ok(())
    }
}
