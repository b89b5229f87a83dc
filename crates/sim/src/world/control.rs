use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use nodeb_base::event::{Event, Mask};
use nodeb_base::units::Time;
use nodeb_base::{Error, Result};
use nodeb_tcp::segment::Segment;

/// For another thread.
#[derive(Debug, Default)]
pub struct Control {
    cancelled: AtomicBool,
    /// 0 to 1, as the bits of a double.
    progress: AtomicU64,
    observer: Option<fn(f64)>,
}

impl Control {
    /// Gets the finished fraction at each report.
    pub fn with_observer(observer: fn(f64)) -> Self {
        Self { observer: Some(observer), ..Self::default() }
    }

    /// The run returns [`Error::Cancelled`] at its next progress report.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// 0 to 1.
    pub fn progress(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

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

/// Events come in the order of time, except that a radio may report past TTIs late.
pub trait Listener {
    /// The mask must not change during a run.
    fn mask(&self) -> Mask;
    /// `segment` is that of a packet of simulated TCP which an end host, proxy or Snoop agent has sent or
    /// received. [`ControlFlow::Break`] ends the run: results cover the time up to this call, which is later
    /// than `at` if a radio reports a past TTI.
    fn on_event(&mut self, at: Time, event: &Event, segment: Option<&Segment>) -> ControlFlow<()>;
}

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
