//! With the path of the wrong value, the problem and the valid values.

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{key}: {message}")]
    Config {
        /// Such as `service.dtch.crc`.
        key: String,
        /// Names the valid values.
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
