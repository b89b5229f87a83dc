//! Packet timelines: every packet and block of a run, as tables.
//!
//! A listener to a run (`recorder`) numbers packets and blocks in the order of their transmission.
//! It follows packets from place to place, and records all events in a window of time. [`tables`]
//! declares the four tables of a timeline; files and documentation take names, units and meanings
//! from it. [`replay`](mod@replay) makes the timeline of a recorded emulation.
//!
//! The number of recorded events is bounded by [`Options::most`]. If the window has more events,
//! the error states their number and suggests a smaller window.
//!
//! # Examples
//!
//! ```
//! use nodeb_base::units::Time;
//! use nodeb_sim::{Control, scenario};
//! use nodeb_timeline::Options;
//!
//! let text = r#"
//!     radio.dch = {}
//!     users = [{ traffic.ftp.size = "50 kB" }]
//! "#;
//! let scenario = scenario::from_toml(text, "example.toml", &[])?;
//! let options = Options { to: Time(1_000_000_000), ..Options::default() };
//! let timeline = nodeb_timeline::run(&scenario, 1, 0, &Control::default(), &options).expect("events");
//!
//! let names: Vec<_> = timeline.tables.iter().map(|table| table.name).collect();
//! assert_eq!(names, ["events", "packets", "hops", "blocks"]);
//! # Ok::<(), nodeb_sim::Error>(())
//! ```

mod blocks;
mod codes;
mod order;
mod packets;
mod places;
mod recorder;
pub mod replay;
pub mod tables;

use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario};

pub use codes::{End, Kind, Outcome};
pub use places::{Hop, Places};

use recorder::Recorder;

/// Default maximum number of events, which take 64 B each during the run.
pub const DEFAULT_MAX: u64 = 4_000_000;

/// Time for which packets in flight are followed after the end of the window: 10 s.
pub const FOLLOW_TIME: Duration = Duration(10_000_000_000);

/// Extent of a recording: the window, the user, and the maximum number of events.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Start of the window, inclusive.
    pub from: Time,
    /// End of the window, exclusive.
    pub to: Time,
    /// Number of the only user whose packets, blocks and events are recorded; `None` for all users.
    pub user: Option<u32>,
    /// Maximum number of events in the window. If there are more, the recording fails with
    /// [`Error::TooMany`].
    pub most: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { from: Time::ZERO, to: Time(u64::MAX), user: None, most: DEFAULT_MAX }
    }
}

/// Reason why there is no timeline.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The window is empty: its end is not after its start.
    #[error("the window from {} to {} is empty; expected an end after the beginning", describe(*from), describe(*to))]
    NoTime {
        /// Start of the requested window.
        from: Time,
        /// End of the requested window, not later than the start.
        to: Time,
    },
    /// The scenario has no user with the requested number.
    #[error("there is no user {user}; expected {}", if *last == 0 { "0".to_owned() } else { format!("0 to {last}") })]
    NoUser {
        /// Number of the user that was requested.
        user: u32,
        /// Highest valid user number.
        last: usize,
    },
    /// The run has no events in the window.
    #[error("there are no events from {} to {}{near}", describe(*from), describe(*to))]
    Nothing {
        /// Start of the requested window.
        from: Time,
        /// End of the requested window.
        to: Time,
        /// Times of the last event before the window and of the first event after it, as text; empty
        /// if there is neither.
        near: String,
    },
    /// There are more events than [`Options::most`].
    #[error(
        "there are {count} events, more than the maximum of {most}; \
         expected a window such as {} to {}", describe(*from), describe(*until)
    )]
    TooMany {
        /// Number of events in the window.
        count: u64,
        /// Maximum number of events, [`Options::most`].
        most: u64,
        /// Start of the requested window.
        from: Time,
        /// End of a smaller window that has at most the maximum number of events.
        until: Time,
    },
    /// The simulation was cancelled or failed.
    #[error(transparent)]
    Run(#[from] nodeb_sim::Error),
    /// The recording cannot be read or replayed.
    #[error(transparent)]
    Recording(#[from] nodeb_emu::Error),
    /// Replayed packets have other fates than in the recording.
    #[error("the replay differs from the recording: {0}; expected the scenario and version of the recording")]
    Differs(String),
}

/// Formats a time for a message as seconds, or as "the end of the run" if it is the largest time.
fn describe(at: Time) -> String {
    if at.0 == u64::MAX { "the end of the run".to_owned() } else { format!("{} s", at.as_secs()) }
}

/// Result of this crate's fallible functions.
pub type Result<T> = std::result::Result<T, Error>;

/// Recorded timeline of a run.
#[derive(Debug)]
pub struct Timeline {
    /// Tables `events`, `packets`, `hops` and `blocks`.
    pub tables: Vec<Table>,
    /// Names of the columns that store codes, each with its list of names; a code is an index in this list.
    pub names: Vec<(&'static str, Vec<String>)>,
    /// Places (nodes, links and bearers) that packets pass, and the lanes (boxes of the network, such
    /// as the gateway) at or between which the places lie.
    pub places: Places,
    /// Time up to which packets were followed: the time of the latest event of the run.
    pub until: Time,
    /// Results of the run; `None` if the recorder ended the run after the window.
    pub result: Option<RunResult>,
}

/// Simulates replication number `run` of a scenario under `seed` and records its events in the window.
///
/// The run ends at the first event more than [`FOLLOW_TIME`] after the window, if it has not ended
/// before. If the window has too many events, the run continues to its end. Packets still in flight
/// at the end have `under way` in the column `end`.
///
/// # Errors
///
/// Returns an [`Error`] if the window or user is invalid, if the window has no events or too many,
/// or if the simulation fails.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    run: u64,
    control: &Control,
    options: &Options,
) -> Result<Timeline> {
    check(scenario, options)?;
    let mut recorder = Recorder::new(scenario, options);
    let result = run_with_listener(scenario, seed, run, control, &mut recorder)?;
    recorder.finish(result)
}

/// Checks the window and the user.
///
/// # Errors
///
/// Returns [`Error::NoTime`] if the window is empty, or [`Error::NoUser`] if the scenario has no user with
/// the requested number.
fn check(scenario: &Scenario, options: &Options) -> Result<()> {
    let &Options { from, to, user, .. } = options;
    if to <= from {
        return Err(Error::NoTime { from, to });
    }
    let users = scenario.connections().len();
    if let Some(user) = user.filter(|user| *user as usize >= users) {
        return Err(Error::NoUser { user, last: users - 1 });
    }
    Ok(())
}
