//! A process with threads cannot enter a user namespace, so one in the namespace of each device opens it, and
//! sends the file descriptor through this socket.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SocketFlags, SocketType, recvmsg,
    socketpair,
};

use crate::error::{Result, system};

const WAIT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };

#[derive(Debug)]
pub struct DeviceSocket {
    outside: OwnedFd,
    inside: OwnedFd,
}

impl DeviceSocket {
    /// Creates the socket pair.
    ///
    /// # Errors
    /// Returns an error if the system call fails.
    pub fn new() -> Result<Self> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (outside, inside) = pair.map_err(system("make a pair of sockets"))?;
        Ok(Self { outside, inside })
    }

    pub fn outside(&self) -> RawFd {
        self.outside.as_raw_fd()
    }

    /// Waits up to 10 s for the next device. Returns its number and its file descriptor.
    ///
    /// # Errors
    /// Returns an error if a system call fails, no message arrives within 10 s, or the message lacks the device or its
    /// number.
    pub fn receive(&self) -> Result<(u8, OwnedFd)> {
        let invalid = |reason| system("receive a device")(io::Error::new(io::ErrorKind::InvalidData, reason));
        let ready = poll(&mut [PollFd::new(&self.inside, PollFlags::IN)], Some(&WAIT));
        if ready.map_err(system("wait for a device"))? == 0 {
            return Err(invalid("no message within 10 s"));
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut number = [0];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let got = recvmsg(&self.inside, &mut [IoSliceMut::new(&mut number)], &mut control, flags);
        if got.map_err(system("receive a device"))?.bytes != 1 {
            return Err(invalid("the message has no device number"));
        }
        let device = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut all) => all.next(),
            _ => None,
        });
        device.map(|device| (number[0], device)).ok_or_else(|| invalid("the message has no file descriptor"))
    }
}
