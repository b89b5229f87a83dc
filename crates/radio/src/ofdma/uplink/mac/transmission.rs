use nodeb_air::mac::band::Run;
use nodeb_air::mac::harq::block::SentBlock;
use nodeb_base::context::{BlockCounts, Context, Counted};
use nodeb_base::event::{Mask, UplinkPassage};
use nodeb_base::units::Time;

use super::super::runs::BlockSet;
use super::super::ue::Block;
use super::super::ue_context::UlReport;
use super::{Decided, Planned, UplinkMac, Work, listen, process};
use crate::ofdma::numbered::emit_numbers;
use crate::ofdma::standard::{Format, Standard};

impl<S: Standard> UplinkMac<S> {
    pub(super) fn request(&mut self, ctx: &mut Context, tti: u64) {
        for (user, ue) in self.ues.iter_mut().enumerate().filter(|(_, ue)| ue.requests.ready() <= tti) {
            let Some(is_received) = ue.request(tti) else { continue };
            listen(self.drx.as_ref(), ctx, user, |listening| listening.requested(tti));
            if is_received {
                self.reports.push_back((tti + S::UP_FEEDBACK_AFTER, user, UlReport::Request));
            }
        }
    }

    // Clause: TS 36.213, 8.0; TS 36.321, 5.4.2: HARQ timing of the uplink
    // Simplified: no adaptive retransmissions, answers without errors, and no retransmissions of padding
    /// Failed blocks are planned again for the same process until their last transmission. Blocks of padding
    /// alone are sent once, and their reports always arrive.
    pub(super) fn transmit(&mut self, ctx: &mut Context, tti: u64) {
        let process = process::<S>(tti);
        debug_assert!(are_disjoint(&self.planned[process]), "two phones send on one resource block");
        for Planned { user, run, work } in std::mem::take(&mut self.planned[process]) {
            if self.ues[user].ends() <= tti {
                continue;
            }
            let mut block = match work {
                Work::New(format) => self.fill(ctx, tti, user, (run, format), false),
                Work::Configured(format) => self.fill(ctx, tti, user, (run, format), true),
                Work::Again(block) => block,
            };
            let row = self.ues[user].send(tti, run.blocks, &self.sequence);
            let decoded = self.contexts[user].decode(&mut block, &row, run, &self.formats, &self.harq);
            listen(self.drx.as_ref(), ctx, user, |listening| {
                if block.transmissions == 1 {
                    listening.answered(tti);
                }
                listening.may_repeat(tti + S::UP_FEEDBACK_AFTER);
            });
            let blocks = BlockCounts { sent: 1, failed: u64::from(!decoded) };
            if block.transmissions > 1 {
                self.scheduler.served(tti, user, block.bytes);
            }
            ctx.count_ttis(0, user, Counted { blocks, units: u64::from(block.bytes) });
            let is_done = decoded || block.units.is_empty();
            let is_again = !is_done && block.transmissions < self.rules.max_transmissions;
            if ctx.wants(Mask::BLOCKS) {
                let bearers = &self.ues[user].bearers;
                sent_block(&block, is_done, is_again).emit(ctx, user, |units| bearers.carried(units));
            }
            if is_again {
                self.planned[process].push(Planned { user, run, work: Work::Again(block) });
                continue;
            }
            let Block { units, report: octets, headroom, begun, requested_at, .. } = block;
            let buffer = UlReport::Buffer { octets, headroom, begun };
            let report = if is_done { buffer } else { UlReport::Nothing { begun } };
            self.contexts[user].tally.given_up += u64::from(!is_done);
            self.reports.push_back((tti + S::UP_FEEDBACK_AFTER, user, report));
            self.decided.push(Decided { user, units, decoded, requested_at, from: Time(begun * S::TTI.0) });
        }
    }

    /// `is_configured` for a block of a configured grant after its first one.
    fn fill(
        &mut self,
        ctx: &mut Context,
        tti: u64,
        user: usize,
        (run, format): (Run, Format),
        is_configured: bool,
    ) -> Block {
        let (ue, context) = (&mut self.ues[user], &mut self.contexts[user]);
        let requested_at = if is_configured { Time(tti * S::TTI.0) } else { context.requested_at::<S>(tti) };
        let block = ue.fill::<S>(tti, format, run.blocks, requested_at);
        if is_configured || context.configured.as_ref().is_some_and(|grant| grant.begins == tti) {
            context.use_configured(!block.units.is_empty());
        }
        emit_numbers(ctx, user, &mut ue.bearers);
        if ctx.wants(Mask::SERVICE) {
            let from = ctx.now;
            let since = self.connections.as_ref().map_or(0, |connections| connections.since(user));
            let connected = Time(since * S::TTI.0);
            for part in ue.bearers.carried(block.units.clone()) {
                let passage = UplinkPassage {
                    connected,
                    requested: requested_at,
                    first: from,
                    from,
                    blocks: 0,
                    is_reserved: is_configured,
                    is_lost: false,
                };
                self.passages.entry(part.packet).or_insert((from, passage)).1.blocks += 1;
            }
        }
        block
    }

    /// Those that can lead to a grant from `tti` on; grants ahead assume data at connected phones that listen.
    pub(super) fn receive_reports(&mut self, tti: u64) {
        while let Some((_, user, report)) = self.reports.front().copied().filter(|(at, ..)| *at <= tti) {
            self.reports.pop_front();
            if !self.ends.precede(user, tti) && self.contexts[user].on_report::<S>(report, tti) {
                self.ues[user].requests.unmask(tti);
            }
        }
        if let Some(interval) = self.rules.ahead {
            for (user, context) in (0u64..).zip(&mut self.contexts) {
                let connections = self.connections.as_ref();
                let is_connected = connections.is_none_or(|all| all.is_connected(user as usize, tti));
                let has_channel = !self.ends.precede(user as usize, tti);
                let listens = self.drx.as_ref().is_none_or(|all| all.listens(user as usize, tti));
                if is_connected && has_channel && listens && tti % interval == user % interval {
                    context.grant_ahead(tti);
                }
            }
        }
    }
}

fn sent_block(block: &Block, decoded: bool, is_again: bool) -> SentBlock {
    SentBlock {
        number: block.number,
        units: block.units.clone(),
        size: block.bytes,
        transmission: block.transmissions,
        is_new: block.transmissions == 1,
        failed: !decoded,
        settled: (!is_again).then_some(decoded),
    }
}

fn are_disjoint(planned: &[Planned]) -> bool {
    let mut taken = BlockSet::NONE;
    planned.iter().all(|one| {
        let before = taken;
        taken = taken.with(one.run);
        before.without(one.run) == before
    })
}
