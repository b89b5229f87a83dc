//! Errors of this crate. Each has the path of the wrong value, the problem and the valid values.

pub type Result<T> = std::result::Result<T, Error>;

/// Error of this crate's functions: a configuration that describes no link that can be simulated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A value of the configuration is invalid, so the link cannot be simulated.
    #[error("{key}: {message}")]
    Config {
        /// Path of the value in the configuration, such as `service.dtch.crc`.
        key: String,
        /// Description of the problem, which also names the valid values.
        message: String,
    },
}

impl Error {
    pub fn config(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Config { key: key.into(), message: message.into() }
    }

    #[must_use]
    pub fn under(self, outer: &str) -> Self {
        let Self::Config { key, message } = self;
        Self::Config { key: format!("{outer}.{key}"), message }
    }
}
