//! What users ask for: sources of transfers.

pub(crate) mod cbr;
pub(crate) mod demand;
pub(crate) mod external;
pub(crate) mod ftp;
pub(crate) mod law;
pub(crate) mod on_off;
pub(crate) mod replay;
pub(crate) mod web;

use nodeb_base::check::Check;
use nodeb_base::registry;
use nodeb_base::rng::Streams;
use nodeb_base::units::Duration;

/// Data that a user wants from the server, all at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// How many bytes.
    pub bytes: u64,
    /// When it begins: so long after what `after` names.
    pub wait: Duration,
    /// From when `wait` counts.
    pub after: After,
    /// Payload of the phone's request, which travels up before the server begins; `None` where the
    /// server begins by itself.
    pub request_bytes: Option<u32>,
    /// Whether what the user wants is complete with it, or more of the same is to come.
    pub is_last: bool,
}

/// From when a wait counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The beginning of the transfer before: an open loop.
    Beginning,
    /// The moment the sender has the last ACK of the transfer before: a closed loop.
    End,
}

/// A user's transfers, one after the other.
pub trait Source: Send + std::fmt::Debug {
    /// The next transfer; `None` when there is none left. The first wait counts from the user's
    /// start.
    fn next(&mut self) -> Option<Transfer>;
}

registry! {
    /// What a group of users does, as a scenario names it.
    "traffic" TrafficSpec {
        /// One file fetched from the server: connection set-up, request, then the bytes.
        "ftp" => Ftp(ftp::Ftp),
        /// Bursts of data with pauses between them, laws of one's own.
        "on_off" => OnOff(on_off::OnOff),
        /// Pages with embedded objects, read for a while.
        "web" => Web(web::Web),
        /// Equal amounts of data at equal intervals.
        "cbr" => Cbr(cbr::Cbr),
        /// A recorded list of times and bytes.
        "replay" => Replay(replay::Replay),
        /// Packets from outside, both ways; in worlds driven from outside only.
        "external" => External(external::External),
    }
}

/// More transfers than these in an open loop are a typing error, and would fill the memory.
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

    /// Payload of the request that rides on the phone's first ACK.
    pub fn first_request_bytes(&self) -> u32 {
        match self {
            Self::Ftp(params) => params.request.0 as u32,
            Self::Web(params) => params.request.0 as u32,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => 0,
        }
    }

    /// How long the server works on an answer, if it takes any time.
    pub fn server_delay(&self) -> Option<Duration> {
        let delay = match self {
            Self::Ftp(params) => params.server_delay,
            Self::Web(params) => params.server_delay,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => Duration::ZERO,
        };
        (delay > Duration::ZERO).then_some(delay)
    }

    /// What is wrong where its file has still to be read: this crate knows no files.
    pub fn unread(&self) -> Option<String> {
        let Self::Replay(replay) = self else { return None };
        let file = replay.unread()?;
        Some(format!("the recording `{file}` has not been read; expected its times and bytes"))
    }

    /// Whether packets come from outside.
    pub fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// Where the network cannot slow a user down: the key of the time between transfers, and that time's
    /// median in seconds.
    fn pace(&self) -> Option<(&'static [&'static str], f64)> {
        match self {
            Self::OnOff(params) => Some((&["on_off", "pause"], params.pace_s()?)),
            Self::Cbr(params) => Some((&["cbr", "interval"], params.interval.as_secs())),
            Self::Ftp(_) | Self::Web(_) | Self::Replay(_) | Self::External(_) => None,
        }
    }

    /// Looks for transfers that a run of `duration` could not get through.
    pub fn check_pace(&self, duration: Duration, check: &mut Check) {
        let Some(([kind, key], pace_s)) = self.pace() else {
            return;
        };
        let count = duration.as_secs() / pace_s;
        check.within(*kind, |check| {
            check.require(count <= MAX_TRANSFERS, key, || {
                format!(
                    "some {count:.1e} transfers would begin in {duration} whether or not the network carries them; \
                     expected more time between them, or a shorter `duration` (at most {MAX_TRANSFERS:.0e} in all)"
                )
            });
        });
    }

    /// Bytes of all transfers, where they are known beforehand.
    pub fn total_bytes(&self) -> Option<u64> {
        match self {
            Self::Ftp(params) => Some(params.size.0),
            Self::Replay(params) => Some(params.bytes.iter().map(|bytes| bytes.0).sum()),
            Self::OnOff(_) | Self::Web(_) | Self::Cbr(_) | Self::External(_) => None,
        }
    }
}
