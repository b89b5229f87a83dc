//! Simulates an LTE cell of 20 MHz whose users always have data: `lte_speed USERS SECONDS [LAYERS]`. Prints
//! the simulated time in seconds, the simulated seconds per second of CPU time, and the bit rate of the cell
//! in Mbit/s.

use std::error::Error;

use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::cell::channel::place::Place;
use nodeb_air::cell::profile::Profile;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_air::mac::sched::proportional_fair::ProportionalFair;
use nodeb_air::ue::Ue;
use nodeb_air::{Hop, UserRadio};
use nodeb_base::context::TestBench;
use nodeb_base::packet::Packet;
use nodeb_base::rng::Streams;
use nodeb_base::units::Time;
use nodeb_radio::Radio;
use nodeb_radio::lte::Lte;

const LEAST: usize = 30;
const REFILL: u64 = 4_000_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let mut next = || arguments.next().ok_or("lte_speed USERS SECONDS [LAYERS]");
    let (users, seconds) = (next()??, next()??);
    let scheduler = SchedulerSpec::ProportionalFair(ProportionalFair::default());
    let layers = arguments.next().transpose()?.unwrap_or(1) as u8;
    let antenna_ports = if layers == 3 { 4 } else { layers };
    let params = Lte { scheduler, antenna_ports, layers, ..Lte::default() };
    let place = Place { profile: Profile::ExtendedPedestrianA, ..Place::default() };
    let ue = Ue { channel: ChannelSpec::Cell(place), ..Ue::default() };
    let users: Vec<UserRadio> =
        (0..users).map(|id| UserRadio { id, ue: ue.clone(), ..UserRadio::default() }).collect();
    let mut bearer = params.build(&users, &Streams::new(1, 0)).down.remove(0);
    let mut world = TestBench::default();
    let begun = cpu_time()?;
    let mut number = 0;
    for now in (0..seconds * 1_000_000_000).step_by(REFILL as usize) {
        run_until(bearer.as_mut(), &mut world, Time(now));
        for user in 0..users.len() {
            for _ in bearer.backlog(user).packets..LEAST {
                bearer.accept(&mut world.at(Time(now)), user, Packet::new(number, 1_500));
                number += 1;
            }
        }
    }
    let spent = cpu_time()? - begun;
    let rate = world.counts.bytes_delivered as f64 * 8e-6 / seconds as f64;
    println!("simtime={seconds} speed={:.1} mbps={rate:.2}", seconds as f64 / spent);
    Ok(())
}

fn run_until(bearer: &mut dyn Hop, world: &mut TestBench, end: Time) {
    while let Some(instant) = bearer.next_wake().filter(|instant| instant.time() < end) {
        bearer.wake(&mut world.at(instant.time()), instant);
        world.common.out.clear();
    }
}

fn cpu_time() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds: u64 = text.split(' ').next().ok_or("no schedule statistics")?.parse()?;
    Ok(nanoseconds as f64 * 1e-9)
}
