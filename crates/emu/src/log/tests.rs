//! Logs without packets, which say how long their flights were, in cells full of simulated users.

use std::ops::ControlFlow;

use nodeb_base::event::{Event, Mask};
use nodeb_sim::scenario;
use nodeb_sim::world::NullListener;
use nodeb_tcp::segment::Segment;

use super::*;
use crate::flight::{Record, Recorder};

const CELL: &str = "[radio.hs_dsch]\n[[users]]\nname = 'real'\ntraffic = 'external'\n[[users]]\ncount = 3\n\
                    traffic = { ftp = { size = '1 GB' } }\n";
const HOUR: Time = Time(3_600_000_000_000);

/// Hears the share that is done at every packet, and ends it after so many seconds.
struct Impatient<'a> {
    control: &'a Control,
    after: Time,
    last: Time,
    shares: Vec<f64>,
}

impl Listener for Impatient<'_> {
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

fn silence(control: &Control, work: impl FnOnce(Log<'_>, &Scenario)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    Recorder::create(&path, b"{}", 96).unwrap().finish(HOUR).unwrap();
    work(Log { path: &path, control }, &scenario::from_toml(CELL, "silence", &[]).unwrap());
}

#[test]
fn a_flight_in_which_nothing_real_happens_tells_how_far_it_is_and_can_be_ended() {
    let control = Control::default();
    silence(&control, |log, scenario| {
        let after = Time(HOUR.0 / 4);
        let mut listener = Impatient { control: &control, after, last: Time::ZERO, shares: Vec::new() };
        let ended = log.fly(scenario, 1, &[0], &mut listener);
        assert!(matches!(ended, Err(Error::World(Stopped::Cancelled))), "{:?}", ended.err());
        assert!(listener.last < Time(after.0 + 2_000_000_000), "{:?}", listener.last);
        assert!(listener.shares.is_sorted());
        assert!((0.24..0.26).contains(&listener.shares[listener.shares.len() - 1]));
    });
}

#[test]
fn what_nobody_wants_any_more_is_neither_read_nor_flown() {
    let control = Control::default();
    silence(&control, |log, scenario| {
        let mut reader = log.open().unwrap();
        control.cancel();
        assert!(log.open().is_err_and(|error| matches!(Error::log(error), Error::World(Stopped::Cancelled))));
        assert!(matches!(log.fly(scenario, 1, &[0], NullListener), Err(Error::World(Stopped::Cancelled))));
        // What has been read before is still told.
        assert!(reader.next_record().unwrap().is_some());
    });
}

#[test]
fn a_flipped_bit_is_told_and_a_log_without_checksum_is_read() {
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
