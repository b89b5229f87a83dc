//! A TUN device: whole IP packets, one at a time.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, readv, write};

use crate::error::{Result, system};

/// The largest IP packet there is.
const LARGEST: usize = 65_535;

/// What came of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// A packet of so many bytes.
    Packet(usize),
    /// A packet that is longer than there was room.
    TooLong,
    /// There is none.
    Nothing,
    /// The device has gone.
    Gone,
}

/// A device.
#[derive(Debug)]
pub struct Port {
    fd: OwnedFd,
    /// Where the end of a packet goes that is too long, so that it is noticed.
    rest: Box<[u8]>,
}

impl Port {
    /// A device that is not waited for.
    pub fn new(fd: OwnedFd) -> Result<Self> {
        let flags = fcntl_getfl(&fd).map_err(system("look at a device"))?;
        fcntl_setfl(&fd, flags | OFlags::NONBLOCK).map_err(system("change a device"))?;
        Ok(Self { fd, rest: vec![0; LARGEST].into_boxed_slice() })
    }

    /// Reads a packet.
    pub fn read(&mut self, into: &mut [u8]) -> Result<Read> {
        let room = into.len();
        let mut parts = [IoSliceMut::new(into), IoSliceMut::new(&mut self.rest)];
        match readv(&self.fd, &mut parts) {
            Ok(0) | Err(Errno::BADFD | Errno::IO | Errno::NODEV) => Ok(Read::Gone),
            Ok(bytes) if bytes > room => Ok(Read::TooLong),
            Ok(bytes) => Ok(Read::Packet(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Read::Nothing),
            Err(error) => Err(system("read from a device")(error)),
        }
    }

    /// Writes a packet; whether the device took it, which it does not while it is down.
    pub fn write(&self, packet: &[u8]) -> bool {
        loop {
            match write(&self.fd, packet) {
                Err(Errno::INTR) => {}
                done => return done.is_ok(),
            }
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
