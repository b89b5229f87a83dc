//! Large-delay cyclic delay diversity (TS 36.211, 6.3.4.2), without reported precoders: `L` layers are
//! multiplied by `W D U`, where `U` is a discrete Fourier transform, `D` permutes its columns from element to
//! element, and the precoder `W` changes after every `L` elements. So each layer passes through all columns
//! of `W U` for all `W`.

use std::f64::consts::TAU;

use super::MAX_PORTS;

/// Columns of `W U`, one for each layer, with the factor of each port; they are orthonormal.
pub type Precoder = Vec<[(f32, f32); MAX_PORTS]>;

/// `u` of precoders 12 to 15 for four ports, `W = I - 2 u u^H / u^H u` (TS 36.211, table 6.3.4.2.3-2).
const VECTORS: [[f64; MAX_PORTS]; 4] =
    [[1.0, -1.0, -1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [1.0, 1.0, 1.0, 1.0]];

/// Columns of precoders 12 to 15 that 2, 3 and 4 layers use (TS 36.211, table 6.3.4.2.3-2).
const COLUMNS: [[&[usize]; 4]; 3] = [
    [&[0, 1], &[0, 2], &[0, 2], &[0, 1]],
    [&[0, 1, 2], &[0, 1, 2], &[0, 1, 2], &[0, 1, 2]],
    [&[0, 1, 2, 3], &[0, 2, 1, 3], &[2, 1, 0, 3], &[0, 1, 2, 3]],
];

/// Two ports have one precoder, the identity (TS 36.211, 6.3.4.2.2).
pub fn precoders(ports: usize, layers: usize) -> Vec<Precoder> {
    let unit = |row: usize, column: usize| f64::from(u8::from(row == column));
    if ports == 2 {
        return vec![transformed(2, layers, unit)];
    }
    let precoder = |(u, columns): (&[f64; MAX_PORTS], &[usize])| {
        transformed(ports, layers, |port, layer| {
            unit(port, columns[layer]) - 2.0 * u[port] * u[columns[layer]] / 4.0
        })
    };
    VECTORS.iter().zip(COLUMNS[layers - 2]).map(precoder).collect()
}

/// `W U`, with `w` by port and layer.
fn transformed(ports: usize, layers: usize, w: impl Fn(usize, usize) -> f64) -> Precoder {
    let element = |port: usize, column: usize| {
        let (mut re, mut im) = (0.0, 0.0);
        for layer in 0..layers {
            let (sin, cos) = libm::sincos(-TAU * (layer * column) as f64 / layers as f64);
            let factor = w(port, layer) / libm::sqrt(layers as f64);
            (re, im) = (re + factor * cos, im + factor * sin);
        }
        (re as f32, im as f32)
    };
    let column =
        |column| std::array::from_fn(|port| if port < ports { element(port, column) } else { (0.0, 0.0) });
    (0..layers).map(column).collect()
}
