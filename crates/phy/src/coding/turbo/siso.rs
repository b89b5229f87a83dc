//! Bahl, Cocke, Jelinek and Raviv (IEEE Trans. Inf. Theory 20(2), 1974) in the logarithmic domain: a branch
//! has the metric `-u Lx - z Lz` with `Lx` from the channel and the other decoder, a quarter of the additions
//! less than `(±Lx ± Lz) / 2`.

use super::encoder::{self, State};
use super::metric::{Metric, Row};

const STATES: usize = 8;
const NORMALISE: usize = 4;

#[derive(Clone, Copy)]
struct Branch {
    u: u8,
    z: u8,
    /// State before, 0 to 7.
    from: usize,
    /// State after, 0 to 7.
    to: usize,
}

impl Branch {
    const fn new(from: usize, u: u8) -> Self {
        let (z, to) = encoder::step(from as State, u);
        Self { u, z, from, to: to as usize }
    }

    /// From states that differ in bit 0, the oldest register.
    const fn into(to: usize) -> [Self; 2] {
        [Self::leading(to << 1 & 7, to), Self::leading(to << 1 & 7 | 1, to)]
    }

    /// In the order of the states from which they come.
    const fn with(u: u8, z: u8, mut nth: usize) -> Self {
        let mut from = 0;
        loop {
            let branch = Self::new(from, u);
            if branch.z == z {
                if nth == 0 {
                    return branch;
                }
                nth -= 1;
            }
            from += 1;
        }
    }

    const fn leading(from: usize, to: usize) -> Self {
        let zero = Self::new(from, 0);
        if zero.to == to { zero } else { Self::new(from, 1) }
    }

    const fn tail(from: usize) -> Self {
        Self::new(from, encoder::terminating(from as State))
    }
}

/// Makes an array with the value of `body` for each of the 8 states. The loop is unrolled, so that
/// `body` can use the state as a constant.
macro_rules! for_states {
    ($state:ident => $body:expr) => {
        for_states!(@ $state, $body, 0 1 2 3 4 5 6 7)
    };
    (@ $state:ident, $body:expr, $($value:literal)+) => {
        [$({ const $state: usize = $value; $body }),+]
    };
}

/// Information bit 1 (`x`), parity bit 1 (`z`) or both.
#[derive(Clone, Copy)]
struct Costs<L> {
    x: L,
    z: L,
    both: L,
}

impl<L: Copy> Costs<L> {
    #[inline(always)]
    fn new<M: Metric<Lanes = L>>(metric: M, x: L, z: L) -> Self {
        Self { x, z, both: metric.add(x, z) }
    }

    #[inline(always)]
    fn extend<M: Metric<Lanes = L>>(&self, metric: M, path: L, branch: Branch) -> L {
        match (branch.u, branch.z) {
            (0, 0) => path,
            (0, _) => metric.sub(path, self.z),
            (_, 0) => metric.sub(path, self.x),
            _ => metric.sub(path, self.both),
        }
    }
}

pub struct Received<'a, T> {
    pub x: &'a [Row<T>],
    pub z: &'a [Row<T>],
    pub tail: &'a [Row<T>; 6],
}

/// `decide` is called with the position of each bit and the sum of all information on the bit.
#[inline(always)]
pub fn decode<M: Metric>(
    metric: M,
    received: &Received<M::Item>,
    order: impl Fn(usize) -> usize,
    extrinsic: &mut [Row<M::Item>],
    alpha: &mut [[Row<M::Item>; STATES]],
    mut decide: impl FnMut(usize, M::Lanes),
) {
    forward(metric, received, &order, extrinsic, alpha);
    let mut beta = terminated(metric, received.tail);
    for (k, (alpha, z)) in alpha.iter().zip(received.z).enumerate().rev() {
        let place = order(k);
        let x = metric.add(metric.load(&received.x[place]), metric.load(&extrinsic[place]));
        let z = metric.load(z);
        let found = metric.scale(soft_output(metric, alpha, &beta, z));
        metric.store(found, &mut extrinsic[place]);
        decide(place, metric.add(x, found));
        let costs = Costs::new(metric, x, z);
        beta = for_states!(STATE => {
            let [zero, one] = const { [Branch::new(STATE, 0), Branch::new(STATE, 1)] };
            let zero = costs.extend(metric, beta[zero.to], zero);
            metric.max_star(zero, costs.extend(metric, beta[one.to], one))
        });
        normalise(metric, k, &mut beta);
    }
}

#[inline(always)]
fn forward<M: Metric>(
    metric: M,
    received: &Received<M::Item>,
    order: impl Fn(usize) -> usize,
    extrinsic: &[Row<M::Item>],
    alpha: &mut [[Row<M::Item>; STATES]],
) {
    let mut now = [metric.splat(M::IMPOSSIBLE); STATES];
    now[0] = metric.splat(M::Item::default());
    for (k, (alpha, z)) in alpha.iter_mut().zip(received.z).enumerate() {
        let place = order(k);
        for (row, &lanes) in alpha.iter_mut().zip(&now) {
            metric.store(lanes, row);
        }
        let x = metric.add(metric.load(&received.x[place]), metric.load(&extrinsic[place]));
        let costs = Costs::new(metric, x, metric.load(z));
        now = for_states!(STATE => {
            let [even, odd] = const { Branch::into(STATE) };
            let even = costs.extend(metric, now[even.from], even);
            metric.max_star(even, costs.extend(metric, now[odd.from], odd))
        });
        normalise(metric, k, &mut now);
    }
}

/// After the last bit, from the three steps that terminate the trellis in state 0.
#[inline(always)]
fn terminated<M: Metric>(metric: M, tail: &[Row<M::Item>; 6]) -> [M::Lanes; STATES] {
    let mut beta = [metric.splat(M::Item::default()); STATES];
    for step in tail.as_chunks::<2>().0.iter().rev() {
        let costs = Costs::new(metric, metric.load(&step[0]), metric.load(&step[1]));
        beta = for_states!(STATE => {
            let branch = const { Branch::tail(STATE) };
            costs.extend(metric, beta[branch.to], branch)
        });
    }
    beta
}

/// Every [`NORMALISE`] steps, by the metric of state 0.
#[inline(always)]
fn normalise<M: Metric>(metric: M, k: usize, paths: &mut [M::Lanes; STATES]) {
    if k.is_multiple_of(NORMALISE) {
        let zero = paths[0];
        for path in paths {
            *path = metric.sub(*path, zero);
        }
    }
}

/// Without the bit's own `Lx`.
#[inline(always)]
fn soft_output<M: Metric>(
    metric: M,
    alpha: &[Row<M::Item>; STATES],
    beta: &[M::Lanes; STATES],
    z: M::Lanes,
) -> M::Lanes {
    // Returns the metric of the best path through a branch with information bit `u` and parity bit
    // `z`, without the costs of that branch.
    macro_rules! best {
        ($u:literal, $z:literal) => {{
            let [a, b, c, d] = const {
                [
                    Branch::with($u, $z, 0),
                    Branch::with($u, $z, 1),
                    Branch::with($u, $z, 2),
                    Branch::with($u, $z, 3),
                ]
            }
            .map(|branch| metric.add(beta[branch.to], metric.load(&alpha[branch.from])));
            metric.max_star(metric.max_star(a, b), metric.max_star(c, d))
        }};
    }
    let zero = metric.max_star(best!(0, 0), metric.sub(best!(0, 1), z));
    let one = metric.max_star(best!(1, 0), metric.sub(best!(1, 1), z));
    metric.sub(zero, one)
}
