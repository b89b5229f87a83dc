//! Errors of the crate, with the place, the problem and the valid values.

/// Result of this crate's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of this crate's functions: a link that cannot be simulated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The link cannot be simulated; the message names the value and what is valid.
    #[error("{key}: {message}")]
    Config {
        /// Path of the value in the configuration, such as `service.dtch.crc`.
        key: String,
        /// The problem and the valid values.
        message: String,
    },
}

impl Error {
    /// Creates an error of the value under `key`.
    pub fn config(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Config { key: key.into(), message: message.into() }
    }

    /// Returns the error with `outer` prepended to its key.
    #[must_use]
    pub fn under(self, outer: &str) -> Self {
        let Self::Config { key, message } = self;
        Self::Config { key: format!("{outer}.{key}"), message }
    }
}
