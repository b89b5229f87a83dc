//! Critical path of a transfer: why the transfer took as long as it did. Each nanosecond of the
//! transfer has exactly one cause.
//!
//! The crate has two layers. The module `timeline` is a [`Listener`](nodeb_sim::world::Listener)
//! that records the events of one transfer during a run. The module `walk` goes back from the
//! arrival of the last byte, from effect to cause, and divides the critical path into [`Span`]s
//! that follow each other without gaps. [`real`] explains recorded connections of real hosts in the
//! same way, and [`comments`] describes critical paths packet by packet.
//!
//! The method is that of Barford and Crovella, "Critical Path Analysis of TCP Transactions",
//! SIGCOMM 2000, who computed critical paths from packet traces at both ends. Here the events of
//! all layers make the path exact and extend it to the blocks on the air.
//!
//! A span of the path is either a fixed latency or a variable delay. Fixed latencies are propagation and the
//! transmission of the packet that the path follows. A fixed latency is charged to the reason for the round
//! trip that it is part of: the handshake, the request, a window, a loss. After the last round trip a fixed
//! latency is charged to [`Cause::Propagation`] or [`Cause::Transmission`]. A variable delay, such as the
//! wait in a queue or for a timer, is charged to its own cause.
//!
//! # Examples
//!
//! ```
//! use nodeb_explain::{Cause, explain};
//! use nodeb_sim::{Control, scenario};
//!
//! let text = r#"
//!     wired.delay = "20 ms"
//!     radio.dch = {}
//!     users = [{ traffic.ftp.size = "50 kB" }]
//! "#;
//! let scenario = scenario::from_toml(text, "example.toml", &[]).expect("a valid scenario");
//! let path = explain(&scenario, 1, 0, &Control::default(), (0, 0))?;
//!
//! let total: u64 = path.spans.iter().map(|span| span.duration().0).sum();
//! assert_eq!(total, path.ended.since(path.begun).0);
//! let handshake = path.spans.iter().filter(|span| span.cause == Cause::Handshake);
//! assert!(handshake.map(|span| span.duration().0).sum::<u64>() > 80_000_000);
//! # Ok::<(), nodeb_explain::Error>(())
//! ```

pub mod cause;
pub mod comments;
pub mod real;
pub mod span;
#[cfg(test)]
mod tests;
mod timeline;
mod walk;

use nodeb_base::error::Error as RunError;
use nodeb_base::units::Time;
use nodeb_sim::scenario::{Connection, Direction, PlaceNames};
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario};
use nodeb_tcp::segment::HEADER_BYTES;

pub use cause::{Cause, Step};
pub use comments::PacketComments;
pub use span::{Lost, Path, Span};
pub use timeline::MAX_RECORDS;

use timeline::Timeline;
use walk::Walk;

/// Reason why a transfer cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The scenario has no user with the requested number.
    #[error("there is no user {user}; the scenario has {users}, numbered from 0")]
    NoUser {
        /// Number of the user that was requested.
        user: u64,
        /// Number of users of the scenario.
        users: u64,
    },
    /// The user has not begun the requested transfer by the end of the run.
    #[error("{}", no_transfer(*user, *transfer, *transfers))]
    NoTransfer {
        /// Number of the user in the scenario, from 0.
        user: u64,
        /// Number of the transfer that was requested.
        transfer: u64,
        /// Number of transfers that the user has begun.
        transfers: u64,
    },
    /// The transfer needs more records than [`MAX_RECORDS`]. The value is the time at which the
    /// number of records exceeded this limit.
    #[error("{}", too_long(*.0))]
    TooLong(Time),
    /// The simulation was cancelled or failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn no_transfer(user: u64, transfer: u64, transfers: u64) -> String {
    let begun = if transfers == 0 {
        "expected a longer duration".to_owned()
    } else {
        format!("expected at most {}", transfers - 1)
    };
    format!("user {user} has begun no transfer {transfer} by the end of the run; {begun}")
}

fn too_long(after: Time) -> String {
    format!(
        "the transfer is too long: after {} s there are more than {MAX_RECORDS} records of its packets and \
         blocks; expected a shorter transfer",
        after.as_secs()
    )
}

/// Simulates replication number `run` of a scenario under `seed` up to the end of transfer number
/// `transfer` of `user`, both counted from 0, or up to the end of the run if the transfer does not
/// end. Returns the critical path of that transfer.
///
/// # Errors
///
/// [`Error::NoUser`] or [`Error::NoTransfer`] if `user` or `transfer` does not exist,
/// [`Error::TooLong`] if the transfer needs too many records, and [`Error::Run`] if the simulation
/// fails or is cancelled.
pub fn explain(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    (user, transfer): (u64, u64),
) -> Result<Path, Error> {
    let connections = scenario.connections();
    let users = connections.len() as u64;
    if user >= users {
        return Err(Error::NoUser { user, users });
    }
    let mut timeline = Timeline::new(scenario, user as u32, transfer);
    let result = run_with_listener(scenario, seed, run, control, &mut timeline)?;
    if let Some(after) = timeline.too_long {
        return Err(Error::TooLong(after));
    }
    let Some(begun) = timeline.begun else {
        return Err(Error::NoTransfer { user, transfer, transfers: timeline.begun_transfers });
    };
    // A complete transfer ends with the arrival of its last byte, at which the listener stops the
    // run. An unfinished transfer is explained up to the end of the run.
    let ended = timeline.ended.unwrap_or(Time((result.end_s * 1e9).round() as u64));
    let bare_ack = bare_ack(scenario, &connections[user as usize]);
    let spans = Walk::spans(&timeline, bare_ack, begun, ended, control)?;
    let complete = timeline.ended.is_some();
    let names = PlaceNames::of(scenario);
    let busy = timeline.busy(begun, ended);
    Ok(Path { begun, ended, bytes: timeline.bytes, complete, lost: timeline.lost, busy, spans, names })
}

/// Returns the size in bytes above which an ACK of a connection carries the request, or `u32::MAX` if no ACK
/// carries it. Only the ACK of the SYN can carry the request.
fn bare_ack(scenario: &Scenario, connection: &Connection) -> u32 {
    let group = &scenario.users[connection.group];
    let (Direction::Down, Some(traffic)) = (connection.direction, group.traffic(Direction::Down)) else {
        return u32::MAX;
    };
    let rides = scenario.proxy.is_some() || !scenario.air_tcp_of(group).requests_separately();
    let request = traffic.first_request_bytes();
    if rides && request > 0 { HEADER_BYTES + request - 1 } else { u32::MAX }
}
