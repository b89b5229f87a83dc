//! Shares no code with the search for the path.

use std::collections::HashMap;
use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Place, Site, TimerKind, UplinkPassage};
use nodeb_base::packet::PacketId;
use nodeb_base::units::{Duration, Time};
use nodeb_explain::{Cause, Path, Span, Step};
use nodeb_sim::world::{Listener, run_with_listener};
use nodeb_sim::{Control, Scenario};
use nodeb_tcp::segment::Segment;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

type Interval = (Time, Time);

/// `None` while the stay lasts.
type Stay = (Time, Option<Time>);

/// Bearer, user, retransmission, start of the TTI.
type OnAir = (u32, u32, bool, Time);

/// By place and packet number; the rest mostly as lists in the order of time.
#[derive(Default)]
pub struct Reference {
    tti: Duration,
    stays: HashMap<(Place, u64), Vec<Stay>>,
    served: HashMap<(Place, u64), Vec<Interval>>,
    propagations: HashMap<(Place, u64), Vec<Interval>>,
    all_served: HashMap<Place, Vec<(Interval, u64)>>,
    blocks: Vec<OnAir>,
    frames: Vec<Interval>,
    expired: HashMap<(Place, Time), Vec<TimerKind>>,
    received: HashMap<(Site, u64), Time>,
    sent: HashMap<u64, Time>,
    handovers: Vec<Time>,
    sleeps: Vec<Interval>,
    switches: Vec<(u32, u32, Time, u8)>,
}

fn number(packet: PacketId) -> u64 {
    packet.0 >> 32
}

fn within((from, to): Interval, span: &Span) -> bool {
    from <= span.begin && span.end <= to
}

fn covers(span: &Span, mut intervals: Vec<Interval>) -> bool {
    intervals.sort_unstable();
    let mut at = span.begin;
    for (from, to) in intervals {
        if from <= at {
            at = at.max(to);
        }
    }
    at >= span.end
}

impl Reference {
    pub fn of(scenario: &Scenario) -> Self {
        let mut seen = Self {
            tti: scenario.radio.parts().tti.map(|tti| tti.duration).unwrap_or_default(),
            ..Self::default()
        };
        run_with_listener(scenario, scenario.seed, 0, &Control::default(), &mut seen).unwrap();
        seen.blocks.sort_by_key(|(.., at)| *at);
        seen
    }

    pub fn check(&self, path: &Path) -> std::result::Result<(), TestCaseError> {
        for span in &path.spans {
            let is_so = self.is_justified(span, path);
            prop_assert!(
                is_so,
                "nothing justifies {:?} of a path from {:?} to {:?}",
                span,
                path.begun,
                path.ended
            );
        }
        Ok(())
    }

    fn is_justified(&self, span: &Span, path: &Path) -> bool {
        match span.step {
            Step::NotAsked => true,
            Step::AckHeld | Step::TimerRuns | Step::Paced | Step::Reads | Step::Works => self.ran(span, path),
            _ => self.was_there(span) && self.was_so(span, path),
        }
    }

    /// A fitting timer expired at the end. A delayed ACK begins with an arrival or the path; the last span of
    /// an incomplete transfer needs none.
    fn ran(&self, span: &Span, path: &Path) -> bool {
        let timers = self.expired.get(&(span.place, span.end)).map_or(&[][..], Vec::as_slice);
        let has_expired = timers.iter().any(|timer| match span.cause {
            Cause::Timeout => {
                matches!(timer, TimerKind::Retransmission | TimerKind::Probe | TimerKind::Request)
            }
            Cause::DelayedAck => *timer == TimerKind::Acknowledgement,
            Cause::ReceiverWindow => matches!(timer, TimerKind::Acknowledgement | TimerKind::Persist),
            Cause::Pacing => *timer == TimerKind::Pacing,
            Cause::ProxyWindow => *timer == TimerKind::Feedback,
            Cause::Server => *timer == TimerKind::Server,
            Cause::Recovery => matches!(timer, TimerKind::Reorder | TimerKind::Snoop),
            _ => false,
        });
        let since_arrival = span.cause != Cause::DelayedAck
            || span.begin == path.begun
            || self.received.get(&(span.place.site, span.packet)) == Some(&span.begin)
            || self.received.iter().any(|((site, _), at)| *site == span.place.site && *at == span.begin);
        (has_expired && since_arrival) || (!path.complete && span.end == path.ended)
    }

    fn was_there(&self, span: &Span) -> bool {
        let stays = self.stays.get(&(span.place, span.packet));
        stays.into_iter().flatten().any(|&(from, to)| within((from, to.unwrap_or(Time(u64::MAX))), span))
    }

