use nodeb_base::context::Context;
use nodeb_base::event::{Event, Mask};

use nodeb_air::mac::multiplexing::LogicalChannels;

/// For packets that RLC has just begun to send.
pub fn emit_numbers(ctx: &mut Context, user: usize, bearers: &mut LogicalChannels) {
    if !ctx.wants(Mask::PDCP) {
        return;
    }
    let place = ctx.place_of(user);
    for (bearer, number, packet) in bearers.take_numbers() {
        ctx.emit(Event::Numbered { place, user: user as u32, bearer, packet, number });
    }
}
