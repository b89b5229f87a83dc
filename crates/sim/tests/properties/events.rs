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

/// Of a packet on its path.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// Between two places, or between its sender and the first one.
    Between,
    At(Place),
    Over,
}

/// Sent once, enters and leaves places alternately, and is received or lost once.
fn check_packets(events: &[Record]) -> std::result::Result<(), TestCaseError> {
    let mut stages: HashMap<PacketId, (Time, Stage)> = HashMap::new();
    for (at, event) in events {
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
            // A packet can also be lost on arrival, if a place does not accept it.
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

/// Not after the end of the run or the duration.
fn check_times(case: &Case, events: &[Record], end_s: f64) -> std::result::Result<(), TestCaseError> {
    let end = Time(case.scenario.duration.0);
    let at_end = Time((end_s * 1e9).round() as u64);
    for (at, event) in events {
        prop_assert!(*at <= end && at.0 <= at_end.0 + 1, "{at:?} after {at_end:?}: {event:?}");
    }
    Ok(())
}

/// Blocks carried every byte of each packet delivered, and none beyond its end.
fn check_blocks(events: &[Record]) -> std::result::Result<(), TestCaseError> {
    let mut sizes: HashMap<PacketId, u32> = HashMap::new();
    let mut parts: HashMap<PacketId, Vec<(u32, u32)>> = HashMap::new();
    for (_, event) in events {
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
            Event::Left { place, packet }
                if place.site == Site::Bearer && !parts.is_empty()
                    || place.site == Site::Uplink && parts.contains_key(&packet) =>
            {
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

/// Only changes, and a timeout only when the timer expires; the sender counts at least as many timeouts, and
/// 0 if none is reported.
fn check_recovery(events: &[Record], run: &RunResult) -> std::result::Result<(), TestCaseError> {
    let mut senders: HashMap<u32, (Recovery, Option<Time>)> = HashMap::new();
    let mut timeouts: HashMap<u32, u64> = HashMap::new();
    for (at, event) in events {
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
        let reported = timeouts.get(&(user as u32)).copied().unwrap_or_default();
        prop_assert!(reported <= flow.sender.timeouts, "user {user}: {reported} of {}", flow.sender.timeouts);
        prop_assert!(
            reported > 0 || flow.sender.timeouts == 0,
            "user {user}: none of {}",
            flow.sender.timeouts
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(super::config(120))]

    #[test]
    fn events_are_consistent_and_listening_changes_nothing(case in cases::any_scenario()) {
        let quiet = run(&case.scenario, case.scenario.seed, 0, &Control::default()).unwrap();
        let mut listener = Everything::default();
        let loud = run_with_listener(&case.scenario, case.scenario.seed, 0, &Control::default(), &mut listener).unwrap();
        prop_assert_eq!(format!("{quiet:?}"), format!("{loud:?}"));
        let mut emitted = listener.0;
        check_packets(&emitted)?;
        check_times(&case, &emitted, loud.end_s)?;
        check_recovery(&emitted, &loud)?;
        emitted.sort_by_key(|(at, _)| *at);
        check_blocks(&emitted)?;
    }
}

/// Ends the run after `after` events.
struct Ends {
    after: u32,
    handled: u32,
}

impl Listener for Ends {
    fn mask(&self) -> Mask {
        Mask::ALL
    }

    fn on_event(&mut self, _: Time, _: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        self.handled += 1;
        if self.handled > self.after { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// One step may emit several events.
#[test]
fn listener_gets_no_events_after_ending_the_run() {
    let text = "[radio.hs_dsch]\nbler = 0.3\n[[users]]\ntraffic.ftp.size = '20 kB'";
    let scenario = scenario::from_toml(text, "fails", &[]).unwrap();
    for after in 0..100 {
        let mut listener = Ends { after, handled: 0 };
        let result = run_with_listener(&scenario, 1, 0, &Control::default(), &mut listener).unwrap();
        assert!(result.end_s < 1.5);
        assert_eq!(listener.handled, after + 1);
        let mut listener = Ends { after, handled: 0 };
        let mut live = Live::with_listener(&scenario, 1, 0, &mut listener).unwrap();
        for tenth in 0..50 {
            live.advance(Time(tenth * 100_000_000), &mut Vec::new());
        }
        assert!(live.is_over());
        drop(live);
        assert_eq!(listener.handled, after + 1);
    }
}
