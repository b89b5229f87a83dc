use super::{Sent, Simulator};
use crate::rng::{self, Stream, fill_bits};
use crate::spreading::{Chips, FRAME_CHIPS, SLOTS, Spreader, dpcch};

impl Simulator {
    pub(super) fn transmit(&self, number: u64) -> Sent {
        let frames = self.frames();
        let mut sent = Sent { bits: Vec::new(), frames: Vec::new() };
        let mut coded = Vec::new();
        for (at, (channel, coder)) in self.coders.iter().enumerate() {
            let purpose = ["data", "signalling"][at];
            let ttis = (frames / channel.frames()) as u64;
            let draw = |tti| {
                let mut bits = vec![0; channel.bits()];
                fill_bits(&mut rng::stream(self.seed, purpose, number * ttis + tti), &mut bits);
                bits
            };
            let bits: Vec<Vec<u8>> = (0..ttis).map(draw).collect();
            coded.push(bits.iter().map(|bits| coder.encode(bits)).collect::<Vec<_>>());
            sent.bits.push(bits);
        }
        sent.frames = (0..frames).map(|frame| self.map.collect(frame, &coded)).collect();
        sent
    }

    pub(super) fn modulate(
        &self,
        spreader: &Spreader,
        data: &[u8],
        (purpose, frame): (&str, u64),
        chips: &mut Chips,
    ) {
        let mut stream = rng::stream(self.seed, purpose, frame);
        let mut others = [0; SLOTS * (dpcch::SLOT_BITS - dpcch::PILOTS)];
        fill_bits(&mut stream, &mut others);
        let control = dpcch::frame(&others);
        let (start, end) = (self.span, self.span + FRAME_CHIPS);
        let (re, im) = (&mut chips.re, &mut chips.im);
        self.isa.run(
            #[inline(always)]
            || spreader.spread(data, &control, &mut re[start..end], &mut im[start..end]),
        );
        for part in [re, im] {
            fill_random(&mut stream, &mut part[..start]);
            fill_random(&mut stream, &mut part[end..]);
        }
    }
}

/// Real or imaginary parts, of power 1/2.
fn fill_random(stream: &mut Stream, part: &mut [f32]) {
    let mut bits = vec![0; part.len()];
    fill_bits(stream, &mut bits);
    for (chip, bit) in part.iter_mut().zip(bits) {
        *chip = std::f32::consts::FRAC_1_SQRT_2 * (1.0 - 2.0 * f32::from(bit));
    }
}
