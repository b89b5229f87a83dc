//! A log that is read or flown while somebody watches: how far that is, and whether it is still wanted.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::Listener;
use nodeb_sim::{Control, Error as Stopped, Scenario};

use crate::error::{Error, Result};
use crate::flight::{END_BYTES, Reader, end_time};
use crate::replay::{Replay, replay_watched};

/// A log that is there. Whatever reads it ends where `control` says so.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Who watches.
    pub control: &'a Control,
}

impl<'a> Log<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// It cannot be read, or is no log.
    pub fn open(self) -> io::Result<Reader<BufReader<Watched<'a>>>> {
        let file = File::open(self.path)?;
        Reader::new(BufReader::new(Watched { file, control: self.control }))
    }

    /// Flies it again, as [`crate::replay::replay`] does, with a listener to what happens, which may end it; `control` is
    /// told how far that is.
    ///
    /// # Errors
    /// As there; [`Stopped::Cancelled`] where `control` says so.
    pub fn fly<L: Listener>(
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

    /// When the flight ended, if the log has its end.
    fn end(self) -> Option<Time> {
        let mut file = File::open(self.path).ok()?;
        let mut last = [0; END_BYTES];
        let at = file.metadata().ok()?.len().checked_sub(END_BYTES as u64)?;
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut last).ok()?;
        end_time(last)
    }
}

/// A file that is read as long as somebody wants it.
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
