//! How devices come to the driver: whoever made one in a namespace of its own sends it through a socket, since a
//! namespace cannot be entered from a process with threads.

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

/// A pair of sockets: one to be inherited by those who make devices, one from which the driver takes them.
#[derive(Debug)]
pub struct Doorway {
    outside: OwnedFd,
    inside: OwnedFd,
}

impl Doorway {
    /// Nothing has come through yet.
    ///
    /// # Errors
    /// The system's.
    pub fn new() -> Result<Self> {
        let pair = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let (outside, inside) = pair.map_err(system("make a pair of sockets"))?;
        Ok(Self { outside, inside })
    }

    /// The socket to send through.
    pub fn outside(&self) -> RawFd {
        self.outside.as_raw_fd()
    }

    /// The next device that comes, and the number that came with it.
    ///
    /// # Errors
    /// The system's; nothing has come for ten seconds, or not a device and its number.
    pub fn receive(&self) -> Result<(u8, OwnedFd)> {
        let odd = |reason| system("take a device")(io::Error::new(io::ErrorKind::InvalidData, reason));
        let ready = poll(&mut [PollFd::new(&self.inside, PollFlags::IN)], Some(&WAIT));
        if ready.map_err(system("wait for a device"))? == 0 {
            return Err(odd("none has come for 10 s"));
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut number = [0];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let got = recvmsg(&self.inside, &mut [IoSliceMut::new(&mut number)], &mut control, flags);
        if got.map_err(system("take a device"))?.bytes != 1 {
            return Err(odd("it came without its number"));
        }
        let device = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmRights(mut all) => all.next(),
            _ => None,
        });
        device.map(|device| (number[0], device)).ok_or_else(|| odd("a number came without it"))
    }
}
