//! Traffic: sources of the transfers that users request.

pub(crate) mod cbr;
pub(crate) mod demand;
pub(crate) mod distribution;
pub(crate) mod external;
pub(crate) mod ftp;

pub(crate) mod on_off;
pub(crate) mod replay;
pub(crate) mod web;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;
use nodeb_base::units::Duration;

/// Data that a user requests from the server as a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Size in bytes.
    pub bytes: u64,
    /// Time between the event `after` and the beginning of the transfer.
    pub wait: Duration,
    /// Event from which `wait` counts.
    pub after: After,
    /// Payload in bytes of the phone's request, which reaches the server before it answers; `None` if the server
    /// sends unasked.
    pub request_bytes: Option<u32>,
    /// Whether the transfer completes a load. False if further transfers of the same page follow.
    pub is_last: bool,
}

/// Event from which a wait counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Beginning of the previous transfer: an open loop.
    Beginning,
    /// Arrival of the previous transfer's last ACK at the sender: a closed loop.
    End,
}

/// Sequence of a user's transfers.
pub trait Source: Send + std::fmt::Debug {
    /// Returns the next transfer, or `None` if there are no more. The first wait counts from the user's start.
    fn next(&mut self) -> Option<Transfer>;
}

registry! {
    /// Traffic of a group of users, as a scenario names it.
    "traffic" TrafficSpec {
        /// Download of one file: connection set-up, request, then the bytes.
        "ftp" => Ftp(ftp::Ftp),
        /// Bursts of data with pauses between them, of configurable distributions.
        "on_off" => OnOff(on_off::OnOff),
        /// Web pages with embedded objects and reading times.
        "web" => Web(web::Web),
        /// Equal amounts of data at equal intervals.
        "cbr" => Cbr(cbr::Cbr),
        /// Recorded list of times and bytes.
        "replay" => Replay(replay::Replay),
        /// Packets from outside, in both directions; only with `nodeb emulate`.
        "external" => External(external::External),
    }
}

/// Maximum number of transfers in an open loop. More are taken for a typing error, and would fill the memory.
const MAX_TRANSFERS: f64 = 2e7;

impl TrafficSpec {
    /// Returns the transfers of user number `user`, or `None` if packets come from outside.
    pub fn build(&self, user: u64, streams: &Streams) -> Option<Box<dyn Source>> {
        let stream = streams.stream("user", user, "traffic");
        Some(match self {
            Self::Ftp(params) => Box::new(ftp::Once::new(params)),
            Self::OnOff(params) => Box::new(on_off::Bursts::new(params, stream)),
            Self::Web(params) => Box::new(web::Pages::new(params, stream)),
            Self::Cbr(params) => Box::new(cbr::Ticks::new(params)),
            Self::Replay(params) => Box::new(replay::List::new(params)),
            Self::External(_) => return None,
        })
    }

    /// Returns the payload in bytes of the request that rides on the phone's first ACK.
    pub fn first_request_bytes(&self) -> u32 {
        match self {
            Self::Ftp(params) => params.request.0 as u32,
            Self::Web(params) => params.request.0 as u32,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => 0,
        }
    }

    /// Returns the time that the server takes for an answer, or `None` if it answers immediately.
    pub fn server_delay(&self) -> Option<Duration> {
        let delay = match self {
            Self::Ftp(params) => params.server_delay,
            Self::Web(params) => params.server_delay,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => Duration::ZERO,
        };
        (delay > Duration::ZERO).then_some(delay)
    }

    /// Returns an error message if the recording has not been read. The caller reads files, not this crate.
    pub fn unread(&self) -> Option<String> {
        let Self::Replay(replay) = self else { return None };
        let file = replay.unread()?;
        Some(format!("the recording `{file}` has not been read; expected its times and bytes"))
    }

    /// Returns true if packets come from outside.
    pub fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// Returns the key of the time between transfers and that time's median in seconds, or `None` if the network can
    /// slow the user down.
    fn pace(&self) -> Option<(&'static [&'static str], f64)> {
        match self {
            Self::OnOff(params) => Some((&["on_off", "pause"], params.pace_s()?)),
            Self::Cbr(params) => Some((&["cbr", "interval"], params.interval.as_secs())),
            Self::Ftp(_) | Self::Web(_) | Self::Replay(_) | Self::External(_) => None,
        }
    }

    /// Reports traffic with more transfers than a run of `duration` can hold.
    pub fn check_pace(&self, duration: Duration, check: &mut Check) {
        let Some(([kind, key], pace_s)) = self.pace() else {
            return;
        };
        let count = duration.as_secs() / pace_s;
        check.within(*kind, |check| {
            check.require(count <= MAX_TRANSFERS, key, || {
                format!(
                    "about {count:.1e} transfers would begin in {duration} whether or not the network carries them; \
                     expected at most {MAX_TRANSFERS:.0e}: more time between them, or a shorter `duration`"
                )
            });
        });
    }

    /// Returns the bytes of all transfers, or `None` if they are unknown beforehand.
    pub fn total_bytes(&self) -> Option<u64> {
        match self {
            Self::Ftp(params) => Some(params.size.0),
            Self::Replay(params) => Some(params.bytes.iter().map(|bytes| bytes.0).sum()),
            Self::OnOff(_) | Self::Web(_) | Self::Cbr(_) | Self::External(_) => None,
        }
    }
}
