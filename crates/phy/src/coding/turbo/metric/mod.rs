//! `max*(a, b) = ln(e^a + e^b)` (Robertson, Villebrun and Hoeher, ICC 1995, equation 14); max-log-MAP omits
//! the correction `ln(1 + e^-|a-b|)`.

pub const LANES: usize = 16;

/// Each lane holds one of 16 code blocks.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Row<T>(pub [T; LANES]);

pub trait Metric: Copy {
    type Item: Copy + Default;
    /// All 16 lanes in registers.
    type Lanes: Copy;
    /// Below all others; subtracting costs from it does not overflow.
    const IMPOSSIBLE: Self::Item;

    fn quantise(self, llr: f32) -> Self::Item;
    fn load(self, row: &Row<Self::Item>) -> Self::Lanes;
    fn store(self, lanes: Self::Lanes, row: &mut Row<Self::Item>);
    fn splat(self, item: Self::Item) -> Self::Lanes;
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn max_star(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    fn scale(self, extrinsic: Self::Lanes) -> Self::Lanes;
    fn negative(self, lanes: Self::Lanes) -> u16;
    /// From one row per block to one lane per block.
    #[inline(always)]
    fn transpose(self, rows: &mut [Row<Self::Item>; LANES]) {
        let blocks = *rows;
        for (at, row) in rows.iter_mut().enumerate() {
            row.0 = std::array::from_fn(|lane| blocks[lane].0[at]);
        }
    }
}

#[inline(always)]
fn zip<T: Copy>(a: Row<T>, b: Row<T>, f: impl Fn(T, T) -> T) -> Row<T> {
    Row(std::array::from_fn(|lane| f(a.0[lane], b.0[lane])))
}

#[inline(always)]
fn sign_bits<T: Copy + Default + PartialOrd>(row: &Row<T>) -> u16 {
    row.0.iter().enumerate().fold(0, |mask, (lane, x)| mask | u16::from(*x < T::default()) << lane)
}

pub mod float;
pub mod integer;
