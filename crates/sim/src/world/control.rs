//! Control of a run from outside: progress, cancellation, and listeners to its events.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nodeb_base::error::{Error, Result};
use nodeb_base::event::{Event, Mask};
use nodeb_base::units::Time;
use nodeb_tcp::segment::Segment;

/// Handle with which another thread follows the progress of a run and cancels it.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    /// Progress from 0 to 1, as the bits of a double.
    progress: AtomicU64,
    /// Function that is called with each report of progress.
    observer: Option<fn(f64)>,
}

impl Control {
    /// Creates a control that calls `observer` with the finished fraction at each report of progress.
    pub fn with_observer(observer: fn(f64)) -> Self {
        Self { observer: Some(observer), ..Self::default() }
    }

    /// Requests that the run stop. The run returns [`Error::Cancelled`] at its next progress report.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the fraction of the run that is done, from 0 to 1.
    pub fn progress(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    /// Returns true if a stop has been requested.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Stores the fraction of the run that is done, from 0 to 1.
    ///
    /// # Errors
    ///
    /// [`Error::Cancelled`] if a stop has been requested.
    pub fn report(&self, progress: f64) -> Result<()> {
        self.progress.store(progress.to_bits(), Ordering::Relaxed);
        if let Some(observer) = self.observer {
            observer(progress);
        }
        if self.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

/// Receiver of the events of a run. Events come in the order of time, except that a radio may report past TTIs late.
pub trait Listener {
    /// Returns the classes of events to which the listener subscribes. The mask must not change during a run.
    fn mask(&self) -> Mask;
    /// Handles an event that happened at the time `at`. If an end host, proxy or Snoop agent has sent or received a
    /// packet of simulated TCP, `segment` is the packet's TCP segment. For all other events it is `None`.
    ///
    /// [`ControlFlow::Break`] ends the run: the listener gets no more events, and results cover the time up to this
    /// call, which is later than `at` if a radio reports a past TTI.
    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()>;
}

/// Listener that subscribes to no events.
#[derive(Debug)]
pub struct NullListener;

impl Listener for NullListener {
    fn mask(&self) -> Mask {
        Mask::NONE
    }

    fn on_event(&mut self, _: Time, _: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<L: Listener> Listener for &mut L {
    fn mask(&self) -> Mask {
        (**self).mask()
    }

    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()> {
        (**self).on_event(at, event, segment)
    }
}
