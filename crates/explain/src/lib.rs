//! Why a transfer took as long as it did: its critical path, on which every nanosecond has one cause.
//!
//! A run is heard by a [`Listener`](nodeb_sim::world::Listener) that keeps what is needed of one transfer
//! (`timeline`). The path is walked back from the arrival of the last byte, from effect to cause (`walk`), and is
//! cut into spans that follow each other without gaps. The idea is that of Barford and Crovella, "Critical Path
//! Analysis of TCP Transactions", SIGCOMM 2000, who found it from packet traces at both ends; the events of every
//! layer make it exact, and lead it down to the blocks on the air.
//!
//! Each step on the path is either a latency that is always there (propagation, and the path's own packet being
//! sent), or one that depends on what goes on. The latter is charged to itself. The former is charged to the reason for
//! which the path went round: the handshake, the request, a window, a loss; and on the last flight to itself.

pub mod cause;
pub mod real;
pub mod span;
#[cfg(test)]
mod tests;
mod timeline;
pub mod told;
mod walk;

use nodeb_base::error::Error as RunError;
use nodeb_base::units::Time;
use nodeb_sim::scenario::{PlaceNames, UserGroup};
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario};
use nodeb_tcp::segment::HEADER_BYTES;

pub use cause::{Cause, Step};
pub use span::{Lost, Path, Span};
pub use timeline::MAX_RECORDS;
pub use told::Told;

use timeline::Timeline;
use walk::Walk;

/// Why a transfer cannot be explained.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no such user.
    #[error("there is no user {user}; the scenario has {users}, numbered from 0")]
    NoUser {
        /// Asked for.
        user: u64,
        /// How many there are.
        users: u64,
    },
    /// There is no such transfer.
    #[error(
        "user {user} has begun no transfer {transfer} by the end of the run; it has begun {transfers}, numbered from 0"
    )]
    NoTransfer {
        /// Whose.
        user: u64,
        /// Asked for.
        transfer: u64,
        /// How many have begun.
        transfers: u64,
    },
    /// It has more packets and blocks than there is memory for.
    #[error("{}", too_long(*.0))]
    TooLong(Time),
    /// The simulation ended early.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn too_long(after: Time) -> String {
    format!(
        "the transfer is too long to be explained: after {} s there are more than {MAX_RECORDS} records of its \
         packets and blocks; explain a shorter one",
        after.as_secs()
    )
}

/// Simulates replication number `run` of a scenario under `seed` as far as a user's transfer goes, both counted
/// from 0, and explains that.
///
/// # Errors
/// [`Error::NoUser`], [`Error::NoTransfer`], [`Error::TooLong`], and what keeps the run from being simulated.
pub fn explain(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    (user, transfer): (u64, u64),
) -> Result<Path, Error> {
    let users = scenario.users.iter().map(|group| u64::from(group.count.get())).sum();
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
    // The timeline ends the run once the transfer is there.
    let ended = timeline.ended.unwrap_or(Time((result.end_s * 1e9).round() as u64));
    let bare_ack = bare_ack(scenario, user);
    let spans = Walk::spans(&timeline, bare_ack, begun, ended, control)?;
    let complete = timeline.ended.is_some();
    let names = PlaceNames::of(scenario);
    let busy = timeline.busy(begun, ended);
    Ok(Path { begun, ended, bytes: timeline.bytes, complete, lost: timeline.lost, busy, spans, names })
}

/// Bytes of a user's ACK that carries nothing: the first one, which may carry the request, is longer.
fn bare_ack(scenario: &Scenario, user: u64) -> u32 {
    let mut groups = scenario.users.iter();
    let mut first = 0;
    let group = groups.find(|group| {
        first += u64::from(group.count.get());
        user < first
    });
    let longest = |group: &UserGroup| {
        let tcp = scenario.air_tcp_of(group);
        let rides = scenario.proxy.is_some() || !tcp.asks_apart();
        let request = group.traffic().first_request_bytes();
        (rides && request > 0).then(|| HEADER_BYTES + request - 1)
    };
    group.and_then(longest).unwrap_or(u32::MAX)
}
