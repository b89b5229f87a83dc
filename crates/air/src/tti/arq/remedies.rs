//! What helps on DCH and HS-DSCH, whose parameters of blocks and retransmissions have the same names.

use std::num::NonZeroU32;

use nodeb_base::event::Site;
use nodeb_base::remedy::{Change, LARGE, Loss, Remedy, Target};
use nodeb_base::units::{Duration, Probability, positive};

use crate::error::ErrorModel;

/// Parameters of a radio that its remedies change.
pub struct Changed<'a> {
    pub bler: &'a mut Probability,
    pub errors: &'a mut Option<ErrorModel>,
    pub retransmission_delay: &'a mut Duration,
    pub channels: &'a mut NonZeroU32,
    pub buffer: &'a mut NonZeroU32,
}

pub fn remedies<T: Clone>(radio: &T, parameters: impl Fn(&mut T) -> Changed<'_>) -> Vec<Remedy<T>> {
    let with = |change: &dyn Fn(Changed)| {
        let mut changed = radio.clone();
        change(parameters(&mut changed));
        changed
    };
    let perfect = with(&|of| (*of.bler, *of.errors) = (Probability(0.0), None));
    let sooner = with(&|of| *of.retransmission_delay = of.retransmission_delay.half());
    let faster = with(&|of| *of.channels = of.channels.saturating_mul(positive(2)));
    let mut remedies = vec![
        Remedy::no_block_errors(perfect).and(Target::Losses(&[Loss::Radio])),
        Remedy::of_causes(Change::RetransmittedSooner, 0.5, sooner),
        Remedy::long_queues(with(&|of| *of.buffer = LARGE.max(*of.buffer))),
        Remedy::faster(Change::FasterRadio, &[Site::Bearer], faster),
    ];
    let mut present = radio.clone();
    if parameters(&mut present).errors.is_none() {
        let fewer = with(&|of| of.bler.0 /= 2.0);
        remedies.push(Remedy::of_causes(Change::FewerBlockErrors, 0.5, fewer));
    }
    remedies
}
