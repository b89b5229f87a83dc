//! Error type of the simulator: invalid scenarios and cancelled runs.

/// Result of functions that fail with an [`Error`] of the simulator.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason for which a scenario cannot be run to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An invalid scenario. The text names the key or place in the file, and the reason.
    #[error("{0}")]
    Scenario(String),
    /// The caller cancelled the run before its end.
    #[error("the run was cancelled")]
    Cancelled,
}
