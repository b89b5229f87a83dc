//! TS 25.211, 5.2.1; TS 25.213, 4.2 and 4.3: a DPDCH in phase and the DPCCH in quadrature, times the complex
//! scrambling code.

pub mod dpcch;
pub mod ovsf;
pub mod scrambling;

/// In chips per second.
pub const CHIP_RATE: f64 = 3.84e6;
/// 10 ms.
pub const FRAME_CHIPS: usize = 38_400;
pub const SLOTS: usize = 15;
/// 2560.
pub const SLOT_CHIPS: usize = FRAME_CHIPS / SLOTS;
pub const CONTROL_FACTOR: usize = 256;

/// Two arrays, so that compilers vectorise loops.
#[derive(Clone, Debug, Default)]
pub struct Chips {
    pub re: Vec<f32>,
    pub im: Vec<f32>,
}

impl Chips {
    pub fn zeros(n: usize) -> Self {
        Self { re: vec![0.0; n], im: vec![0.0; n] }
    }

    pub fn len(&self) -> usize {
        self.re.len()
    }

    pub fn is_empty(&self) -> bool {
        self.re.is_empty()
    }
}

/// Of one terminal.
#[derive(Clone, Debug)]
pub struct Spreader {
    /// +1 and -1, repeated to 256 chips.
    data_code: Vec<f32>,
    factor: usize,
    scrambling: Chips,
    /// The sum of their squares is 1.
    gains: [f32; 2],
}

impl Spreader {
    /// `factor` is the spreading factor of its DPDCH (4 to 256), and `beta_c` the gain factor of its DPCCH in
    /// fifteenths of the DPDCH's (TS 25.213, 4.2.1).
    pub fn new(factor: usize, beta_c: u32, scrambling_code: u32) -> Self {
        let ratio = beta_c as f32 / 15.0;
        let data = 1.0 / (1.0 + ratio * ratio).sqrt();
        let code = ovsf::code(factor, factor / 4);
        Self {
            data_code: code.iter().copied().cycle().take(CONTROL_FACTOR).collect(),
            factor,
            scrambling: scrambling::long(scrambling_code),
            gains: [data, ratio * data],
        }
    }

    pub fn capacity(&self) -> usize {
        FRAME_CHIPS / self.factor
    }

    pub fn factor(&self) -> usize {
        self.factor
    }

    /// +1 and -1, repeated to 256 chips.
    pub fn data_code(&self) -> &[f32] {
        &self.data_code
    }

    pub fn scrambling(&self) -> &Chips {
        &self.scrambling
    }

    /// The sum of their squares is 1.
    pub fn gains(&self) -> [f32; 2] {
        self.gains
    }

    #[inline(always)]
    pub fn spread(&self, data: &[u8], control: &[u8], re: &mut [f32], im: &mut [f32]) {
        let [data_gain, control_gain] = self.gains;
        let symbols = re.chunks_exact_mut(CONTROL_FACTOR).zip(im.chunks_exact_mut(CONTROL_FACTOR));
        let scrambling = self
            .scrambling
            .re
            .chunks_exact(CONTROL_FACTOR)
            .zip(self.scrambling.im.chunks_exact(CONTROL_FACTOR));
        let data = data.chunks_exact(CONTROL_FACTOR / self.factor);
        for ((((re, im), (c_re, c_im)), data), &control) in symbols.zip(scrambling).zip(data).zip(control) {
            let q = control_gain * (1.0 - 2.0 * f32::from(control));
            let parts = re.chunks_exact_mut(self.factor).zip(im.chunks_exact_mut(self.factor));
            let codes = c_re.chunks_exact(self.factor).zip(c_im.chunks_exact(self.factor));
            for (((re, im), (c_re, c_im)), &bit) in parts.zip(codes).zip(data) {
                let amplitude = data_gain * (1.0 - 2.0 * f32::from(bit));
                for i in 0..re.len() {
                    let d = amplitude * self.data_code[i];
                    re[i] = d * c_re[i] - q * c_im[i];
                    im[i] = d * c_im[i] + q * c_re[i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chips_have_unit_power_and_carry_both_channels() {
        for (factor, beta_c) in [(4, 4), (16, 5), (256, 8)] {
            let spreader = Spreader::new(factor, beta_c, 77);
            let data: Vec<u8> = (0..spreader.capacity()).map(|i| (i * i % 7 % 2) as u8).collect();
            let control: Vec<u8> = (0..150).map(|i| (i % 3 % 2) as u8).collect();
            let mut chips = Chips::zeros(FRAME_CHIPS);
            spreader.spread(&data, &control, &mut chips.re, &mut chips.im);
            let power: f32 = chips.re.iter().zip(&chips.im).map(|(re, im)| re * re + im * im).sum();
            assert!((power / 38_400.0 - 1.0).abs() < 1e-3, "{power}");
            let [data_gain, control_gain] = spreader.gains();
            let s = spreader.scrambling();
            let despread = |from: usize, n: usize, code: &[f32]| {
                (from..from + n).fold((0.0, 0.0), |(re, im), i| {
                    let descrambled = (
                        chips.re[i] * s.re[i] + chips.im[i] * s.im[i],
                        chips.im[i] * s.re[i] - chips.re[i] * s.im[i],
                    );
                    let chip = code[(i - from) % code.len()] / n as f32;
                    (re + chip * descrambled.0, im + chip * descrambled.1)
                })
            };
            for (at, &bit) in data.iter().enumerate().step_by(17) {
                let (re, _) = despread(at * factor, factor, spreader.data_code());
                assert!((re - data_gain * (1.0 - 2.0 * f32::from(bit))).abs() < 1e-4, "{factor}: {at}: {re}");
            }
            for (at, &bit) in control.iter().enumerate() {
                let (_, im) = despread(at * 256, 256, &[1.0]);
                assert!(
                    (im - control_gain * (1.0 - 2.0 * f32::from(bit))).abs() < 1e-4,
                    "{factor}: {at}: {im}"
                );
            }
        }
    }
}
