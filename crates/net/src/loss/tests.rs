//! Tests of losses: they agree with closed forms, and scenarios set them in each notation.

use super::gilbert_elliott::GilbertElliott;
use super::*;

fn setting(text: &str) -> Result<LossSetting, toml::de::Error> {
    #[derive(Deserialize)]
    struct Link {
        loss: LossSetting,
    }
    toml::from_str::<Link>(text).map(|link| link.loss)
}

fn lost(setting: &LossSetting, run: u64, packets: u64) -> Vec<u64> {
    let mut loss = setting.build(&Streams::new(1, run), "wired", 0);
    (0..packets).filter(|&position| loss.loses(position, true)).collect()
}

#[test]
fn a_bare_number_is_independent_loss() {
    let bare = setting("loss = 0.02").unwrap();
    assert_eq!(bare, LossSetting::Independent(Probability(0.02)));
    // A loss given as a number and the model `random` draw the same losses as `ErrorGaps`.
    let mut gaps = ErrorGaps::new(0.02, Streams::new(1, 0).stream("wired", 0, "loss"));
    let expected: Vec<u64> = (0..10_000).filter(|_| gaps.next_is_error()).collect();
    assert_eq!(lost(&bare, 0, 10_000), expected);
    assert_eq!(lost(&setting("loss.random.p = 0.02").unwrap(), 0, 10_000), expected);
    assert!(setting("loss = 0").unwrap().is_none());
}

#[test]
fn periodic_and_listed_losses_are_exact() {
    assert_eq!(lost(&setting("loss.periodic.every = 4").unwrap(), 0, 10), [0, 4, 8]);
    let late = setting("loss.periodic = { every = 3, offset = 5 }").unwrap();
    assert_eq!(lost(&late, 0, 12), [5, 8, 11]);
    assert_eq!(lost(&setting("loss.list.positions = [7, 2, 2]").unwrap(), 0, 10), [2, 7]);
}

#[test]
fn data_list_counts_only_data_segments() {
    let setting = setting("loss.data_list.positions = [3, 0, 2, 2]").unwrap();
    let mut loss = setting.build(&Streams::new(1, 0), "link", 0);
    // The packets are a SYN, its retransmission, a data segment, an empty ACK and three data
    // segments.
    let payloads = [false, false, true, false, true, true, true];
    let gone: Vec<bool> = (0..).zip(payloads).map(|(at, payload)| loss.loses(at, payload)).collect();
    assert_eq!(gone, [true, false, false, false, true, true, false]);
}

#[test]
fn invalid_losses_are_rejected_with_the_valid_range() {
    let message = |text| setting(text).unwrap_err().to_string();
    assert!(message("loss = 1.5").contains("not a probability"));
    assert!(message("loss.periodc.every = 4").contains("periodic"));
    assert!(message("loss = \"random\"").contains('p'));
    assert!(message("loss = true").contains("a probability from 0 to 1, or a loss model"));
    for impossible in [
        "loss = 1.0",
        "loss.random.p = 1.0",
        "loss.periodic.every = 1",
        "loss.gilbert_elliott = { p = 0.1, r = 0.0 }",
    ] {
        let mut check = Check::default();
        setting(impossible).unwrap().check_within("loss", &mut check);
        assert_eq!(check.into_problems().len(), 1, "{impossible}");
    }
}

#[test]
fn settings_survive_writing_and_reading() {
    #[derive(Serialize)]
    struct Link {
        loss: LossSetting,
    }
    for text in ["loss = 0.02", "loss.periodic = { every = 3, offset = 5 }", "loss.list.positions = [1, 4]"] {
        let loss = setting(text).unwrap();
        let written = toml::to_string(&Link { loss: loss.clone() }).unwrap();
        assert_eq!(setting(&written).unwrap(), loss, "{written}");
    }
    let schema = serde_json::Value::from(schemars::schema_for!(LossSetting));
    assert_eq!(schema["anyOf"][0]["$ref"], "#/$defs/Probability");
    assert_eq!(schema["anyOf"][1]["$ref"], "#/$defs/LossSpec");
}

#[test]
fn bursts_match_the_length_and_loss_of_the_chain() {
    // If every packet in the bad state is lost and none in the good state, losses come in bursts of
    // geometric length with mean 1 / r.
    let params = GilbertElliott {
        p: Probability(0.01),
        r: Probability(0.25),
        loss_in_good: Probability(0.0),
        loss_in_bad: Probability(1.0),
    };
    let packets = 2_000_000;
    let lost = lost(&LossSetting::Model(LossSpec::GilbertElliott(params)), 0, packets);
    let bursts = 1 + lost.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
    let length = lost.len() as f64 / bursts as f64;
    let sigma = (0.75f64 / 0.0625 / bursts as f64).sqrt();
    assert!((length - 4.0).abs() < 4.0 * sigma, "{length}");
    assert!((params.mean_loss() - 1.0 / 26.0).abs() < 1e-12);
    within_bounds(&params, lost.len(), packets);
}

/// Checks that the number of losses is within four standard deviations of the mean. The variance
/// takes into account that the states of two packets at a distance of `k` packets are correlated by
/// `(1 - p - r)^k`.
fn within_bounds(params: &GilbertElliott, lost: usize, packets: u64) {
    let (p, r, n) = (params.p.0, params.r.0, packets as f64);
    let (mean, memory) = (params.mean_loss(), 1.0 - p - r);
    let difference = params.loss_in_bad.0 - params.loss_in_good.0;
    let of_states = difference.powi(2) * p * r / (p + r).powi(2);
    let variance = n * (mean * (1.0 - mean) + 2.0 * of_states * memory / (1.0 - memory));
    assert!((lost as f64 - n * mean).abs() < 4.0 * variance.sqrt(), "{lost} of {}", n * mean);
}

#[test]
fn losses_in_both_states_match_the_chain() {
    for (p, r, good, bad) in [(0.05, 0.2, 0.01, 0.4), (0.3, 0.9, 0.2, 0.0), (0.0, 0.5, 0.1, 1.0)] {
        let params = GilbertElliott {
            p: Probability(p),
            r: Probability(r),
            loss_in_good: Probability(good),
            loss_in_bad: Probability(bad),
        };
        let lost = lost(&LossSetting::Model(LossSpec::GilbertElliott(params)), 3, 500_000);
        within_bounds(&params, lost.len(), 500_000);
    }
}

#[test]
fn the_first_state_is_drawn_from_the_stationary_distribution() {
    let text = "loss.gilbert_elliott = { p = 0.2, r = 0.2 }";
    let first = (0..2_000).filter(|&run| !lost(&setting(text).unwrap(), run, 1).is_empty()).count();
    assert!((first as f64 - 1_000.0).abs() < 4.0 * 500f64.sqrt(), "{first}");
}
