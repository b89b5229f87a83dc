//! Why real packets cannot be carried.

use std::io;

/// Why an emulation could not begin, or ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the driver stands on was refused by the system.
    #[error("the driver cannot {what}: {source}")]
    System {
        /// What it wanted to do.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A flight log cannot be read.
    #[error("the flight log cannot be read: {0}")]
    Log(io::Error),
    /// A flight log cannot be written.
    #[error("the flight log is not whole: {0}")]
    Recording(io::Error),
    /// The world's.
    #[error(transparent)]
    World(#[from] nodeb_sim::Error),
}

impl Error {
    /// Why a log cannot be read: what it says, or that nobody wants it any more.
    pub fn log(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<nodeb_sim::Error>()) {
            Some(stopped) => Self::World(stopped.clone()),
            None => Self::Log(error),
        }
    }
}

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that says what was wanted.
#[cfg(target_os = "linux")]
pub fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::System { what, source: source.into() }
}
