//! The arithmetics in which path metrics are computed: 16 lanes of numbers and their max*.
//!
//! `max*(a, b) = ln(e^a + e^b)` is log-MAP (Robertson, Villebrun and Hoeher, ICC 1995, equation 14);
//! leaving out its correction `ln(1 + e^-|a-b|)` is max-log-MAP.

/// Code blocks that are decoded side by side.
pub const LANES: usize = 16;

/// One number for each lane.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub struct Row<T>(pub [T; LANES]);

/// What the forward-backward algorithm asks of its numbers.
pub trait Metric: Copy {
    /// One lane's number in memory.
    type Item: Copy + Default;
    /// All lanes' numbers in registers.
    type Lanes: Copy;
    /// The metric of a path that cannot be: below all others, and adding to it does no harm.
    const IMPOSSIBLE: Self::Item;

    /// A channel value as this arithmetic takes it.
    fn quantise(self, llr: f32) -> Self::Item;
    /// Reads a row.
    fn load(self, row: &Row<Self::Item>) -> Self::Lanes;
    /// Writes a row.
    fn store(self, lanes: Self::Lanes, row: &mut Row<Self::Item>);
    /// The same number in all lanes.
    fn splat(self, item: Self::Item) -> Self::Lanes;
    /// `a + b`.
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `a - b`.
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// `max*(a, b)`.
    fn max_star(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The extrinsic information that goes to the other decoder.
    fn scale(self, extrinsic: Self::Lanes) -> Self::Lanes;
    /// Bit `l` is set where lane `l` is negative.
    fn negative(self, lanes: Self::Lanes) -> u16;
    /// Turns 16 blocks' numbers, a row for each block, into rows with a lane for each block.
    #[inline(always)]
    fn transpose(self, rows: &mut [Row<Self::Item>; LANES]) {
        let blocks = *rows;
        for (at, row) in rows.iter_mut().enumerate() {
            row.0 = std::array::from_fn(|lane| blocks[lane].0[at]);
        }
    }
}

/// Applies `f` to each pair of lanes.
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
