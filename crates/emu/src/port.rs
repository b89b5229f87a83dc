//! Whole IP packets, one at a time.

use std::io::IoSliceMut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, readv, write};

use crate::error::{Result, system};

/// The largest IPv4 packet, for excess bytes.
const MAX_PACKET: usize = 65_535;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    Packet(usize),
    TooLong,
    Nothing,
    Gone,
}

#[derive(Debug)]
pub struct Port {
    fd: OwnedFd,
    rest: Box<[u8]>,
}

impl Port {
    pub fn new(fd: OwnedFd) -> Result<Self> {
        let flags = fcntl_getfl(&fd).map_err(system("read the flags of a device"))?;
        fcntl_setfl(&fd, flags | OFlags::NONBLOCK).map_err(system("make a device non-blocking"))?;
        Ok(Self { fd, rest: vec![0; MAX_PACKET].into_boxed_slice() })
    }

    /// Without waiting.
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

    /// False if the device did not accept it, for example because it is down.
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
