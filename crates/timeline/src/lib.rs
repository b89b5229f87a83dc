//! The life of every packet: what happens in a run, as tables.
//!
//! A [`Recorder`](recorder::Recorder) is a listener to a run. It gives every packet and every block a number of
//! its own, follows packets from place to place, and keeps what happens in a window of time. Its tables
//! are declared in [`tables`], once: names, units and meanings go from there to files and documentation.
//!
//! What is kept is bounded: events beyond a most number are counted and not kept, and the error says how
//! many there are and which window holds as many as are allowed.

mod blocks;
mod codes;
pub mod flight;
mod lives;
mod order;
mod places;
mod recorder;
pub mod tables;

use nodeb_base::table::Table;
use nodeb_base::units::{Duration, Time};
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::run_with_listener;
use nodeb_sim::{Control, Scenario};

pub use codes::{End, Kind, Outcome};
pub use places::{Hop, Places};

use recorder::Recorder;

/// Events that are kept unless told otherwise: 56 B each while the run lasts.
pub const DEFAULT_MOST: u64 = 4_000_000;

/// How long packets are followed that are under way when the window ends.
pub const FOLLOWED: Duration = Duration(10_000_000_000);

/// What to keep.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Where the window begins.
    pub from: Time,
    /// Where it ends; what happens then is not in it.
    pub to: Time,
    /// The only user whose packets are kept; `None` for all.
    pub user: Option<u32>,
    /// Most events that are kept.
    pub most: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { from: Time::ZERO, to: Time(u64::MAX), user: None, most: DEFAULT_MOST }
    }
}

/// Why there is no timeline.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The window has no time in it.
    #[error("the window from {} to {} is empty; expected an end after the beginning", describe(*from), describe(*to))]
    NoTime {
        /// Its beginning.
        from: Time,
        /// Its end.
        to: Time,
    },
    /// The scenario has no such user.
    #[error("there is no user {user}; the users are 0 to {last}")]
    NoUser {
        /// Who was asked for.
        user: u32,
        /// The last one that there is.
        last: usize,
    },
    /// Nothing happens in the window.
    #[error("nothing happens from {} to {}{near}", describe(*from), describe(*to))]
    Nothing {
        /// Its beginning.
        from: Time,
        /// Its end.
        to: Time,
        /// What is nearest.
        near: String,
    },
    /// There are more events than may be kept.
    #[error(
        "{count} events happen, and at most {most} are kept; \
         the window from {} to {} holds no more", describe(*from), describe(*until)
    )]
    TooMany {
        /// How many there are.
        count: u64,
        /// How many may be kept.
        most: u64,
        /// Where the window begins.
        from: Time,
        /// Where a window ends that is small enough.
        until: Time,
    },
    /// The simulation ended early.
    #[error(transparent)]
    Run(#[from] nodeb_sim::Error),
    /// A recorded flight cannot be flown again.
    #[error(transparent)]
    Flight(#[from] nodeb_emu::Error),
    /// The cell is not the one of the flight.
    #[error("flown again, not the same becomes of its packets: {0}")]
    Differs(String),
}

/// A time in a message.
fn describe(at: Time) -> String {
    if at.0 == u64::MAX { "the end of the run".to_owned() } else { format!("{} s", at.as_secs()) }
}

/// What this crate's fallible functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// What happened in a run.
#[derive(Debug)]
pub struct Timeline {
    /// `events`, `packets`, `hops` and `blocks`.
    pub tables: Vec<Table>,
    /// The names that the numbers in some columns stand for.
    pub names: Vec<(&'static str, Vec<String>)>,
    /// The places that packets pass, and the lanes between which they lie.
    pub places: Places,
    /// Until when packets were followed.
    pub until: Time,
    /// What the run itself has given; `None` where it was ended behind the window.
    pub result: Option<RunResult>,
}

/// Simulates replication number `run` of a scenario under `seed`, and keeps what happens.
///
/// The run ends [`FOLLOWED`] after the window: what comes later changes nothing in it.
///
/// # Errors
/// See [`Error`].
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

/// Complains about a window or a user that there is not.
fn check(scenario: &Scenario, options: &Options) -> Result<()> {
    let &Options { from, to, user, .. } = options;
    if to <= from {
        return Err(Error::NoTime { from, to });
    }
    if let Some(user) = user.filter(|user| *user as usize >= scenario.user_count()) {
        return Err(Error::NoUser { user, last: scenario.user_count() - 1 });
    }
    Ok(())
}