    fn was_so(&self, span: &Span, path: &Path) -> bool {
        let on_air = span.place.site == Site::Bearer && self.tti > Duration::ZERO;
        let own = |list: &HashMap<(Place, u64), Vec<Interval>>| {
            let intervals = list.get(&(span.place, span.packet));
            intervals.into_iter().flatten().any(|interval| within(*interval, span))
        };
        match span.step {
            // A link with recorded delivery opportunities may transmit a packet in several
            // intervals.
            Step::Sends | Step::OwnAhead if !on_air => {
                let key = (span.place, span.packet);
                covers(span, self.served.get(&key).cloned().unwrap_or_default())
            }
            Step::NotServed if !on_air => !self.any_served(span),
            Step::Propagates if !on_air && span.place.site != Site::Server => {
                own(&self.propagations) || !path.complete
            }
            Step::OthersServed if !on_air => covers(span, self.others(span)),
            Step::OthersServed => covers(span, self.blocks_around(span, |_, _| true)),
            Step::Sends | Step::OwnAhead => {
                covers(span, self.blocks_around(span, |_, _| true)) && self.begins_with_a_tti(span, path)
            }
            Step::Retransmits if span.cause == Cause::Harq => self.overlaps(span, |again| again),
            Step::Iub => self.frames.iter().any(|frame| within(*frame, span)),
            Step::Sleeps => self.sleeps.iter().any(|sleep| within(*sleep, span)),
            Step::CellChanges => self.handovers.iter().any(|at| *at <= span.begin),
            Step::Switches => self.was_switching(span),
            _ => true,
        }
    }

    /// Or of the path: a packet that arrives during a TTI does not wait for it.
    fn begins_with_a_tti(&self, span: &Span, path: &Path) -> bool {
        span.begin.0.is_multiple_of(self.tti.0) || span.begin == path.begun
    }

    fn any_served(&self, span: &Span) -> bool {
        let all = self.all_served.get(&span.place).into_iter().flatten();
        all.into_iter().any(|((from, to), _)| *from < span.end && *to > span.begin)
    }

    fn others(&self, span: &Span) -> Vec<Interval> {
        let all = self.all_served.get(&span.place);
        all.into_iter()
            .flatten()
            .filter(|(_, packet)| *packet != span.packet)
            .map(|(interval, _)| *interval)
            .collect()
    }

    fn blocks_around(&self, span: &Span, kind: impl Fn(bool, u32) -> bool) -> Vec<Interval> {
        let around = self.around(span);
        around
            .filter(|(_, user, again, _)| kind(*again, *user))
            .map(|&(.., at)| (at, at + self.tti))
            .collect()
    }

    fn around(&self, span: &Span) -> impl Iterator<Item = &OnAir> {
        let (bearer, tti) = (span.place.index, self.tti);
        let first = self.blocks.partition_point(|(.., at)| *at + tti <= span.begin);
        let after = self.blocks[first..].iter();
        let end = span.end;
        after.take_while(move |(.., at)| *at < end).filter(move |(of, ..)| *of == bearer)
    }

    fn overlaps(&self, span: &Span, kind: impl Fn(bool) -> bool) -> bool {
        self.around(span).any(|(_, _, again, _)| kind(*again))
    }

    fn was_switching(&self, span: &Span) -> bool {
        let is_switch = |state: u8| ![2, 4].contains(&state);
        let of_bearer = || self.switches.iter().filter(|(bearer, ..)| *bearer == span.place.index);
        let users: std::collections::HashSet<u32> = of_bearer().map(|(_, user, ..)| *user).collect();
        users.into_iter().any(|user| {
            let mut states = of_bearer().filter(|(_, of, ..)| *of == user);
            states.rfind(|(_, _, at, _)| *at <= span.begin).is_some_and(|(.., state)| is_switch(*state))
        })
    }
}

impl Listener for Reference {
    fn mask(&self) -> Mask {
        Mask::ALL
    }

    fn on_event(&mut self, at: Time, event: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        match *event {
            Event::Sent { packet, .. } => {
                self.sent.insert(number(packet), at);
            }
            Event::Entered { place, packet } => {
                self.stays.entry((place, number(packet))).or_default().push((at, None));
            }
            Event::Left { place, packet } | Event::Lost { place, packet, .. } => {
                if let Some(stay) =
                    self.stays.get_mut(&(place, number(packet))).and_then(|stays| stays.last_mut())
                {
                    stay.1 = Some(at);
                }
            }
            Event::Served { place, packet, from, sent, .. } => {
                let key = (place, number(packet));
                self.served.entry(key).or_default().push((from, sent));
                self.propagations.entry(key).or_default().push((sent, Time(u64::MAX)));
                self.all_served.entry(place).or_default().push(((from, sent), number(packet)));
            }
            // The first transmissions of the packet's blocks, and the last one of the block that completed it.
            Event::Granted { phone, packet, passage: UplinkPassage { first, from, .. } } => {
                let place = Place::new(Site::Uplink, phone);
                let served = self.served.entry((place, number(packet))).or_default();
                served.extend([(first, from + self.tti), (at - self.tti, at)]);
            }
            Event::Received { place, packet } => {
                self.received.insert((place.site, number(packet)), at);
            }
            Event::Block { bearer, user, transmission, .. } => {
                self.blocks.push((bearer, user, transmission > 1, at));
            }
            Event::Frame { arrives, .. } => self.frames.push((at, arrives)),
            Event::TimerExpired { place, timer, .. } => {
                self.expired.entry((place, at)).or_default().push(timer);
            }
            Event::Handover { .. } => self.handovers.push(at),
            Event::Slept { from, until, .. } => self.sleeps.push((from, until)),
            Event::State { bearer, user, state } => self.switches.push((bearer, user, at, state)),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
