use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the driver cannot {what}: {source}")]
    System {
        /// Phrase that follows "the driver cannot".
        what: &'static str,
        source: io::Error,
    },
    #[error("the recording cannot be read: {0}")]
    Log(io::Error),
    #[error("the recording is incomplete: {0}")]
    Recording(io::Error),
    #[error(transparent)]
    World(#[from] nodeb_sim::Error),
}

impl Error {
    pub fn log(error: io::Error) -> Self {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<nodeb_sim::Error>()) {
            Some(stopped) => Self::World(stopped.clone()),
            None => Self::Log(error),
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;

#[cfg(target_os = "linux")]
pub fn system<E: Into<io::Error>>(what: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::System { what, source: source.into() }
}
