use serde_json::json;

use super::*;

/// In Hz: a block holds one or two packets although capacity is linear in the SNR.
const LINEAR: f64 = 7e9;
const MEAN_SNR_DB: f64 = -30.0;

/// Of a TTI at capacity.
fn mean_bits(snr_db: f64) -> f64 {
    LINEAR * 2e-3 * 10f64.powf(snr_db / 10.0) / std::f64::consts::LN_2
}

/// Bits per TTI of each user.
fn throughput(scheduler: &serde_json::Value, means_db: &[f64]) -> Vec<f64> {
    let params = hsdpa(json!({
        "scheduler": scheduler, "pdu_size": "1500 B", "processes": 8,
        "link_adaptation": { "shannon": { "bandwidth_hz": LINEAR, "rate": "1 Gbps" } },
    }));
    let fading = |db: &f64| {
        ue(json!({ "category": 10, "channel": { "fading": { "mean_snr_db": db, "speed": "200 km/h" } } }))
    };
    let users: Vec<_> = means_db.iter().map(fading).collect();
    let (runs, ttis) = (6, 6_000);
    let mut bits = vec![0.0; users.len()];
    for run in 0..runs {
        let mut bench = Bench::new(&params, &users, run);
        bench.saturate(ttis, 40, 1_500);
        for (sum, bytes) in bits.iter_mut().zip(&bench.bytes) {
            *sum += *bytes as f64 * 8.0 / (ttis * runs) as f64;
        }
    }
    bits
}

fn harmonic(n: usize) -> f64 {
    (1..=n).map(|k| 1.0 / k as f64).sum()
}

fn within_3_percent(found: f64, expected: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < 0.03, "{what}: {found}, expected {expected}");
}

#[test]
fn equal_users_gain_the_harmonic_number() {
    let n = 6;
    let proportional_fair = json!({ "proportional_fair": { "window": "10 s" } });
    let gains = [
        (json!("round_robin"), 1.0),
        (json!("max_ci"), harmonic(n)),
        (proportional_fair, harmonic(n)),
        (json!("normalized"), harmonic(n)),
    ];
    for (scheduler, gain) in gains {
        let found: f64 = throughput(&scheduler, &vec![MEAN_SNR_DB; n]).iter().sum();
        within_3_percent(found, gain * mean_bits(MEAN_SNR_DB), &scheduler.to_string());
    }
}

/// Proportional fair multiplies each mean rate by the same gain; max C/I gives the expected SNR where a
/// user's is the largest.
#[test]
fn unequal_users_match_theory() {
    let means_db = [-30.0, -30.0, -33.010_3];
    let found = throughput(&json!({ "proportional_fair": { "window": "10 s" } }), &means_db);
    for (found, mean_db) in found.iter().zip(means_db) {
        within_3_percent(*found, harmonic(3) / 3.0 * mean_bits(mean_db), "proportional fair");
    }
    // Expected SNR of a user in the TTIs in which it is the largest, E[x; x is largest], for
    // exponential SNRs with means 1, 1 and 1/2, so with rate parameters 1, 1 and 2. By inclusion
    // and exclusion it is the sum of (-1)^|S| a / (a + r(S))^2 over all sets S of other users,
    // where a is the user's rate parameter and r(S) the sum of those in S.
    let share = |a: f64, others: [f64; 2]| {
        let term = |rates: f64| a / (a + rates).powi(2);
        term(0.0) - term(others[0]) - term(others[1]) + term(others[0] + others[1])
    };
    let expected = [share(1.0, [1.0, 2.0]), share(1.0, [1.0, 2.0]), share(2.0, [1.0, 1.0])];
    let found = throughput(&json!("max_ci"), &means_db);
    for (found, expected) in found.iter().zip(expected) {
        within_3_percent(*found, expected * mean_bits(-30.0), "Max C/I");
    }
}
