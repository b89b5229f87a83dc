//! The crate's errors: what is wrong, where, and what would be right.

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The scenario is not one nodeb can run; the text says where and why.
    #[error("{0}")]
    Scenario(String),
    /// The run was cancelled before its end.
    #[error("the run was cancelled")]
    Cancelled,
}
