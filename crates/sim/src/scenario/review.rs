//! All problems at once, for an editor.

use nodeb_base::check::{Check, Checked, Problem};
use toml::de::DeTable;

use super::Scenario;
use super::read::{self, Place};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// From 1; `None` if the finding belongs to no line.
    pub line: Option<usize>,
    /// Dotted path, such as `users.0.traffic`; may be empty.
    pub key: String,
    /// What is wrong, and what is expected.
    pub message: String,
}

#[derive(Debug, Default)]
pub struct Review {
    /// `None` if the text has problems that prevent its simulation.
    pub scenario: Option<Scenario>,
    /// If the text cannot be read, only the first.
    pub problems: Vec<Finding>,
    /// Doubtful values, which are allowed.
    pub warnings: Vec<Finding>,
    /// Keys without effect that have their defaults.
    pub superfluous: Vec<Finding>,
}

/// Reads and checks a scenario's TOML text, ignoring a `[sweep]` table.
///
/// # Examples
///
/// ```
/// use nodeb_sim::scenario::review;
///
/// let found = review("radio.dch.bler = 2\nusers = [{ traffic.ftp.size = \"50 kB\" }]");
/// assert_eq!((found.problems[0].line, &*found.problems[0].key), (Some(1), "radio.dch.bler"));
/// ```
pub fn review(text: &str) -> Review {
    let scenario = match read::unchecked(text) {
        Ok(scenario) => scenario,
        Err(problem) => return Review { problems: vec![problem], ..Review::default() },
    };
    let document = DeTable::parse(text).ok();
    let document = document.as_ref().map(toml::Spanned::get_ref);
    let finding = |problem: Problem, place: Place| Finding {
        line: document.and_then(|document| read::line_in(text, document, &problem.path, place)),
        key: problem.path.join("."),
        message: problem.message,
    };
    let mut checks = [Check::default(), Check::default(), Check::default()];
    for check in &mut checks {
        scenario.check(check);
    }
    let [problems, doubts, idle] = checks;
    let mut problems: Vec<Finding> =
        problems.into_problems().into_iter().map(|one| finding(one, Place::Nearest)).collect();
    let refused = scenario.unread_file().or_else(|| scenario.external_users());
    if let Some(refused) = refused.filter(|_| problems.is_empty()) {
        problems.push(of_message(&refused, |path| finding(path, Place::Nearest)));
    }
    Review {
        warnings: doubts.into_doubts().into_iter().map(|one| finding(one, Place::Nearest)).collect(),
        superfluous: idle
            .into_idle()
            .into_iter()
            .map(|one| finding(one, Place::Key))
            .filter(|one| one.line.is_some())
            .collect(),
        scenario: problems.is_empty().then_some(scenario),
        problems,
    }
}

/// "key: text"; without ": " there is no key.
fn of_message(message: &str, finding: impl Fn(Problem) -> Finding) -> Finding {
    let (key, message) = message.split_once(": ").unwrap_or(("", message));
    let path = key.split('.').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    finding(Problem { path, message: message.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "[[users]]\ntraffic.ftp.size = \"50 kB\"\n";

    #[test]
    fn lists_every_problem_with_its_line() {
        let found = review(&format!("runs = 2000000\nradio.dch.bler = 0.1\nduration = \"0 s\"\n{USERS}"));
        assert!(found.scenario.is_none());
        let places: Vec<_> = found.problems.iter().map(|one| (one.line, &*one.key)).collect();
        assert_eq!(&places[..2], [(Some(1), "runs"), (Some(3), "duration")]);
    }

    #[test]
    fn names_the_line_of_a_text_that_is_not_toml() {
        let found = review("radio.dch.bler = 0.1\nusers = [");
        assert_eq!(found.problems.len(), 1);
        assert_eq!(found.problems[0].line, Some(2));
    }

    #[test]
    fn names_an_unknown_key_with_its_line() {
        let found = review(&format!("radio.dch.blr = 0.1\n{USERS}"));
        assert_eq!((found.problems[0].line, &*found.problems[0].key), (Some(1), "radio.dch.blr"));
        assert!(found.problems[0].message.contains("did you mean `bler`?"));
    }

    #[test]
    fn has_the_scenario_without_the_sweep_if_nothing_is_wrong() {
        let found = review(&format!("radio.dch.bler = 0.1\n{USERS}[sweep]\n\"runs\" = [1, 2]\n"));
        assert!(found.problems.is_empty() && found.scenario.is_some());
    }

    #[test]
    fn lists_keys_without_effect_by_line() {
        let text =
            format!("runs = 2\nradio.hsdpa.link_adaptation = \"shannon\"\nradio.hsdpa.codes = 15\n{USERS}");
        let found = review(&text);
        assert_eq!(found.problems, []);
        let places: Vec<_> = found.superfluous.iter().map(|one| (one.line, &*one.key)).collect();
        assert_eq!(places, [(Some(3), "radio.hsdpa.codes")]);
    }

    #[test]
    fn refuses_packets_from_outside() {
        let found = review("radio.dch = {}\n[[users]]\ntraffic = \"external\"\n");
        assert_eq!((found.problems[0].line, &*found.problems[0].key), (Some(3), "users.0.traffic"));
    }
}
