//! Reference with which the timing accuracy of the driver is compared.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};

use crate::error::{Result, system};
use crate::port::{Port, Read};
use crate::watch::Watch;

const BATCH: usize = 16;

/// Copies packets from each of two devices to the other until `watch` stops it. Returns the number
/// of packets read, including those that the other device did not accept. Packets longer than `mtu`
/// bytes are discarded and not counted.
///
/// # Errors
/// Returns an error if a system call fails.
pub fn forward(devices: [OwnedFd; 2], mtu: usize, watch: &Watch) -> Result<u64> {
    let [one, other] = devices;
    let mut ports = [Port::new(one)?, Port::new(other)?];
    let mut packet = vec![0; mtu];
    let mut copied = 0;
    while !watch.is_stopped() {
        for from in 0..2 {
            for _ in 0..BATCH {
                let Read::Packet(bytes) = ports[from].read(&mut packet)? else { break };
                ports[1 - from].write(&packet[..bytes]);
                copied += 1;
            }
        }
        let [one, other] = &ports;
        let stopped = watch.stop_event();
        let mut waited = [
            PollFd::new(one, PollFlags::IN),
            PollFd::new(other, PollFlags::IN),
            PollFd::new(&stopped, PollFlags::IN),
        ];
        match poll(&mut waited, None) {
            Err(rustix::io::Errno::INTR) => {}
            done => drop(done.map_err(system("wait for devices"))?),
        }
    }
    Ok(copied)
}
