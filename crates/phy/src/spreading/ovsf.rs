//! TS 25.213, 4.3.1.1.

/// Returns code number `number` of spreading factor `factor`, a power of two, as +1 and -1.
///
/// # Panics
///
/// Panics if the factor is not a power of two or has no such code.
pub fn code(factor: usize, number: usize) -> Vec<f32> {
    assert!(factor.is_power_of_two() && number < factor, "C_ch,{factor},{number}");
    let levels = factor.trailing_zeros();
    // Each level of the code tree doubles the code, and an odd branch negates the second half. So
    // the sign of a chip is the parity of the odd branches in whose second half the chip lies.
    let negative = |chip: usize| {
        (0..levels).filter(|&i| number >> i & 1 == 1 && chip >> (levels - 1 - i) & 1 == 1).count() % 2
    };
    (0..factor).map(|chip| 1.0 - 2.0 * negative(chip) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TS 25.213, 4.3.1.1, as defined.
    fn by_recursion(factor: usize, number: usize) -> Vec<f32> {
        if factor == 1 {
            return vec![1.0];
        }
        let half = by_recursion(factor / 2, number / 2);
        let sign = if number % 2 == 1 { -1.0 } else { 1.0 };
        half.iter().copied().chain(half.iter().map(|chip| sign * chip)).collect()
    }

    #[test]
    fn codes_match_the_recursion() {
        for factor in [1, 2, 4, 8, 64, 256] {
            for number in 0..factor {
                assert_eq!(code(factor, number), by_recursion(factor, number), "C_ch,{factor},{number}");
            }
        }
    }

    #[test]
    fn codes_of_one_factor_are_orthogonal() {
        for a in 0..64 {
            for b in 0..64 {
                let product: f32 = code(64, a).iter().zip(code(64, b)).map(|(x, y)| x * y).sum();
                assert_eq!(product, if a == b { 64.0 } else { 0.0 });
            }
        }
    }

    /// Unless one is an ancestor of the other in the code tree.
    #[test]
    fn data_and_control_channel_are_orthogonal() {
        let control = code(256, 0);
        for factor in [4, 8, 16, 32, 64, 128, 256] {
            let data = code(factor, factor / 4);
            for (at, symbol) in control.chunks(factor).enumerate() {
                assert_eq!(symbol.iter().zip(&data).map(|(x, y)| x * y).sum::<f32>(), 0.0, "{factor}, {at}");
            }
        }
    }
}
