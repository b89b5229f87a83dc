//! Measures the speed of RLC by bytes on one thread: `rlc_speed BLOCKS ROOM PACKET_BYTES`. A block of `ROOM`
//! octets is filled every millisecond and arrives 4 ms later, without losses. For each RLC mode, prints the
//! mean time per block in nanoseconds, which includes accepting the packets, filling the block and receiving
//! it.

use std::collections::VecDeque;
use std::error::Error;
use std::ops::Range;
use std::time::Instant;

use nodeb_air::pdcp::Transmit;
use nodeb_air::rlc::lte::am::LteAm;
use nodeb_air::rlc::lte::um::LteUm;
use nodeb_air::rlc::lte::{Entity, Framing};
use nodeb_base::packet::Packet;
use nodeb_base::units::Time;
use nodeb_net::queue::drop_tail::{DropTail, Fifo};

const WARM_UP: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<u32> = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [blocks, room, packet_bytes] = arguments[..] else {
        return Err("rlc_speed BLOCKS ROOM PACKET_BYTES".into());
    };
    let transmit = || Transmit::new(Box::new(Fifo::new(&DropTail::default())), None);
    let um = Entity::um(&LteUm::default(), Framing::default(), transmit());
    let am = Entity::am(&LteAm::default(), Framing::default(), transmit());
    for (mode, mut rlc) in [("um", um), ("am", am)] {
        run(&mut rlc, 0..WARM_UP, room, packet_bytes);
        let begin = Instant::now();
        let packets = run(&mut rlc, WARM_UP..WARM_UP + u64::from(blocks), room, packet_bytes);
        let ns = begin.elapsed().as_nanos() as f64 / f64::from(blocks);
        println!(
            "{mode}: ns_per_block={ns:.1} packets_per_block={:.2}",
            f64::from(packets) / f64::from(blocks)
        );
    }
    Ok(())
}

/// The last 4 blocks arrive at the end of `span`; the next call counts their packets.
fn run(rlc: &mut Entity, span: Range<u64>, room: u32, packet_bytes: u32) -> u32 {
    let (mut on_air, mut delivered, mut id) = (VecDeque::new(), 0, span.start << 32);
    for ms in span.clone() {
        let now = Time(ms * 1_000_000);
        while rlc.waiting() < 2 * u64::from(room) {
            rlc.push(now, Packet::new(id, packet_bytes), ms);
            id += 1;
        }
        if on_air.len() == 4
            && let Some(units) = on_air.pop_front()
        {
            rlc.receive(now, units, false);
            delivered += rlc.outcomes().count() as u32;
        }
        if rlc.due().is_some_and(|at| at <= now) {
            rlc.on_time(now);
        }
        if let Some(report) = rlc.take_report(now, 100) {
            rlc.on_report(report.number, false);
        }
        on_air.push_back(rlc.fill(now, room).units);
    }
    for units in on_air {
        rlc.receive(Time(span.end * 1_000_000), units, false);
    }
    delivered
}
