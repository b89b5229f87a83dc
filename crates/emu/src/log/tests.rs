//! Logs with an end record but no packets.

use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask};
use nodeb_sim::scenario;
use nodeb_sim::world::NullListener;
use nodeb_tcp::segment::Segment;

use super::*;
use crate::recording::{Record, Recorder};

const CELL: &str = "[radio.hs_dsch]\n[[users]]\nname = 'real'\ntraffic = 'external'\n[[users]]\ncount = 3\n\
                    traffic = { ftp = { size = '1 GB' } }\n";
const HOUR: Time = Time(3_600_000_000_000);

/// Cancels after the time `after`.
struct Cancelling<'a> {
    control: &'a Control,
    after: Time,
    last: Time,
    shares: Vec<f64>,
}

impl Listener for Cancelling<'_> {
    fn mask(&self) -> Mask {
        Mask::PACKETS
    }

    fn on_event(&mut self, at: Time, _: &Event, _: Option<&Segment>) -> ControlFlow<()> {
        self.last = at;
        self.shares.push(self.control.progress());
        if at > self.after {
            self.control.cancel();
        }
        ControlFlow::Continue(())
    }
}

fn with_empty_log(control: &Control, work: impl FnOnce(Log<'_>, &Scenario)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    Recorder::create(&path, b"{}", 96).unwrap().finish(HOUR).unwrap();
    work(Log { path: &path, control }, &scenario::from_toml(CELL, "empty", &[]).unwrap());
}

#[test]
fn replay_without_packets_reports_progress_and_can_be_cancelled() {
    let control = Control::default();
    with_empty_log(&control, |log, scenario| {
        let after = Time(HOUR.0 / 4);
        let mut listener = Cancelling { control: &control, after, last: Time::ZERO, shares: Vec::new() };
        let ended = log.replay(scenario, 1, &[0], &mut listener);
        assert!(matches!(ended, Err(Error::World(Stopped::Cancelled))), "{:?}", ended.err());
        assert!(listener.last < Time(after.0 + 2_000_000_000), "{:?}", listener.last);
        assert!(listener.shares.is_sorted());
        assert!((0.24..0.26).contains(&listener.shares[listener.shares.len() - 1]));
    });
}

#[test]
fn cancelled_log_is_neither_read_nor_replayed() {
    let control = Control::default();
    with_empty_log(&control, |log, scenario| {
        let mut reader = log.open().unwrap();
        control.cancel();
        assert!(log.open().is_err_and(|error| matches!(Error::log(error), Error::World(Stopped::Cancelled))));
        assert!(matches!(log.replay(scenario, 1, &[0], NullListener), Err(Error::World(Stopped::Cancelled))));
        // The reader still returns records that it buffered before the cancellation.
        assert!(reader.next_record().unwrap().is_some());
    });
}

#[test]
fn flipped_bits_are_detected_and_logs_without_checksum_are_read() {
    let (control, folder) = (Control::default(), tempfile::tempdir().unwrap());
    let path = folder.path().join("log");
    Recorder::create(&path, b"{}", 96).unwrap().finish(HOUR).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        Log { path: &path, control: &control }.open()?.next_record()
    };
    assert!(matches!(read(&whole), Ok(Some(Record::End { at: HOUR }))));
    assert!(matches!(read(&whole[..whole.len() - 4]), Ok(Some(Record::End { at: HOUR }))));
    for bit in 0..8 * whole.len() {
        let mut damaged = whole.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(!matches!(read(&damaged), Ok(Some(_))), "bit {bit}");
    }
}
