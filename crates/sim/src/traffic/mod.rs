pub(crate) mod cbr;
pub(crate) mod demand;
pub(crate) mod distribution;
pub(crate) mod external;
pub(crate) mod ftp;

pub(crate) mod on_off;
pub(crate) mod replay;
pub(crate) mod web;

use nodeb_base::check::Check;
use nodeb_base::remedy::{Change, Remedy};
use nodeb_base::rng::{Stream, Streams};
use nodeb_base::units::Duration;
use nodeb_base::{keys, registry};

use crate::scenario::Direction;

/// Sent as a unit, such as a file or a web object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub bytes: u64,
    /// From the event `after`.
    pub wait: Duration,
    /// Of the previous transfer.
    pub after: After,
    /// Payload of the phone's request, if one is needed; ignored in the first transfer, see
    /// [`TrafficSpec::first_request_bytes`].
    pub request_bytes: Option<u32>,
    /// Of a load (a page or a file).
    pub is_last: bool,
}

/// Of the previous transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Open loop: the network cannot slow the user down.
    Beginning,
    /// Last ACK at the sender (closed loop).
    End,
}

pub trait Source: std::fmt::Debug {
    /// The wait of the first transfer counts from the user's start.
    fn next(&mut self) -> Option<Transfer>;
}

/// Source of an upload.
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

/// In an open loop, except recorded ones; more would fill the memory.
const MAX_TRANSFERS: f64 = 2e7;

impl TrafficSpec {
    /// `None` if the packets come from outside; an upload has no requests.
    pub fn build(&self, user: u64, direction: Direction, streams: &Streams) -> Option<Box<dyn Source>> {
        match direction {
            Direction::Down => self.source(streams.stream("user", user, "traffic")),
            Direction::Up => {
                Some(Box::new(Unrequested(self.source(streams.stream("user", user, "upload"))?)))
            }
        }
    }

    /// `None` if the packets come from outside.
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

    /// With or after the ACK that completes the set-up; 0 without request or payload.
    pub fn first_request_bytes(&self) -> u32 {
        match self {
            Self::Ftp(params) => params.request.0 as u32,
            Self::Web(params) => params.request.0 as u32,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => 0,
        }
    }

    /// To answer a request, if it is not immediate.
    pub fn server_delay(&self) -> Option<Duration> {
        let delay = match self {
            Self::Ftp(params) => params.server_delay,
            Self::Web(params) => params.server_delay,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => Duration::ZERO,
        };
        (delay > Duration::ZERO).then_some(delay)
    }

    pub fn remedies(&self) -> Vec<Remedy<Self>> {
        let mut quick = self.clone();
        match &mut quick {
            Self::Ftp(params) => params.server_delay = Duration::ZERO,
            Self::Web(params) => params.server_delay = Duration::ZERO,
            Self::OnOff(_) | Self::Cbr(_) | Self::Replay(_) | Self::External(_) => {}
        }
        vec![Remedy::of_causes(Change::ServerAtOnce, 1.0, quick)]
    }

    /// This crate reads no files; its caller does.
    pub fn unread(&self) -> Option<String> {
        let Self::Replay(replay) = self else { return None };
        let file = replay.unread()?;
        Some(format!("the recording `{file}` has not been read; expected its times and bytes"))
    }

    pub fn is_external(&self) -> bool {
        matches!(self, Self::External(_))
    }

    /// Key of the time between transfers, and its median in seconds; `None` if the number does not follow
    /// from it: one file, a closed loop, or a list.
    fn pace(&self) -> Option<(&'static [&'static str], f64)> {
        match self {
            Self::OnOff(params) => Some((&["on_off", "pause"], params.pace_s()?)),
            Self::Cbr(params) => Some((&["cbr", "interval"], params.interval.as_secs())),
            Self::Ftp(_) | Self::Web(_) | Self::Replay(_) | Self::External(_) => None,
        }
    }

    /// About 2 * 10^7 transfers of an open loop within `duration`, recorded ones not counted.
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

    /// No packets from outside, recorded traffic, or keys of requests.
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

    /// `None` if it is unknown beforehand.
    pub fn total_bytes(&self) -> Option<u64> {
        match self {
            Self::Ftp(params) => Some(params.size.0),
            Self::Replay(params) => Some(params.bytes.iter().map(|bytes| bytes.0).sum()),
            Self::OnOff(_) | Self::Web(_) | Self::Cbr(_) | Self::External(_) => None,
        }
    }
}
