use std::ops::Range;

use nodeb_base::context::Context;
use nodeb_base::event::{Event, Mask};

use nodeb_air::rlc::lte::Entity;

/// For packets that RLC has just begun to send.
pub fn emit_numbers(ctx: &mut Context, user: usize, rlc: &Entity, numbers: Range<u64>) {
    if !ctx.wants(Mask::PDCP) {
        return;
    }
    let place = ctx.place_of(user);
    for number in numbers {
        if let Some(packet) = rlc.packet(number) {
            ctx.emit(Event::Numbered { place, user: user as u32, packet, number });
        }
    }
}
