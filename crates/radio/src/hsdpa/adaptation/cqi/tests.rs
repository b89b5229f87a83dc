use nodeb_base::units::Probability;

use super::*;
use nodeb_air::cell::channel::ChannelSpec;
use nodeb_air::cell::channel::trace::{AtEnd, Trace};
use nodeb_air::cell::plan::Cell;
use nodeb_air::mac::harq::link_curve;
use nodeb_air::rlc::umts::payload::Payload;

const PAYLOAD: Payload = Payload { pdu_bytes: 40, segmented: false, block_header_bits: 21 };
const ALL: Limits = Limits { codes: 15, sharers: 1, units: 1_000 };

fn reporter(params: &CqiReports, category: u8) -> Reporter {
    let link = Link { payload: PAYLOAD, curves: &Curves::Formula, numerology: Numerology::HSDPA };
    params.build(category, &link, 0, &Streams::new(1, 0), &mut Vec::new())
}

fn sequence() -> JakesSequence {
    JakesSequence::new(&mut Streams::new(1, 0).stream("cell", 0, "fading"))
}

fn playing(snrs_db: Vec<f64>) -> Channel {
    let trace = Trace { at_end: Some(AtEnd::Stop), snrs_db: snrs_db.into(), ..Trace::default() };
    ChannelSpec::Trace(trace).build(&Cell::default(), 1, 0, &Streams::new(1, 0), Numerology::HSDPA)
}

#[test]
fn cqi_is_the_published_function_of_the_snr() {
    let reporter = reporter(&CqiReports::default(), 10);
    for tenth in -300..300 {
        let db = f64::from(tenth) / 10.0 + 0.003;
        let expected = match db {
            low if low <= -16.0 => 0.0,
            high if high >= 14.0 => 30.0,
            db => (db / 1.02 + 16.62).floor(),
        };
        let found = reporter.cqi_of(10f64.powf(db / 10.0) as f32);
        assert_eq!(found, expected as u8, "{db} dB");
    }
    assert_eq!([0.0, f32::MAX, f32::INFINITY].map(|snr| reporter.cqi_of(snr)), [0, 30, 30]);
}

/// From CQI 5 on, the lowest SNR of a CQI is within 0.035 CQIs of a BLER of 10 %.
#[test]
fn a_cqi_starts_where_its_block_fails_with_10_percent() {
    for cqi in 5..=30 {
        let db = 10.0 * f64::from(Rounding::Down.thresholds()[cqi]).log10();
        let exact = link_curve::snr_db(cqi as f64, 0.1);
        assert!((db - exact).abs() / STEP_DB < 0.035, "CQI {cqi}: {db} dB, {exact} dB");
    }
}

#[test]
fn reports_have_delay_and_cycle() {
    let params = CqiReports { cycle: Duration::from_millis(4), ..CqiReports::default() };
    let (mut reporter, sequence) = (reporter(&params, 10), sequence());
    // The SNR rises by one CQI per TTI, starting at CQI 5.5.
    let mut channel = playing((0..20).map(|tti| STEP_DB * (f64::from(tti) + 5.5 - CQI_AT_0_DB)).collect());
    let found: Vec<u8> = (3..10).map(|tti| reporter.report(&mut channel, &sequence, tti)).collect();
    assert_eq!(found, [5, 5, 7, 7, 9, 9, 11]);
}

#[test]
fn measurement_errors_have_the_configured_deviation() {
    let params = CqiReports { error_db: 2.04, delay: Duration::ZERO, ..CqiReports::default() };
    let (mut reporter, sequence) = (reporter(&params, 10), sequence());
    let mut channel = playing(vec![0.0; 50_000]);
    let all: Vec<f64> =
        (0..50_000).map(|tti| f64::from(reporter.report(&mut channel, &sequence, tti))).collect();
    let mean = all.iter().sum::<f64>() / 5e4;
    let sigma = (all.iter().map(|cqi| (cqi - mean).powi(2)).sum::<f64>() / 5e4).sqrt();
    // Rounding down reduces the mean by half a CQI and adds a variance of 1/12.
    assert!((mean - (CQI_AT_0_DB - 0.5)).abs() < 0.04, "{mean}");
    assert!((sigma - (4.0f64 + 1.0 / 12.0).sqrt()).abs() < 0.04, "{sigma}");
}

