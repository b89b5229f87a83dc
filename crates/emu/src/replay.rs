//! In virtual time; fates, arrival or loss, are compared with the recorded ones.

use std::collections::VecDeque;
use std::io::{self, Read};

use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::{Fate, Listener, Live, NullListener};
use nodeb_sim::{Control, Scenario};

use crate::error::{Error, Result};
use crate::lateness::Lateness;
use crate::recording::{Reader, Record};
use crate::report::PhoneReport;
use crate::series::Series;

#[derive(Debug)]
pub struct Replay {
    pub phones: Vec<PhoneReport>,
    pub same: u64,
    pub differs: Option<String>,
    /// The log has an end record.
    pub complete: bool,
    pub late: Lateness,
    /// Of the emulation, or up to the last record.
    pub lasted: Time,
    /// As those of the emulation if no fate differs.
    pub series: Series,
}

/// Maximum virtual time between two progress reports, ns.
const STEP: u64 = 1_000_000_000;

struct Player<'a, L: Listener> {
    control: &'a Control,
    end: Time,
    live: Live<L>,
    users: Vec<u32>,
    fates: Vec<Fate>,
    /// Not yet compared with their records.
    ahead: VecDeque<Fate>,
    accepted: Vec<(Time, nodeb_sim::world::Direction)>,
    found: Replay,
}

/// Replays a log. `users` are the user numbers of the real phones in the scenario.
///
/// # Errors
/// Returns an error if the log cannot be read or does not fit the scenario, or the simulation fails.
pub fn replay<R: Read>(
    reader: &mut Reader<R>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
) -> Result<(Replay, RunResult)> {
    replay_watched(reader, scenario, seed, users, NullListener, (&Control::default(), Time(u64::MAX)))
}

pub(crate) fn replay_watched<R: Read, L: Listener>(
    reader: &mut Reader<R>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    listener: L,
    (control, end): (&Control, Time),
) -> Result<(Replay, RunResult)> {
    let found = Replay {
        phones: users.iter().map(|user| PhoneReport::new(*user)).collect(),
        same: 0,
        differs: None,
        complete: false,
        late: Lateness::default(),
        lasted: Time::ZERO,
        series: Series::new(users.to_vec()),
    };
    let live = Live::with_listener(scenario, seed, 0, listener)?;
    let users = users.to_vec();
    let (fates, ahead, accepted) = (Vec::new(), VecDeque::new(), Vec::new());
    let mut player = Player { control, end, live, users, fates, ahead, accepted, found };
    while let Some(record) = reader.next_record().map_err(Error::log)? {
        player.play(&record)?;
        if player.live.is_over() {
            break;
        }
    }
    player.found.series.sample(&mut player.live)?;
    Ok((player.found, player.live.finish(scenario)))
}

impl<L: Listener> Player<'_, L> {
    fn play(&mut self, record: &Record) -> Result<()> {
        match *record {
            Record::Accepted { at, direction, phone, packet, .. } => {
                let user = *self.users.get(usize::from(phone)).ok_or_else(|| {
                    Error::Log(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "it has more phones than its header lists",
                    ))
                })?;
                self.accepted.push((at, direction));
                self.found.phones[usize::from(phone)]
                    .direction_mut(direction)
                    .offered
                    .add(packet.bytes as usize);
                self.sample_until(at)?;
                self.found.series.offer(usize::from(phone), direction, at, packet.bytes as usize);
                self.live.offer(at, direction, user, packet, &mut self.fates)?;
                self.take(at);
            }
            Record::Arrived { at, late, .. } => {
                self.found.late.add(late);
                self.found.series.hand_over(at, late);
                self.catch_up(at)?;
                self.compare(record);
            }
            Record::Lost { at, .. } => {
                self.catch_up(at)?;
                self.compare(record);
            }
            Record::End { at } => {
                self.catch_up(at)?;
                self.found.complete = true;
                if let (None, Some(fate)) = (&self.found.differs, self.ahead.front()) {
                    self.found.differs =
                        Some(format!("in the replay {}, not in the recording", replayed(fate)));
                }
            }
        }
        Ok(())
    }

    fn catch_up(&mut self, to: Time) -> Result<()> {
        if self.ahead.is_empty() || to > self.live.now() {
            self.sample_until(to)?;
            self.live.advance(to, &mut self.fates);
        }
        self.take(to);
        Ok(())
    }

    /// Reports the progress at least once per [`STEP`] of virtual time.
    fn sample_until(&mut self, to: Time) -> Result<()> {
        let mut at = self.live.now();
        loop {
            at = to.min(Time(at.0.saturating_add(STEP)));
            self.control.report((at.0 as f64 / self.end.0.max(1) as f64).min(1.0))?;
            self.found.series.sample_until(at, &mut self.live, &mut self.fates)?;
            if at == to {
                return Ok(());
            }
        }
    }

    fn take(&mut self, now: Time) {
        self.found.lasted = self.found.lasted.max(now);
        self.ahead.extend(self.fates.drain(..));
    }

    fn compare(&mut self, record: &Record) {
        let fate = self.ahead.pop_front();
        if fate.as_ref().is_some_and(|fate| is_same(record, fate)) {
            self.found.same += 1;
        } else if self.found.differs.is_none() {
            let here = fate.as_ref().map_or_else(|| "it is still in transit".to_owned(), replayed);
            self.found.differs = Some(format!("in the recording {}, in the replay {here}", recorded(record)));
        }
        if let Some(fate) = fate {
            self.count(&fate);
        }
    }

    fn count(&mut self, fate: &Fate) {
        let (Fate::Arrived { user, packet, .. } | Fate::Lost { user, packet, .. }) = *fate;
        let Some(phone) = self.users.iter().position(|one| *one == user) else { return };
        let (accepted, direction) = self.accepted[packet.tag as usize];
        let counts = self.found.phones[phone].direction_mut(direction);
        let series = &mut self.found.series;
        match *fate {
            Fate::Arrived { at, .. } => {
                counts.arrive(accepted, at, packet.bytes as usize);
                series.arrive(phone, direction, accepted, at, packet.bytes as usize);
            }
            Fate::Lost { at, cause, .. } => {
                counts.lose(cause);
                series.lose(phone, direction, at, cause);
            }
        }
    }
}

fn is_same(record: &Record, fate: &Fate) -> bool {
    match (record, fate) {
        (Record::Arrived { number, at, ecn, .. }, Fate::Arrived { at: here, packet, .. }) => {
            (*number, *at, *ecn) == (packet.tag, *here, packet.ecn)
        }
        (Record::Lost { number, at, cause }, Fate::Lost { at: here, packet, cause: why, .. }) => {
            (*number, *at, *cause) == (packet.tag, *here, *why)
        }
        _ => false,
    }
}

fn recorded(record: &Record) -> String {
    match record {
        Record::Arrived { number, at, .. } => format!("packet {number} arrived at {} ns", at.0),
        Record::Lost { number, at, cause } => format!("packet {number} was lost at {} ns ({cause:?})", at.0),
        other => format!("{other:?}"),
    }
}

fn replayed(fate: &Fate) -> String {
    match fate {
        Fate::Arrived { at, packet, .. } => format!("packet {} arrived at {} ns", packet.tag, at.0),
        Fate::Lost { at, packet, cause, .. } => {
            format!("packet {} was lost at {} ns ({cause:?})", packet.tag, at.0)
        }
    }
}
