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
    let result = match log.fly(scenario, seed, users, &mut recorder) {
        Err(error) if !recorder.is_over() => return Err(error.into()),
        Ok((replay, _)) if replay.differs.is_some() => {
            return Err(Error::Differs(replay.differs.unwrap_or_default()));
        }
        ended => ended.ok().map(|(_, result)| result),
    };
    Ok(Timeline { result, ..recorder.finish()? })
}
