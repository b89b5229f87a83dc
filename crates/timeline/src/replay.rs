//! Packet timelines of a recorded emulation: the recorder of runs, listening to a replay.

use nodeb_emu::Log;
use nodeb_sim::Scenario;

use crate::recorder::Recorder;
use crate::{Error, Options, Result, Timeline, check};

/// Replays a log and records its events. `users` are the numbers in the scenario of the phones' real users. Real
/// packets have their numbers in the recording as segment numbers.
///
/// # Errors
///
/// See [`Error`].
pub fn replay(
    log: Log<'_>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    options: &Options,
) -> Result<Timeline> {
    check(scenario, options)?;
    let mut recorder = Recorder::new(scenario, options);
    let (replay, result) = log.replay(scenario, seed, users, &mut recorder)?;
    match replay.differs {
        Some(differs) if !recorder.is_over() => Err(Error::Differs(differs)),
        _ => recorder.finish(result),
    }
}
