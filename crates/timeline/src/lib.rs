//! Packet timelines: every packet and block of a run, as tables.
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
mod replay;
mod tables;

use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario};

pub use codes::{End, Kind, Outcome};
pub use places::{Hop, Places};
pub use replay::replay;
pub use tables::empty as empty_tables;

use recorder::Recorder;

/// 64 B each during the run.
pub const DEFAULT_MAX: u64 = 4_000_000;

/// After the end of the window.
pub const FOLLOW_TIME: Duration = Duration(10_000_000_000);

/// Window, user, and number of events.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Inclusive.
    pub from: Time,
    /// Exclusive.
    pub to: Time,
    /// `None` for all users.
    pub user: Option<u32>,
    /// More fail with [`Error::TooMany`].
    pub most: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { from: Time::ZERO, to: Time(u64::MAX), user: None, most: DEFAULT_MAX }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The end is not after the start.
    #[error("the window from {} to {} is empty; expected an end after the beginning", describe(*from), describe(*to))]
    NoTime { from: Time, to: Time },
    #[error("there is no user {user}; expected {}", if *last == 0 { "0".to_owned() } else { format!("0 to {last}") })]
    NoUser { user: u32, last: usize },
    #[error("there are no events from {} to {}{near}", describe(*from), describe(*to))]
    Nothing {
        from: Time,
        to: Time,
        /// Last event before the window and first after it, as text.
        near: String,
    },
    /// More than [`Options::most`].
    #[error(
        "there are {count} events, more than the maximum of {most}; \
         expected a window such as {} to {}", describe(*from), describe(*until)
    )]
    TooMany {
        count: u64,
        most: u64,
        from: Time,
        /// Of a smaller window with few enough events.
        until: Time,
    },
    #[error(transparent)]
    Run(#[from] nodeb_sim::Error),
    /// Cannot be read or replayed.
    #[error(transparent)]
    Recording(#[from] nodeb_emu::Error),
    /// Replayed packets have other fates than in the recording.
    #[error("the replay differs from the recording: {0}; expected the scenario and version of the recording")]
    Differs(String),
}

fn describe(at: Time) -> String {
    if at.0 == u64::MAX { "the end of the run".to_owned() } else { format!("{} s", at.as_secs()) }
}

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug)]
pub struct Timeline {
    /// `events`, `packets`, `hops` and `blocks`.
    pub tables: Vec<Table>,
    /// Of columns that store codes, which are indices.
    pub names: Vec<(&'static str, Vec<String>)>,
    /// With the lanes (boxes of the network) at or between which they lie.
    pub places: Places,
    /// Latest event of the run.
    pub until: Time,
    /// `None` if the run ended after the window.
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
