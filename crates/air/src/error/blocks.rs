use nodeb_base::rng::{ErrorGaps, Stream, Streams};
use nodeb_base::units::Probability;

use super::within_block::PatternDistribution;
use super::{Advances, ErrorModel, ErrorProcess, Unit};
use crate::mac::harq::{CombiningSpec, LAST_DISTINCT};

#[derive(Clone, Copy, Debug)]
pub struct Resource {
    pub user: usize,
    pub tti: u64,
    pub channel: u64,
}

/// Blocks must be in the order of transmission.
pub trait Failures {
    /// Stops after the first block that fails; good blocks before it, or `None` if none fails.
    fn first_failure(&mut self, on: Resource, blocks: u64, pdus: u32) -> Option<u64>;

    /// The block has failed `times` times.
    fn retransmission_fails(&mut self, on: Resource, pdus: u32, times: u32) -> bool;

    /// That the next new blocks include at least; 0 if a model decides about a block only when it is sent.
    fn good_blocks(&self) -> u64 {
        0
    }
}

#[derive(Debug)]
pub enum BlockErrors {
    Independent(Box<IndependentErrors>),
    /// One error process for each user's radio link.
    Modelled(Modelled),
}

/// One sequence for each number of earlier transmissions; the largest numbers share the last.
#[derive(Debug)]
pub struct IndependentErrors {
    first: ErrorGaps,
    /// By the number of earlier transmissions, from 1; grows when needed, as a short run needs only a few.
    later: Vec<ErrorGaps>,
    bler: Probability,
    bits: u64,
    combining: CombiningSpec,
    streams: Streams,
    /// Names the random streams.
    user: u64,
}

impl IndependentErrors {
    fn new(shape: BlockShape<'_>, bits: u64, user: u64, streams: Streams) -> Self {
        let BlockShape { bler, combining, .. } = shape;
        let first = gaps(bler, 1, user, streams);
        Self {
            first,
            later: Vec::with_capacity(LAST_DISTINCT as usize - 1),
            bler,
            bits,
            combining: combining.clone(),
            streams,
            user,
        }
    }

    /// `times` is 1 or more.
    #[inline]
    fn of_retransmission(&mut self, times: u32) -> &mut ErrorGaps {
        let index = times.min(LAST_DISTINCT - 1) as usize - 1;
        if index >= self.later.len() {
            self.add_later(index);
        }
        &mut self.later[index]
    }

    #[cold]
    fn add_later(&mut self, index: usize) {
        for index in self.later.len()..=index {
            let n = index as u32 + 2;
            let p = self.combining.failure(self.bler, n, self.bits);
            self.later.push(gaps(p, n, self.user, self.streams));
        }
    }
}

impl Failures for IndependentErrors {
    #[inline]
    fn first_failure(&mut self, _: Resource, blocks: u64, _: u32) -> Option<u64> {
        self.first.next_error_within(blocks)
    }

    #[inline]
    fn retransmission_fails(&mut self, _: Resource, _: u32, times: u32) -> bool {
        self.of_retransmission(times).next_is_error()
    }

    #[inline]
    fn good_blocks(&self) -> u64 {
        self.first.good()
    }
}

fn gaps(p: Probability, n: u32, user: u64, streams: Streams) -> ErrorGaps {
    ErrorGaps::new(p.0, streams.stream("bearer", user, &format!("block errors {n}")))
}

#[derive(Debug)]
pub struct Modelled {
    channels: u64,
    links: Vec<LinkErrors>,
}

impl Modelled {
    /// The channels are counted through all TTIs since the start of the run.
    fn number(&self, on: Resource) -> u64 {
        on.tti * self.channels + on.channel
    }
}

impl Failures for Modelled {
    fn first_failure(&mut self, on: Resource, blocks: u64, pdus: u32) -> Option<u64> {
        let number = self.number(on);
        let link = &mut self.links[on.user];
        (0..blocks).find(|nth| link.block_fails(number + nth, pdus, 0))
    }

    fn retransmission_fails(&mut self, on: Resource, pdus: u32, times: u32) -> bool {
        let nth = times.min(LAST_DISTINCT - 1) as usize;
        let number = self.number(on);
        self.links[on.user].block_fails(number, pdus, nth)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct BlockShape<'a> {
    /// Used if there is no error model.
    pub bler: Probability,
    /// Blocks per TTI.
    pub channels: u32,
    /// In a full block.
    pub pdus: u32,
    pub pdu_bytes: u32,
    pub combining: &'a CombiningSpec,
}

impl BlockErrors {
    pub fn new(model: Option<&ErrorModel>, shape: BlockShape<'_>, users: &[u64], streams: &Streams) -> Self {
        let bits = u64::from(shape.pdus) * u64::from(shape.pdu_bytes) * 8;
        let Some(model) = model else {
            let user = users.first().copied().unwrap_or_default();
            return Self::Independent(Box::new(IndependentErrors::new(shape, bits, user, *streams)));
        };
        let bler = model.block_error_rate(shape.pdus);
        let remaining = |n| {
            let p = shape.combining.failure(bler, n, bits);
            if bler.0 > 0.0 { p.0 / bler.0 } else { 1.0 }
        };
        let shares: Vec<f64> = (1..=LAST_DISTINCT).map(remaining).collect();
        let of_user = |user: &u64| LinkErrors::new(model, shape.pdus, &shares, *user, *streams);
        let links = users.iter().map(of_user).collect();
        Self::Modelled(Modelled { channels: u64::from(shape.channels), links })
    }

