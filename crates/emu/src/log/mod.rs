//! Access to a log file, for reading or replaying it. A [`Control`] receives the progress and can cancel the reading or
//! the replay.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::Listener;
use nodeb_sim::{Control, Error as Stopped, Scenario};

use crate::error::{Error, Result};
use crate::recording::{END_BYTES, Reader, end_time};
use crate::replay::{Replay, replay_watched};

#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    pub path: &'a Path,
    pub control: &'a Control,
}

impl<'a> Log<'a> {
    /// Opens the log and reads its header.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a log.
    pub fn open(self) -> io::Result<Reader<BufReader<Watched<'a>>>> {
        let file = File::open(self.path)?;
        Reader::new(BufReader::new(Watched { file, control: self.control }))
    }

    /// Replays the log with a listener, which may end the replay, and reports the progress to
    /// [`Self::control`]. `users` are the user numbers of the real phones in the scenario.
    ///
    /// # Errors
    /// Returns an error if the log cannot be read or does not fit the scenario, or the simulation fails. Returns
    /// [`Stopped::Cancelled`] if [`Self::control`] was cancelled.
    pub fn replay<L: Listener>(
        self,
        scenario: &Scenario,
        seed: u64,
        users: &[u32],
        listener: L,
    ) -> Result<(Replay, RunResult)> {
        let mut reader = self.open().map_err(Error::log)?;
        let end = self.end().unwrap_or(Time(u64::MAX));
        replay_watched(&mut reader, scenario, seed, users, listener, (self.control, end))
    }

    fn end(self) -> Option<Time> {
        let mut file = File::open(self.path).ok()?;
        let mut last = [0; END_BYTES];
        let at = file.metadata().ok()?.len().checked_sub(END_BYTES as u64)?;
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut last).ok()?;
        end_time(last)
    }
}

/// Reads fail once the control is cancelled.
#[derive(Debug)]
pub struct Watched<'a> {
    file: File,
    control: &'a Control,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.control.is_cancelled() {
            return Err(io::Error::other(Stopped::Cancelled));
        }
        self.file.read(buffer)
    }
}

#[cfg(test)]
mod tests;
