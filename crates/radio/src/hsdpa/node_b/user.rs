//! A user of HS-DSCH: channel, state at the Node B, receiver and serving cell.

use std::ops::Range;

use nodeb_base::rng::Streams;

use super::transmission::Block;
use crate::UserRadio;
use crate::cell::channel::Channel;
use crate::cell::doppler::JakesSequence;
use crate::cell::handover::mobility::Mobility;
use crate::cell::tally::Tally;
use crate::hsdpa::Hsdpa;
use crate::hsdpa::adaptation::cqi::Tables;
use crate::hsdpa::adaptation::curves::Curves;
use crate::hsdpa::adaptation::recorded::RecordedRate;
use crate::hsdpa::adaptation::{Adapter, Link};
use crate::hsdpa::format::least_tti_distance;
use crate::mac::harq::block::Draws;
use crate::mac::harq::processes::Processes;
use crate::mac::reordering::ReorderingQueue;
use crate::numerology::Numerology;
use crate::rlc::units::Packets;

/// User of HS-DSCH, with its state at the Node B, the RNC and the phone.
#[derive(Debug)]
pub struct User {
    pub channel: Channel,
    pub adapter: Adapter,
    pub(super) curves: Curves,
    pub(super) numerology: Numerology,
    pub processes: Processes<Block>,
    pub packets: Packets,
    pub reordering: ReorderingQueue<Range<u64>>,
    pub tally: Tally,
    /// Number of units in the Node B's queue that have not been sent.
    pub(super) queue: u64,
    /// Whether blocks are filled directly from the queue at the RNC, as there is no Iub.
    pub(super) direct: bool,
    /// Minimum distance between TTIs in which the UE can receive, in TTIs, given by its category.
    pub tti_distance: u64,
    pub(super) rested: u64,
    /// Number of TTIs that a packet may wait before its deadline.
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
            delay_budget: ue.delay_budget.0 / numerology.tti.0,
            draws: Box::new(Draws::new(user.id, &streams)),
        }
    }

    /// Adds `units` units that have arrived at the Node B to the user's queue.
    pub fn enqueue(&mut self, units: u64) {
        self.queue += units;
    }

    /// Returns the number of units with which a new block can be filled: those in the Node B's queue
    /// and, without an Iub, those that wait at the RNC. In acknowledged mode the latter are an upper
    /// bound.
    pub(super) fn available(&self) -> u64 {
        if self.direct { self.queue + self.packets.waiting() } else { self.queue }
    }

    /// Returns the number of available units, at most those of the user's largest block: more units
    /// do not change which block is sent.
    pub fn usable(&self) -> u64 {
        self.available().min(self.adapter.max_units())
    }

    /// Returns the first TTI in which there may be something to send to the user, `u64::MAX` if
    /// there is nothing.
    pub fn ready(&self) -> u64 {
        self.processes.ready(self.available() > 0).max(self.rested).max(self.mobility.resumes)
    }

    /// Informs link adaptation of the ACKs and NACKs for first transmissions that are known in TTI
    /// `tti`.
    #[inline]
    pub fn listen(&mut self, tti: u64) {
        let adapter = &mut self.adapter;
        self.processes.take_answers(tti, |answer| adapter.on_answer(answer));
    }

    /// Returns the channel quality of the user by which the Node B selects blocks in TTI `tti`.
    #[inline]
    pub fn quality(&mut self, tti: u64, sequence: &JakesSequence) -> f32 {
        self.adapter.quality(&mut self.channel, sequence, tti)
    }

    /// Continues the blocks and the timer T1 of the user in its new cell, without a reset of MAC-hs.
    pub fn continue_blocks(&mut self) {
        let resumes = self.mobility.resumes;
        self.processes.change_cell(resumes, Block::restart);
        self.reordering.delay_timer(resumes);
    }

    /// Resets MAC-hs at the Node B and in the phone. Returns the ranges of units that were in the Node B's
    /// queue, in pending blocks that the phone has not decoded, and in the reordering queue. Each range has a
    /// flag that is true if the units are lost and false if they have arrived. Also returns the number of
    /// units that were in the Node B's queue.
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