    /// Each PDU has its own checksum; without an error model all are in error or none.
    pub fn wrong_pdus(&mut self, on: Resource, wrong: &mut [bool]) {
        match self {
            Self::Independent(errors) => wrong.fill(errors.first.next_is_error()),
            Self::Modelled(model) => {
                let number = model.number(on);
                model.links[on.user].wrong_pdus(number, wrong);
            }
        }
    }
}

impl Failures for BlockErrors {
    fn first_failure(&mut self, on: Resource, blocks: u64, pdus: u32) -> Option<u64> {
        match self {
            Self::Independent(errors) => errors.first_failure(on, blocks, pdus),
            Self::Modelled(model) => model.first_failure(on, blocks, pdus),
        }
    }

    fn retransmission_fails(&mut self, on: Resource, pdus: u32, times: u32) -> bool {
        match self {
            Self::Independent(errors) => errors.retransmission_fails(on, pdus, times),
            Self::Modelled(model) => model.retransmission_fails(on, pdus, times),
        }
    }
}

#[derive(Debug)]
pub struct LinkErrors {
    process: Box<dyn ErrorProcess>,
    unit: Unit,
    advances: Advances,
    /// Per full block.
    steps: u64,
    next: u64,
    within: Option<(PatternDistribution, Stream)>,
    /// Errors that soft combining does not correct, by earlier failures; a block fails only if both the error
    /// process and its sequence yield an error.
    remains: Vec<ErrorGaps>,
    wrong: Vec<bool>,
}

impl LinkErrors {
    fn new(model: &ErrorModel, pdus: u32, remains: &[f64], user: u64, streams: Streams) -> Self {
        let steps = model.steps(pdus);
        let stream = |purpose: &str| streams.stream("radio link", user, purpose);
        let gaps =
            |(n, share): (usize, &f64)| ErrorGaps::new(*share, stream(&format!("combining fails {n}")));
        let none = || Box::new(ErrorGaps::new(0.0, stream("errors"))) as _;
        Self {
            process: model.process.as_ref().map_or_else(none, |spec| spec.build(&streams, user, steps)),
            unit: model.unit,
            advances: model.advances,
            steps: u64::from(steps),
            next: 0,
            within: model.within_block.as_ref().map(|patterns| (patterns.build(), stream("errors: pattern"))),
            remains: remains.iter().enumerate().map(gaps).collect(),
            wrong: Vec::new(),
        }
    }

    /// Skips the steps of earlier resources, if the process advances with time.
    fn go_to(&mut self, number: u64) {
        if self.advances == Advances::WithTime {
            let begin = number * self.steps;
            self.process.skip(begin.saturating_sub(self.next));
            self.next = self.next.max(begin);
        }
    }

    /// In a partly filled block, a pattern may have all its errors beyond the end of `wrong`.
    fn wrong_pdus(&mut self, number: u64, wrong: &mut [bool]) {
        self.go_to(number);
        if self.unit == Unit::Pdu {
            for wrong in wrong.iter_mut() {
                *wrong = self.process.next_is_error();
            }
            // A partly filled block advances the process by as many steps as a full one.
            let taken = wrong.len() as u64;
            self.process.skip(self.steps.saturating_sub(taken));
            self.next += self.steps.max(taken);
            return;
        }
        self.next += 1;
        let failed = self.process.next_is_error();
        wrong.fill(failed);
        if failed && let Some((patterns, stream)) = &mut self.within {
            for (wrong, drawn) in wrong.iter_mut().zip(patterns.draw(stream)) {
                *wrong = drawn;
            }
        }
    }

    fn block_fails(&mut self, number: u64, pdus: u32, times: usize) -> bool {
        let mut wrong = std::mem::take(&mut self.wrong);
        wrong.clear();
        wrong.resize(pdus as usize, false);
        self.wrong_pdus(number, &mut wrong);
        let failed = wrong.contains(&true);
        self.wrong = wrong;
        failed && self.remains[times].next_is_error()
    }
}
