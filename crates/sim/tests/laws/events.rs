//! Laws of the stream of events: it is one story, and nobody who listens changes it.

use std::collections::HashMap;
use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask, Part, Place, Record, Recovery, Site};
use nodeb_base::packet::PacketId;
use nodeb_base::units::Time;
use nodeb_sim::metrics::RunResult;
use nodeb_sim::world::{Listener, Live, run_with_listener};
use nodeb_sim::{Control, run, scenario};
use nodeb_tcp::segment::Segment;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::cases::{self, Case};

/// Keeps everything.
#[derive(Default)]
struct Everything(Vec<Record>);

impl Listener for Everything {
    fn mask(&self) -> Mask {
        Mask::ALL
    }

    fn on_event(&mut self, at: Time, event: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        self.0.push((at, *event));
        ControlFlow::Continue(())
    }
}

/// Where a packet is in its life.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Between two places, or between its sender and the first.
    Between,
    At(Place),
    Over,
}

/// Each packet is sent once, comes to places and leaves them, and is received or lost once.
fn lives_are_whole(told: &[Record]) -> std::result::Result<(), TestCaseError> {
    let mut stages: HashMap<PacketId, (Time, Stage)> = HashMap::new();
    for (at, event) in told {
        let next = match *event {
            Event::Sent { packet, .. } | Event::Left { packet, .. } => (packet, Stage::Between),
            Event::Entered { place, packet } => (packet, Stage::At(place)),
            Event::Lost { packet, .. } | Event::Received { packet, .. } => (packet, Stage::Over),
            _ => continue,
        };
        let (packet, stage) = next;
        let before = stages.insert(packet, (*at, stage));
        let fits = match (before, *event) {
            (None, event) => matches!(event, Event::Sent { .. }),
            // A place that does not take a packet loses it as well.
            (Some((_, Stage::Between)), event) => {
                matches!(event, Event::Entered { .. } | Event::Received { .. } | Event::Lost { .. })
            }
            (Some((_, Stage::At(at))), Event::Left { place, .. } | Event::Lost { place, .. }) => at == place,
            _ => false,
        };
        prop_assert!(fits, "{at:?}: {event:?} after {before:?}");
        prop_assert!(before.is_none_or(|(earlier, _)| earlier <= *at), "{at:?}: {event:?} after {before:?}");
    }
    Ok(())
}

/// What is told of a bearer's TTIs is what is counted, and nothing begins after the end.
fn what_is_told_is_what_is_counted(
    case: &Case,
    told: &[Record],
    end_s: f64,
) -> std::result::Result<(), TestCaseError> {
    let end = Time(case.scenario.duration.0);
    let at_end = Time((end_s * 1e9).round() as u64);
    for (at, event) in told {
        prop_assert!(*at <= end && at.0 <= at_end.0 + 1, "{at:?} after {at_end:?}: {event:?}");
    }
    Ok(())
}

/// Every packet that has come through a bearer that tells its blocks was carried whole by blocks of its
/// bearer, and no block carries what is not in a packet.
fn blocks_belong_to_packets(told: &[Record]) -> std::result::Result<(), TestCaseError> {
    let mut sizes: HashMap<PacketId, u32> = HashMap::new();
    let mut parts: HashMap<PacketId, Vec<(u32, u32)>> = HashMap::new();
    for (_, event) in told {
        match *event {
            Event::Sent { packet, size, .. } => {
                sizes.insert(packet, size);
            }
            Event::Carries { part: Part { packet, offset, bytes }, .. } => {
                prop_assert!(
                    bytes > 0 && offset + bytes <= sizes[&packet],
                    "{event:?} of {}",
                    sizes[&packet]
                );
                parts.entry(packet).or_default().push((offset, offset + bytes));
            }
            Event::Left { place, packet } if place.site == Site::Bearer && !parts.is_empty() => {
                let mut carried = parts.remove(&packet).unwrap_or_default();
                carried.sort_unstable();
                let whole =
                    carried.iter().fold(0, |end, &(from, to)| if from <= end { end.max(to) } else { end });
                prop_assert_eq!(whole, sizes[&packet], "{:?} arrived in parts {:?}", packet, carried);
            }
            _ => {}
        }
    }
    Ok(())
}

