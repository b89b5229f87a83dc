//! The crate's errors: what is wrong, where, and what would be right.

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The link is not one that can be simulated; the text says which value and what would do.
    #[error("{key}: {message}")]
    Config {
        /// Path of the value in the configuration, as `service.dtch.crc`.
        key: String,
        /// What is wrong and what would be right.
        message: String,
    },
}

impl Error {
    /// An error of the value under `key`.
    pub fn config(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Config { key: key.into(), message: message.into() }
    }

    /// The same error with `outer` before its key.
    #[must_use]
    pub fn under(self, outer: &str) -> Self {
        let Self::Config { key, message } = self;
        Self::Config { key: format!("{outer}.{key}"), message }
    }
}
