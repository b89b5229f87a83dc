//! A log that is read while somebody watches: how far that is, and whether it is still wanted.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use nodeb_sim::Control;

use crate::flight::Reader;

/// A log that is there. Whatever flies it or looks at it reads it record by record, and ends where `control` says so.
#[derive(Clone, Copy, Debug)]
pub struct Log<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Who watches.
    pub control: &'a Control,
}

impl<'a> Log<'a> {
    /// Reads it, by the way.
    ///
    /// # Errors
    /// It cannot be read, or is no log.
    pub fn open(self) -> io::Result<Reader<BufReader<Watched<'a>>>> {
        self.watched(None)
    }

    /// Reads it as what takes long: `control` is told how far that is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn fly(self) -> io::Result<Reader<BufReader<Watched<'a>>>> {
        let bytes = std::fs::metadata(self.path)?.len();
        self.watched(Some(bytes))
    }

    fn watched(self, told: Option<u64>) -> io::Result<Reader<BufReader<Watched<'a>>>> {
        let file = File::open(self.path)?;
        Reader::new(BufReader::new(Watched { file, control: self.control, read: 0, told }))
    }
}

/// A file whose reading is watched.
#[derive(Debug)]
pub struct Watched<'a> {
    file: File,
    control: &'a Control,
    read: u64,
    /// Bytes of the whole, where the share that has been read is told.
    told: Option<u64>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.control.is_cancelled() {
            return Err(io::Error::other("nobody wants it any more"));
        }
        let bytes = self.file.read(buffer)?;
        self.read += bytes as u64;
        if let Some(all) = self.told {
            self.control.tell((self.read as f64 / all.max(1) as f64).min(1.0));
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flight::Recorder;
    use nodeb_sim::units::Time;

    #[test]
    fn who_watches_hears_how_far_it_is_and_can_end_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, control) = (folder.path().join("log"), Control::default());
        Recorder::create(&path, b"{}", 96).unwrap().finish(Time(7)).unwrap();
        let log = Log { path: &path, control: &control };
        let mut reader = log.open().unwrap();
        assert!(reader.next_record().unwrap().is_some());
        assert!(control.progress() < 0.1, "what is read by the way is not told");
        let mut reader = log.fly().unwrap();
        assert!(reader.next_record().unwrap().is_some());
        assert!(control.progress() > 0.9);
        control.cancel();
        assert!(reader.next_record().is_err());
        assert!(log.fly().is_err());
    }
}
