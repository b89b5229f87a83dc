use super::*;

fn message(text: &str) -> String {
    Curves::parse(text).unwrap_err()
}

fn with_points(points: &str) -> String {
    format!("# A comment.\n{}\n{points}", text::COLUMNS)
}

#[test]
fn invalid_files_are_rejected_with_their_place() {
    assert!(message("").starts_with("the text is empty; expected the columns"));
    assert!(message("# A comment.\nsnr,bler\n").starts_with("line 2 is \"snr,bler\"; expected the columns"));
    assert_eq!(message(&with_points("")), "there are no points; expected at least one curve");
    let of_line = [
        ("2,40,80,1", "4 values; expected 6: order,"),
        ("3,40,80,1,10,10", "the order is 3; expected 2, 4, 6 or 8"),
        ("2,x,80,1,10,10", "k is x; expected a whole number, at least 1"),
        ("2,40,40,1,10,10", "channel_bits is 40; expected a whole number, at least 41"),
        ("2,40,80,99,10,10", "snr_db is 99; expected -39 to 39"),
        ("2,40,80,nan,10,10", "snr_db is nan; expected -39 to 39"),
        ("2,40,80,1,10,11", "11 errors in 10 blocks; expected at most as many"),
    ];
    for (line, problem) in of_line {
        let found = message(&with_points(line));
        assert!(found.starts_with(&format!("line 3: {problem}")), "{found}");
    }
    let of_curve = [
        ("2,40,80,1,10,10\n2,40,80,1,10,0", "has 1 dB after 1 dB; expected rising SNRs"),
        ("2,40,80,1,10,10\n2,40,80,2,10,2", "ends at a rate of 0.200; expected points down to 0.1 or less"),
        ("2,40,80,1,10,5\n2,40,80,2,10,0", "begins at a rate of 0.500; expected points from 0.9 on"),
    ];
    for (points, problem) in of_curve {
        let expected = format!("the curve of order 2, k 40, channel_bits 80 {problem}");
        assert_eq!(message(&with_points(points)), expected);
    }
    let split = "2,40,80,1,10,10\n2,48,80,1,10,10\n2,40,80,2,10,0";
    assert!(message(&with_points(split)).starts_with("line 5: its curve has points above"));
}

/// From 99 % to 1 % within 2 dB: 50 % in the middle.
#[test]
fn a_single_curve_is_enough() {
    let curves = Curves::parse(&with_points("4,100,200,3,100,99\n4,100,200,5,100,1\n")).unwrap();
    let format =
        Format { modulation: Modulation::Qam16, code_blocks: 1, code_block_bits: 100.0, code_rate: 0.5 };
    let half = curves.of(&format).unwrap();
    assert!((10.0 * half.snr(0.5).log10() - 4.0).abs() < 0.02, "{}", half.snr(0.5));
    assert!((half.at(10f32.powf(0.5)) - 0.01).abs() < 1e-3);
    assert!(curves.of(&Format { modulation: Modulation::Qpsk, ..format }).is_none());
    let never = curves.of(&Format { code_rate: 1.0, ..format }).unwrap();
    assert!(never.at(1e6) > 0.999 && never.snr(0.1).is_infinite());
}

/// Within four standard errors plus a tenth of the rate plus 0.001.
#[test]
fn tables_return_the_simulated_points() {
    let curves = Curves::parse(TURBO).unwrap();
    for curve in text::parse(TURBO).unwrap() {
        let format = Format {
            modulation: curve.modulation,
            code_blocks: 1,
            code_block_bits: f64::from(curve.size),
            code_rate: curve.rate(),
        };
        let table = curves.of(&format).unwrap();
        for point in &curve.points {
            let rate = point.errors as f64 / point.blocks as f64;
            let found = f64::from(table.at(10f64.powf(point.snr_db / 10.0) as f32));
            let error = (rate * (1.0 - rate) / point.blocks as f64).sqrt();
            assert!((found - rate).abs() < 4.0 * error + 0.1 * rate + 1e-3, "{format:?}, {point:?}: {found}");
        }
    }
}

/// Otherwise interpolation between rates would not be monotone.
#[test]
fn information_rises_with_the_rate() {
    for family in &Curves::parse(TURBO).unwrap().families {
        for (size, curves) in &family.prepared().sizes {
            for pair in curves.windows(2) {
                let rising = pair[0].missing.iter().zip(&pair[1].missing).all(|(low, high)| low > high);
                assert!(
                    rising,
                    "{:?}, {size} bits: {} and {}",
                    family.modulation, pair[0].rate, pair[1].rate
                );
            }
        }
    }
}
