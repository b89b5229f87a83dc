use nodeb_emu::Log;
use nodeb_sim::Scenario;

use crate::recorder::Recorder;
use crate::{Error, Options, Result, Timeline, check};

/// Replays a log and records its events. `users` are the numbers, in the scenario, of the users who
/// were real phones. The sequence number of a real packet is its number in the recording.
///
/// # Errors
///
/// Returns an [`Error`] if the window or user is invalid, if the window has no events or too many,
/// if the log cannot be replayed, or if the replay differs from the recording.
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
