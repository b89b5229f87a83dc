#[path = "../../../sim/tests/properties/cases.rs"]
#[allow(dead_code, reason = "shared with the property tests of the simulator")]
mod cases;
#[path = "../../../sim/tests/support/effective.rs"]
mod effective;
#[path = "../../../sim/tests/properties/errors.rs"]
#[allow(dead_code, reason = "shared with the property tests of the simulator")]
mod errors;
#[path = "../../../sim/tests/properties/keys.rs"]
#[allow(dead_code, reason = "shared with the property tests of the simulator")]
mod keys;

mod closed_forms;
mod reference;
mod unfinished;

use nodeb_explain::{Error, Path, explain};
use nodeb_sim::scenario::Direction;
use nodeb_sim::{Control, run};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};

use cases::Case;

fn config(cases: u32) -> Config {
    let asked = Config::default();
    Config { cases: (asked.cases * cases).div_ceil(256), failure_persistence: None, ..asked }
}

fn is_whole(path: &Path) -> Result<(), TestCaseError> {
    let mut at = path.begun;
    for span in &path.spans {
        prop_assert_eq!(span.begin, at, "before {:?}", span);
        prop_assert!(span.end > span.begin, "{:?}", span);
        at = span.end;
    }
    prop_assert_eq!(at, path.ended);
    let sum: u64 = path.spans.iter().map(|span| span.duration().0).sum();
    prop_assert_eq!(sum, path.ended.since(path.begun).0);
    Ok(())
}

/// Transfers 0, 1 and 4 if begun.
fn paths(case: &Case, user: u64) -> Result<Vec<Path>, TestCaseError> {
    let mut found = Vec::new();
    for transfer in [0, 1, 4] {
        match explain(&case.scenario, case.scenario.seed, 0, &Control::default(), (user, transfer)) {
            Ok(path) => found.push(path),
            Err(Error::NoTransfer { transfers, .. }) if transfers <= transfer => {}
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
    Ok(found)
}

proptest! {
    #![proptest_config(config(120))]

    /// Each span is consistent with the events, and the transfer takes as long as without explanation.
    #[test]
    fn every_nanosecond_has_one_cause(case in cases::any_scenario()) {
        let connections = case.scenario.connections();
        let uploads = (0u64..).zip(&connections).filter(|(_, of)| of.direction == Direction::Up);
        let users: Vec<u64> = (0..connections.len().min(2) as u64).chain(uploads.map(|(n, _)| n).take(2)).collect();
        let result = run(&case.scenario, case.scenario.seed, 0, &Control::default()).unwrap();
        let reference = reference::Reference::of(&case.scenario);
        for user in users {
            for path in paths(&case, user)? {
                is_whole(&path)?;
                reference.check(&path)?;
                let rows = result.series.transfers.iter();
                let rows = rows.filter(|row| row.user == user && row.begun == path.begun);
                for row in rows.filter(|row| row.bytes == path.bytes).take(1) {
                    prop_assert!(path.complete);
                    prop_assert_eq!(row.arrived, path.ended);
                }
            }
        }
    }
}