/// What is told of each sender's recovery changes from one state to another, a timeout is told only when
/// the timer was told to run out just then, and the states told agree with what is counted.
fn recovery_is_told_as_counted(told: &[Record], run: &RunResult) -> std::result::Result<(), TestCaseError> {
    let mut senders: HashMap<u32, (Recovery, Option<Time>)> = HashMap::new();
    let mut timeouts: HashMap<u32, u64> = HashMap::new();
    for (at, event) in told {
        match *event {
            Event::Recovery { flow, state } => {
                let (before, timer) = senders.entry(flow).or_default();
                prop_assert_ne!(*before, state);
                if state == Recovery::Timeout {
                    prop_assert_eq!(*timer, Some(*at), "a timeout of flow {}", flow);
                    *timeouts.entry(flow).or_default() += 1;
                }
                *before = state;
            }
            Event::Timer { flow, at: timer } => {
                let (_, set) = senders.entry(flow).or_default();
                prop_assert!(*set != timer && timer.is_none_or(|timer| timer >= *at), "{at:?}: {event:?}");
                *set = timer;
            }
            _ => {}
        }
    }
    for (user, flow) in run.flows.iter().enumerate() {
        let told = timeouts.get(&(user as u32)).copied().unwrap_or_default();
        prop_assert!(told <= flow.sender.timeouts, "user {user}: {told} of {}", flow.sender.timeouts);
        prop_assert!(told > 0 || flow.sender.timeouts == 0, "user {user}: none of {}", flow.sender.timeouts);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::config(120))]

    /// Every packet's events form one unbroken life; blocks belong to packets; nothing is told past the end;
    /// and whoever listens to everything changes nothing.
    #[test]
    fn events_tell_one_story(case in cases::any_scenario()) {
        let quiet = run(&case.scenario, case.scenario.seed, 0, &Control::default()).unwrap();
        let mut listener = Everything::default();
        let loud = run_with_listener(&case.scenario, case.scenario.seed, 0, &Control::default(), &mut listener).unwrap();
        prop_assert_eq!(format!("{quiet:?}"), format!("{loud:?}"));
        let mut emitted = listener.0;
        lives_are_whole(&emitted)?;
        what_is_told_is_what_is_counted(&case, &emitted, loud.end_s)?;
        recovery_is_told_as_counted(&emitted, &loud)?;
        emitted.sort_by_key(|(at, _)| *at);
        blocks_belong_to_packets(&emitted)?;
    }
}

/// Hears so many events and ends the run at each one after them.
struct Ends {
    after: u32,
    asked: u32,
}

impl Listener for Ends {
    fn mask(&self) -> Mask {
        Mask::ALL
    }

    fn on_event(&mut self, _: Time, _: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        self.asked += 1;
        if self.asked > self.after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Many events belong to one step.
#[test]
fn a_listener_that_has_ended_the_run_is_asked_no_more() {
    let text = "[radio.hs_dsch]\nbler = 0.3\n[[users]]\ntraffic.ftp.size = '20 kB'";
    let scenario = scenario::from_toml(text, "fails", &[]).unwrap();
    for after in 0..100 {
        let mut listener = Ends { after, asked: 0 };
        let result = run_with_listener(&scenario, 1, 0, &Control::default(), &mut listener).unwrap();
        assert!(result.end_s < 1.5);
        assert_eq!(listener.asked, after + 1);
        let mut listener = Ends { after, asked: 0 };
        let mut live = Live::with_listener(&scenario, 1, 0, &mut listener).unwrap();
        for tenth in 0..50 {
            live.advance(Time(tenth * 100_000_000), &mut Vec::new());
        }
        assert!(live.is_over());
        drop(live);
        assert_eq!(listener.asked, after + 1);
    }
}
