use std::ops::Range;

use nodeb_base::rng::Streams;

use super::transmission::Block;
use crate::hsdpa::Hsdpa;
use crate::hsdpa::adaptation::cqi::Tables;
use crate::hsdpa::adaptation::curves::Curves;
use crate::hsdpa::adaptation::recorded::RecordedRate;
use crate::hsdpa::adaptation::{Adapter, Link};
use crate::hsdpa::format::least_tti_distance;
use nodeb_air::UserRadio;
use nodeb_air::cell::channel::Channel;
use nodeb_air::cell::doppler::JakesSequence;
use nodeb_air::cell::handover::mobility::Mobility;
use nodeb_air::cell::tally::Tally;
use nodeb_air::mac::harq::block::Draws;
use nodeb_air::mac::harq::processes::Processes;
use nodeb_air::mac::reordering::ReorderingQueue;
use nodeb_air::numerology::Numerology;
use nodeb_air::rlc::umts::UmtsRlc;

#[derive(Debug)]
pub struct User {
    pub channel: Channel,
    pub adapter: Adapter,
    pub(super) curves: Curves,
    pub(super) numerology: Numerology,
    pub processes: Processes<Block>,
    pub packets: UmtsRlc,
    pub reordering: ReorderingQueue<Range<u64>>,
    pub tally: Tally,
    /// Units in the Node B's queue.
    pub(super) queue: u64,
    /// Blocks are filled from the queue at the RNC, without an Iub.
    pub(super) direct: bool,
    /// TTIs between two in which the UE can receive.
    pub tti_distance: u64,
    pub(super) rested: u64,
    /// In TTIs.
    pub delay_budget: u64,
    pub mobility: Mobility,
    pub(super) draws: Box<Draws>,
}

impl User {
    pub fn new(params: &Hsdpa, user: &UserRadio, streams: Streams, tables: &mut Tables) -> Self {
        let (ue, numerology) = (&user.ue, params.numerology());
        let window = u64::from(params.reordering_window.get());
        let curves = Curves::new(params.link_curve.as_deref());
        let link = Link { payload: params.payload(), curves: &curves, numerology };
        let adapter = if ue.channel.facts().has_rates {
            Adapter::Recorded(RecordedRate::new(params.payload(), numerology))
        } else {
            params.link_adaptation.build(ue.category, &link, user.id, &streams, tables)
        };
        let channel = ue.channel.build(&params.cell, params.served(), user.id, &streams, numerology);
        Self {
            mobility: Mobility::new(params.handover.as_ref(), &channel, numerology),
            channel,
            adapter,
            curves,
            numerology,
            processes: Processes::new(params.processes.get(), window),
            packets: params.rlc.build(params.payload(), params.buffer.get() as usize, user.id, &streams),
            reordering: ReorderingQueue::new(window, numerology.ttis(params.t1)),
            tally: Tally::default(),
            queue: 0,
            direct: params.iub.is_none(),
            tti_distance: least_tti_distance(ue.category),
            rested: 0,
            delay_budget: user.bearers[0].delay_budget().0 / numerology.tti.0,
            draws: Box::new(Draws::new(user.id, &streams)),
        }
    }

    pub fn enqueue(&mut self, units: u64) {
        self.queue += units;
    }

    /// At the Node B and, without an Iub, at the RNC: in acknowledged mode an upper bound.
    pub(super) fn available(&self) -> u64 {
        if self.direct { self.queue + self.packets.waiting() } else { self.queue }
    }

    /// More units than in the largest block do not change which block is sent.
    pub fn usable(&self) -> u64 {
        self.available().min(self.adapter.max_units())
    }

    /// `u64::MAX` if there is nothing to send.
    pub fn ready(&self) -> u64 {
        self.processes.ready(self.available() > 0).max(self.rested).max(self.mobility.resumes)
    }

    #[inline]
    pub fn listen(&mut self, tti: u64) {
        let adapter = &mut self.adapter;
        self.processes.take_answers(tti, |answer| adapter.on_answer(answer));
    }

    #[inline]
    pub fn quality(&mut self, tti: u64, sequence: &JakesSequence) -> f32 {
        self.adapter.quality(&mut self.channel, sequence, tti)
    }

    /// Without a reset of MAC-hs.
    pub fn continue_blocks(&mut self) {
        let resumes = self.mobility.resumes;
        self.processes.change_cell(resumes, Block::restart);
        self.reordering.delay_timer(resumes);
    }

    /// Units from the Node B's queue, from pending blocks and from the reordering queue, each with true if
    /// lost and false if arrived; and the number of units in the queue.
    pub fn flush(&mut self) -> (Vec<(Range<u64>, bool)>, u64) {
        let queued = std::mem::take(&mut self.queue);
        let arrived = self.reordering.reset().into_iter().map(|units| (units, false));
        let lost = self.processes.flush().filter(|block| !block.decoded);
        let on_air = lost.map(|block| (block.units, true));
        let mut all: Vec<_> = arrived.chain(on_air).collect();
        if queued > 0 {
            all.push((self.packets.send(queued), true));
        }
        (all, queued)
    }
}
