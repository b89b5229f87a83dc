//! Traffic: sources of users' transfers.

pub(crate) mod cbr;
pub(crate) mod demand;
pub(crate) mod distribution;
pub(crate) mod external;
pub(crate) mod ftp;

pub(crate) mod on_off;
pub(crate) mod replay;
pub(crate) mod web;

use nodeb_base::check::Check;
use nodeb_base::rng::{Stream, Streams};
use nodeb_base::units::Duration;
use nodeb_base::{keys, registry};

use crate::scenario::Direction;

/// Data that the sender (the server, or the phone in an upload) sends as a unit, such as a file or
/// a web object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Size of the transfer in bytes.
    pub bytes: u64,
    /// Time between the event `after` and the beginning of the transfer.
    pub wait: Duration,
    /// Event of the previous transfer from which `wait` counts.
    pub after: After,
    /// Payload in bytes of the request that the phone sends for the transfer; `None` if the transfer needs no request.
    /// Ignored in the first transfer: see [`TrafficSpec::first_request_bytes`].
    pub request_bytes: Option<u32>,
    /// Whether the transfer is the last of a load (a page or a file). False if further transfers of the same page
    /// follow.
    pub is_last: bool,
}

/// Event of the previous transfer from which the wait for the next one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Beginning of the previous transfer (open loop: the network cannot slow the user down).
    Beginning,
    /// Arrival of the previous transfer's last ACK at the sender (closed loop).
    End,
}

/// Source of a user's transfers, one after the other.
pub trait Source: Send + std::fmt::Debug {
    /// Returns the next transfer, or `None` if there are no more. The wait of the first transfer counts from the
    /// user's start.
    fn next(&mut self) -> Option<Transfer>;
}

/// Source of an upload: the transfers of another source without requests.
#[derive(Debug)]
struct Unrequested(Box<dyn Source>);

impl Source for Unrequested {
    fn next(&mut self) -> Option<Transfer> {
        Some(Transfer { request_bytes: None, ..self.0.next()? })
    }
}

registry! {
    /// Traffic of a group of users, as a scenario names it.
    "traffic" TrafficSpec {
        /// One file: connection set-up, in a download a request, then the bytes.
        "ftp" => Ftp(ftp::Ftp),
        /// Bursts of data and pauses, whose lengths are drawn from configurable distributions.
        "on_off" => OnOff(on_off::OnOff),
        /// Web pages with embedded objects and reading times.
        "web" => Web(web::Web),
        /// Equal amounts of data at equal intervals.
        "cbr" => Cbr(cbr::Cbr),
        /// Recorded list of times and bytes.
        "replay" => Replay(replay::Replay),
        /// Packets of a real host or another program, both ways; only with `nodeb emulate`.
        "external" => External(external::External),
    }
}

/// Maximum number of transfers in an open loop, except recorded ones. A scenario with more transfers is rejected, as
/// they would fill the memory.
const MAX_TRANSFERS: f64 = 2e7;

impl TrafficSpec {
    /// Returns the source of transfers of user number `user` in a direction, or `None` if the user's packets come from
    /// outside. The transfers of an upload have no requests.
    pub fn build(&self, user: u64, direction: Direction, streams: &Streams) -> Option<Box<dyn Source>> {
        match direction {
            Direction::Down => self.source(streams.stream("user", user, "traffic")),
            Direction::Up => {
                Some(Box::new(Unrequested(self.source(streams.stream("user", user, "upload"))?)))
            }
        }
    }

    /// Returns the source of transfers whose sizes and times are drawn from `stream`, or `None` if the packets come
    /// from outside.
    fn source(&self, stream: Stream) -> Option<Box<dyn Source>> {
        Some(match self {
            Self::Ftp(params) => Box::new(ftp::Once::new(params)),
            Self::OnOff(params) => Box::new(on_off::Bursts::new(params, stream)),
            Self::Web(params) => Box::new(web::Pages::new(params, stream)),
            Self::Cbr(params) => Box::new(cbr::Ticks::new(params)),
            Self::Replay(params) => Box::new(replay::List::new(params)),
            Self::External(_) => return None,
        })
    }

    /// Returns the payload in bytes of the request that the phone sends with or after the ACK that completes the
    /// set-up, or 0 if the first transfer has no request or a request without payload.
    pub fn first_request_bytes(&self) -> u32 {
        match self {
            Self::Ftp(params) => params.request.0 as u32,
            Self::Web(params) => params.request.0 as u32,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => 0,
        }
    }

    /// Returns the time that the server takes to answer a request, or `None` if it answers immediately.
    pub fn server_delay(&self) -> Option<Duration> {
        let delay = match self {
            Self::Ftp(params) => params.server_delay,
            Self::Web(params) => params.server_delay,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => Duration::ZERO,
        };
        (delay > Duration::ZERO).then_some(delay)
    }

    /// Returns an error message if the recording of `replay` has not been read, or `None`. This crate reads no files;
    /// its caller does.
    pub fn unread(&self) -> Option<String> {
        let Self::Replay(replay) = self else { return None };
        let file = replay.unread()?;
        Some(format!("the recording `{file}` has not been read; expected its times and bytes"))
    }

    /// Returns true if the user's packets come from outside the simulation.
    pub fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// Returns the path of the key that sets the time between transfers, and the median of this time in seconds.
    /// Returns `None` if the number of transfers does not follow from such a time: one file, a closed loop, or a list.
    fn pace(&self) -> Option<(&'static [&'static str], f64)> {
        match self {
            Self::OnOff(params) => Some((&["on_off", "pause"], params.pace_s()?)),
            Self::Cbr(params) => Some((&["cbr", "interval"], params.interval.as_secs())),
            Self::Ftp(_) | Self::Web(_) | Self::Replay(_) | Self::External(_) => None,
        }
    }

    /// Reports an error if more than about 2 * 10^7 transfers of an open loop would begin within
    /// `duration`. Recorded transfers are not checked.
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

    /// Reports what an upload cannot have: packets from outside, recorded traffic, and keys of requests.
    pub fn check_upload(&self, check: &mut Check) {
        const WHY: &str = "the phone sends uploads without a request";
        match self {
            Self::Ftp(params) => check.within("ftp", |check| {
                let keys = [("request", params.request.0 == 0), ("server_delay", params.server_delay.0 == 0)];
                check.idle(true, &keys, WHY);
            }),
            Self::Web(params) => {
                check.within("web", |check| check.idle(true, &keys!(params; request, server_delay), WHY));
            }
            Self::Replay(_) | Self::External(_) => check.require(false, self.key(), || {
                "this is traffic towards a phone; expected `ftp`, `on_off`, `web` or `cbr`".to_owned()
            }),
            Self::OnOff(_) | Self::Cbr(_) => {}
        }
    }

    /// Returns the total size of all transfers in bytes, or `None` if it is unknown beforehand.
    pub fn total_bytes(&self) -> Option<u64> {
        match self {
            Self::Ftp(params) => Some(params.size.0),
            Self::Replay(params) => Some(params.bytes.iter().map(|bytes| bytes.0).sum()),
            Self::OnOff(_) | Self::Web(_) | Self::Cbr(_) | Self::External(_) => None,
        }
    }
}
