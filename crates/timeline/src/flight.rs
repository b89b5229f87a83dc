//! The life of every packet of a recorded flight: the same recorder, listening to a world that is flown again.

use nodeb_emu::Log;
use nodeb_sim::Scenario;

use crate::recorder::Recorder;
use crate::{Error, Options, Result, Timeline, check};

/// Flies a log again, whose phones' real users are `users`, and keeps what happens. Real packets have their numbers in
/// the flight as segment numbers.
///
/// # Errors
/// See [`Error`].
pub fn fly(
    log: Log<'_>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    options: &Options,
) -> Result<Timeline> {
    check(scenario, options)?;
    let mut recorder = Recorder::new(scenario, options);
    let (replay, result) = log.fly(scenario, seed, users, &mut recorder)?;
    match replay.differs {
        Some(differs) if !recorder.is_over() => Err(Error::Differs(differs)),
        _ => recorder.finish(result),
    }
}
