use super::*;
use crate::lte::coding::{code_blocks, filler_bits};

fn row(index: u8) -> Vec<u32> {
    (1..=MAX_BLOCKS as u16).map(|blocks| one_layer(index, blocks).unwrap()).collect()
}

#[test]
fn rows_are_numbered() {
    for index in 0..INDICES {
        assert_eq!(ONE_LAYER[index * (MAX_BLOCKS + 1)], index as u32);
    }
}

// Tests the feature: transport block sizes (standard's table)
#[test]
fn sizes_match_published_entries() {
    assert_eq!(one_layer(0, 1), Some(16));
    assert_eq!(one_layer(6, 1), Some(328));
    assert_eq!(one_layer(26, 50), Some(36_696));
    assert_eq!(one_layer(26, 100), Some(75_376));
    assert_eq!(one_layer(33, 100), Some(97_896));
    assert_eq!(
        [1, 2, 3, 4].map(|layers| bits(26, 100, layers).unwrap()),
        [75_376, 149_776, 226_416, 299_856]
    );
    assert_eq!(bits(33, 100, 2), Some(195_816));
}

#[test]
fn nothing_exists_outside_of_the_tables() {
    for (index, blocks, layers) in [(34, 1, 1), (0, 0, 1), (0, 111, 1), (0, 1, 0), (0, 1, 5), (33, 100, 3)] {
        assert_eq!(bits(index, blocks, layers), None);
    }
}

#[test]
fn sizes_are_whole_bytes() {
    assert!((0..34).flat_map(row).chain(MORE_LAYERS).all(|bits| bits.is_multiple_of(8)));
}

#[test]
fn sizes_grow_with_the_blocks() {
    let smaller = |index| row(index).windows(2).position(|pair| pair[0] > pair[1]);
    for index in 0..34 {
        assert_eq!(smaller(index), (index == 6).then_some(0), "I_TBS {index}");
    }
}

/// Except the 328 bits of I_TBS 6 in one resource block; I_TBS 27 is between 25 and 26, as 26 belongs to MCS
/// 28 of the tables up to 64QAM alone.
#[test]
fn sizes_grow_with_the_index() {
    for index in (1..34).filter(|&index| index != 27) {
        for (blocks, (lower, upper)) in (1..).zip(row(index - 1).into_iter().zip(row(index))) {
            let exception = index == 7 && blocks == 1;
            assert_eq!(lower > upper, exception, "I_TBS {index}, {blocks} blocks");
        }
    }
    let pairs = row(25).into_iter().zip(row(26)).zip(row(27));
    assert!(pairs.into_iter().all(|((at_25, at_26), at_27)| at_25 <= at_27 && at_27 <= at_26));
}

// Tests the feature: code blocks and CRCs (standard's table)
/// Sizes from 16 bits on need no filler bits (TS 36.212, 5.1.2).
#[test]
fn code_blocks_are_full() {
    for bits in (0..34).flat_map(row).chain(MORE_LAYERS).filter(|&bits| bits >= 16) {
        assert_eq!(filler_bits(bits), 0, "{bits} bits in {} code blocks", code_blocks(bits));
    }
}

// Tests the feature: transport block sizes (property)
/// A translated size differs by less than 2.2 % from the size on one layer times the layers.
#[test]
fn translations_are_complete_and_near_the_sum() {
    for layers in 1..=MAX_LAYERS {
        for (index, blocks) in (0..27).flat_map(|index| (1..=110).map(move |blocks| (index, blocks))) {
            let all = f64::from(bits(index, blocks, layers).unwrap());
            let sum = f64::from(one_layer(index, blocks).unwrap() * u32::from(layers));
            let wide = blocks * u16::from(layers) <= 110;
            assert!(wide || (all / sum - 1.0).abs() < 0.022, "{layers} layers, {index}, {blocks}: {all}");
        }
    }
}

#[test]
fn translations_grow() {
    let (rows, rest) = MORE_LAYERS.as_chunks::<4>();
    assert!(rest.is_empty());
    for layer in 0..4 {
        let sizes: Vec<u32> = rows.iter().map(|row| row[layer]).filter(|&bits| bits > 0).collect();
        assert!(sizes.windows(2).all(|pair| pair[0] <= pair[1]));
    }
}
