//! Errors of emulations and recordings.

use std::io;

/// Error that prevents or ends an emulation or a replay.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A system call failed.
    #[error("the driver cannot {what}: {source}")]
    System {
        /// Action that failed, as a phrase that follows "the driver cannot" in the message.
        what: &'static str,
        /// Error that the system call returned.
        source: io::Error,
    },
    /// The log of a recording cannot be read.
    #[error("the recording cannot be read: {0}")]
    Log(io::Error),
    /// The log of a recording cannot be written completely.
    #[error("the recording is incomplete: {0}")]
    Recording(io::Error),
    /// The scenario cannot be emulated, or the simulation failed or was cancelled.
    #[error(transparent)]
    World(#[from] nodeb_sim::Error),
}

impl Error {
    /// Converts an error from reading a log. A cancelled read becomes [`nodeb_sim::Error::Cancelled`].
    pub fn log(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<nodeb_sim::Error>()) {
            Some(stopped) => Self::World(stopped.clone()),
            None => Self::Log(error),
        }
    }
}

/// Result of a fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns a function that converts an error of a system call to [`Error::System`] with the action `what`.
#[cfg(target_os = "linux")]
pub fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::System { what, source: source.into() }
}
