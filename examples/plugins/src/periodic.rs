//! An error model plug-in: one step in `every` is an error, as with a periodic interferer.

use std::num::NonZeroU32;

use nodeb_air::error::{ErrorParams, ErrorProcess};
use nodeb_base::check::{Check, Checked};
use nodeb_base::rng::Streams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of the error model `periodic`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periodic {
    /// Number of steps from one error to the next.
    pub every: NonZeroU32,
}

impl Checked for Periodic {
    fn check(&self, check: &mut Check) {
        check.require(self.every.get() > 1, "every", || {
            "every step would be an error, so nothing would ever arrive; expected at least 2".to_owned()
        });
    }
}

impl ErrorParams for Periodic {
    /// Returns the error process of one user, which starts at a random step of the period.
    fn build(&self, streams: &Streams, user: u64, _steps: u32) -> Box<dyn ErrorProcess> {
        let every = u64::from(self.every.get());
        let begins = streams.indexed("radio link", user, "errors: offset").uniform(0);
        Box::new(Interferer { every, at: (begins * every as f64) as u64 })
    }

    fn clean(&self, steps: u32) -> f64 {
        1.0 - f64::from(steps.min(self.every.get())) / f64::from(self.every.get())
    }
}

/// State of the error process of one user. `at` is the current step of the period, from 0.
#[derive(Debug)]
struct Interferer {
    every: u64,
    at: u64,
}

impl ErrorProcess for Interferer {
    fn next_is_error(&mut self) -> bool {
        self.skip(1);
        self.at == 0
    }

    fn skip(&mut self, steps: u64) {
        self.at = (self.at + steps % self.every) % self.every;
    }
}
