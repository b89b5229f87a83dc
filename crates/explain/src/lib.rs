//! Critical path of a transfer: each nanosecond has exactly one cause. The method is that of Barford and
//! Crovella, "Critical Path Analysis of TCP Transactions", SIGCOMM 2000, who computed critical paths from
//! packet traces; here the events of all layers make the path exact and extend it to the blocks on the air.
//! Fixed latencies, propagation and the transmission of the packet that the path follows, are charged to the
//! reason for their round trip (the handshake, the request, a window, a loss), after the last one to
//! [`Cause::Propagation`] or [`Cause::Transmission`]; a wait in a queue or for a timer is charged to its own
//! cause.
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

mod comments;
pub mod real;
mod span;
#[cfg(test)]
mod tests;
mod timeline;
mod walk;

use nodeb_base::Error as RunError;
use nodeb_base::units::Time;
use nodeb_sim::scenario::{Connection, Direction, PlaceNames};
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario};
use nodeb_tcp::segment::HEADER_BYTES;

pub use comments::PacketComments;
pub use nodeb_base::cause::{Cause, Step};
pub use span::{Lost, Path, Span};
pub use timeline::MAX_RECORDS;

use timeline::Timeline;
use walk::Walk;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("there is no user {user}; the scenario has {users}, numbered from 0")]
    NoUser { user: u64, users: u64 },
    /// Not by the end of the run.
    #[error("{}", no_transfer(*user, *transfer, *transfers))]
    NoTransfer {
        user: u64,
        transfer: u64,
        /// That the user has begun.
        transfers: u64,
    },
    /// Time at which the records exceeded [`MAX_RECORDS`].
    #[error("{}", too_long(*.0))]
    TooLong(Time),
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

/// ACKs above this size carry the request; only the ACK of the SYN can. `u32::MAX` if none does.
fn bare_ack(scenario: &Scenario, connection: &Connection) -> u32 {
    let group = &scenario.users[connection.group];
    let (Direction::Down, Some(traffic)) = (connection.direction, group.traffic(Direction::Down)) else {
        return u32::MAX;
    };
    let rides = scenario.proxy.is_some() || !scenario.air_tcp_of(group).requests_separately();
    let request = traffic.first_request_bytes();
    if rides && request > 0 { HEADER_BYTES + request - 1 } else { u32::MAX }
}
