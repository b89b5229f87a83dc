//! How a run is watched from outside: progress, cancelling, and listeners to its events.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nodeb_base::error::{Error, Result};
use nodeb_base::event::{Event, Mask};
use nodeb_base::units::Time;
use nodeb_tcp::segment::Segment;

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

    /// Whether somebody has asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Tells which share is done, from 0 to 1.
    ///
    /// # Errors
    /// [`Error::Cancelled`] when somebody has asked to stop.
    pub fn report(&self, progress: f64) -> Result<()> {
        self.progress.store(progress.to_bits(), Ordering::Relaxed);
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Hears what happens in a run, in order of time but for what radios tell about TTIs that are over.
pub trait Listener {
    /// What it wants to hear.
    fn mask(&self) -> Mask;
    /// Something has happened. Where a packet is sent or received `segment` is what it stands for.
    ///
    /// [`ControlFlow::Break`] ends the run: the listener is asked no more, and results are those up to then.
    fn hear(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()>;
}

/// Listener that subscribes to no events.
#[derive(Debug)]
pub struct Deaf;

impl Listener for Deaf {
    fn mask(&self) -> Mask {
        Mask::NONE
    }

    fn hear(&mut self, _: Time, _: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<L: Listener> Listener for &mut L {
    fn mask(&self) -> Mask {
        (**self).mask()
    }

    fn hear(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        (**self).hear(at, event, segment)
    }
}