#[test]
fn offers_respect_codes_power_and_queue() {
    let reporter = reporter(&CqiReports::default(), 10);
    let units = |cqi, limits| reporter.offer(cqi, limits).map_or(0, |offer| offer.units);
    assert_eq!(units(30.0, ALL), 76);
    assert_eq!(units(0.0, ALL), 0);
    // The largest block with five codes is that of CQI 22. A quarter of the power lowers CQI 28 by
    // 5.9 CQIs, to 22.
    assert_eq!(units(30.0, Limits { codes: 5, ..ALL }), 21);
    assert_eq!(units(28.0, Limits { sharers: 4, ..ALL }), 21);
    // Two PDUs fit in the block of CQI 8, but in no smaller block.
    let small = reporter.offer(30.0, Limits { units: 2, ..ALL }).unwrap();
    assert_eq!((small.units, small.curve), (2, Some(8)));
    // No PDU of 40 bytes fits in the blocks of CQIs below 5.
    assert_eq!([3.0, 4.0, 5.0].map(|cqi| units(cqi, ALL)), [0, 0, 1]);
}

#[test]
fn the_outer_loop_balances_at_its_target() {
    let target = OuterLoop { target_bler: Probability(0.2), step_db: 0.51, ..OuterLoop::default() };
    let params = CqiReports { outer_loop: Some(target), ..CqiReports::default() };
    let mut reporter = reporter(&params, 10);
    let answer = |acknowledged| FirstAnswer { acknowledged, under_way: 1 };
    for acknowledged in [false, true, true, true, true] {
        reporter.on_answer(answer(acknowledged));
    }
    let shift = reporter.correction.unwrap().value;
    assert!(shift.abs() < 1e-6, "{shift}");
    reporter.on_answer(answer(false));
    (0..4).for_each(|_| reporter.on_answer(FirstAnswer { acknowledged: false, under_way: 4 }));
    assert_eq!(reporter.offer(16.0, ALL).unwrap().curve, Some(15));
}

fn own(rows: &[(u8, u32, u32)]) -> CqiReports {
    let table = rows.iter().map(|&(cqi, bits, codes)| Row { cqi, bits, codes }).collect();
    CqiReports { table, ..CqiReports::default() }
}

#[test]
fn a_user_defined_table_replaces_those_of_the_categories() {
    let reporter = reporter(&own(&[(1, 400, 1), (2, 800, 2)]), 1);
    let units = |cqi| reporter.offer(cqi, ALL).map(|offer| (offer.units, offer.codes, offer.curve));
    assert_eq!([units(0.0), units(1.0), units(2.0)], [None, Some((1, 1, Some(1))), Some((2, 2, Some(2)))]);
    assert_eq!(units(30.0), units(2.0));
}

#[test]
fn invalid_tables_are_rejected() {
    let problem = |rows: &[(u8, u32, u32)]| {
        let mut check = Check::default();
        own(rows).check(&mut check);
        check.into_problems().first().map_or(String::new(), |problem| problem.message.clone())
    };
    assert_eq!(problem(&[(1, 400, 1), (2, 800, 15)]), "");
    assert_eq!(problem(&[(1, 400, 1), (3, 800, 2)]), "CQI 3 follows CQI 1; expected 1, 2, ... up to 30");
    assert!(problem(&[(1, 400, 1), (2, 400, 2)]).contains("CQI 2 has 400 bits after 400; expected more"));
    assert_eq!(problem(&[(1, 400, 16)]), "CQI 1 has 16 codes; expected 1 to 15");
    assert!(problem(&[(1, 0, 1)]).contains("0 is out of range"));
}
