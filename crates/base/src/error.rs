//! Invalid scenarios and cancelled runs.

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Scenario(String),
    #[error("the run was cancelled")]
    Cancelled,
}
