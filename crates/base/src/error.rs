//! Errors of the simulator.

/// Result of this project's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Reason for which a scenario cannot be run to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An invalid scenario; the text says where and why.
    #[error("{0}")]
    Scenario(String),
    /// A run cancelled before its end.
    #[error("the run was cancelled")]
    Cancelled,
}
