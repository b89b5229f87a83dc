//! A recorded flight flown again in virtual time: the same packets are offered at the same times, and what becomes of
//! them is held against what became of them then.

use std::collections::VecDeque;
use std::io::{self, Read};

use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::{Fate, Listener, Live, NullListener};
use nodeb_sim::{Control, Scenario};

use crate::error::{Error, Result};
use crate::flight::{Reader, Record};
use crate::lateness::Lateness;
use crate::report::OfPhone;
use crate::series::Series;

/// What came of a replay.
#[derive(Debug)]
pub struct Replay {
    /// What became of each phone's packets.
    pub phones: Vec<OfPhone>,
    /// Packets that arrived or were lost as they had in the flight.
    pub same: u64,
    /// The first that did not, in words.
    pub differs: Option<String>,
    /// Whether the log has its end.
    pub complete: bool,
    /// How late the flight's deliveries were.
    pub late: Lateness,
    /// How long the flight lasted.
    pub lasted: Time,
    /// What happened over time.
    pub series: Series,
}

/// How much time passes between two looks at who watches, at most.
const STEP: u64 = 1_000_000_000;

struct Player<'a, L: Listener> {
    control: &'a Control,
    /// When the flight ended, as far as is known.
    end: Time,
    live: Live<L>,
    users: Vec<u32>,
    fates: Vec<Fate>,
    /// What has become of packets here that the log has not told yet.
    ahead: VecDeque<Fate>,
    /// When the packets were accepted, and their way, by number.
    accepted: Vec<(Time, nodeb_sim::world::Direction)>,
    found: Replay,
}

/// Flies a log again; `users` are the real users of its phones.
///
/// # Errors
/// The log cannot be read or does not fit the scenario; the world's.
pub fn replay<R: Read>(
    reader: &mut Reader<R>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
) -> Result<(Replay, RunResult)> {
    replay_watched(reader, scenario, seed, users, NullListener, (&Control::default(), Time(u64::MAX)))
}

/// As [`replay`], with a listener to what happens, which may end it, and with `control`, which watches how far it is on
/// its way to the end.
pub(crate) fn replay_watched<R: Read, L: Listener>(
    reader: &mut Reader<R>,
    scenario: &Scenario,
    seed: u64,
    users: &[u32],
    listener: L,
    (control, end): (&Control, Time),
) -> Result<(Replay, RunResult)> {
    let found = Replay {
        phones: users.iter().map(|user| OfPhone::new(*user)).collect(),
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
    player.found.series.look(&mut player.live)?;
    Ok((player.found, player.live.finish(scenario)))
}

impl<L: Listener> Player<'_, L> {
    fn play(&mut self, record: &Record) -> Result<()> {
        match *record {
            Record::Accepted { at, direction, phone, packet, .. } => {
                let user = *self.users.get(usize::from(phone)).ok_or_else(|| {
                    Error::Log(io::Error::new(io::ErrorKind::InvalidData, "it has more phones than it says"))
                })?;
                self.accepted.push((at, direction));
                self.found.phones[usize::from(phone)]
                    .direction_mut(direction)
                    .offered
                    .add(packet.bytes as usize);
                self.look_until(at)?;
                self.found.series.offer(usize::from(phone), direction, at, packet.bytes as usize);
                self.live.offer(at, direction, user, packet, &mut self.fates)?;
                self.take(at);
            }
            Record::Arrived { at, late, .. } => {
                self.found.late.add(late);
                self.found.series.hand_over(at, late);
                self.catch_up(at)?;
                self.hold(record);
            }
            Record::Lost { at, .. } => {
                self.catch_up(at)?;
                self.hold(record);
            }
            Record::End { at } => {
                self.catch_up(at)?;
                self.found.complete = true;
                if let (None, Some(fate)) = (&self.found.differs, self.ahead.front()) {
                    self.found.differs =
                        Some(format!("here {}, of which the flight knows nothing", said(fate)));
                }
            }
        }
        Ok(())
    }

    fn catch_up(&mut self, to: Time) -> Result<()> {
        if self.ahead.is_empty() || to > self.live.now() {
            self.look_until(to)?;
            self.live.advance(to, &mut self.fates);
        }
        self.take(to);
        Ok(())
    }

    /// Looks at the world as often as it is time to, on its way to a time that may be far away.
    fn look_until(&mut self, to: Time) -> Result<()> {
        let mut at = self.live.now();
        loop {
            at = to.min(Time(at.0.saturating_add(STEP)));
            self.control.report((at.0 as f64 / self.end.0.max(1) as f64).min(1.0))?;
            self.found.series.look_until(at, &mut self.live, &mut self.fates)?;
            if at == to {
                return Ok(());
            }
        }
    }

    fn take(&mut self, now: Time) {
        self.found.lasted = self.found.lasted.max(now);
        self.ahead.extend(self.fates.drain(..));
    }

    /// Holds what the flight told of a packet against what has become of it here.
    fn hold(&mut self, told: &Record) {
        let fate = self.ahead.pop_front();
        if fate.as_ref().is_some_and(|fate| is_same(told, fate)) {
            self.found.same += 1;
        } else if self.found.differs.is_none() {
            let here = fate.as_ref().map_or_else(|| "nothing has become of it by then".to_owned(), said);
            self.found.differs = Some(format!("in the flight {}, here {here}", recorded(told)));
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

fn is_same(told: &Record, fate: &Fate) -> bool {
    match (told, fate) {
        (Record::Arrived { number, at, ecn, .. }, Fate::Arrived { at: here, packet, .. }) => {
            (*number, *at, *ecn) == (packet.tag, *here, packet.ecn)
        }
        (Record::Lost { number, at, cause }, Fate::Lost { at: here, packet, cause: why, .. }) => {
            (*number, *at, *cause) == (packet.tag, *here, *why)
        }
        _ => false,
    }
}

fn recorded(told: &Record) -> String {
    match told {
        Record::Arrived { number, at, .. } => format!("packet {number} arrived at {} ns", at.0),
        Record::Lost { number, at, cause } => format!("packet {number} was lost at {} ns ({cause:?})", at.0),
        other => format!("{other:?}"),
    }
}

fn said(fate: &Fate) -> String {
    match fate {
        Fate::Arrived { at, packet, .. } => format!("packet {} arrives at {} ns", packet.tag, at.0),
        Fate::Lost { at, packet, cause, .. } => {
            format!("packet {} is lost at {} ns ({cause:?})", packet.tag, at.0)
        }
    }
}
