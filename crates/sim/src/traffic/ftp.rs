//! Traffic of a user who downloads or uploads one file.

use nodeb_base::check::{Check, Checked};
use nodeb_base::units::{Duration, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{After, Source, Transfer};

/// Download of one file from the server, or upload of one file to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ftp {
    /// Size of the file, without headers.
    pub size: Size,
    /// Payload of the request. The ACK that completes the connection's set-up carries it; with
    /// `linux`, if the phone opens the connection and there is no proxy, it follows in its own
    /// packet. With 0 this ACK is the request. No effect in an upload.
    #[serde(default)]
    pub request: Size,
    /// Time that the server takes for its answer, from the arrival of the request. No effect in an
    /// upload.
    #[serde(default)]
    pub server_delay: Duration,
}

impl Checked for Ftp {
    fn check(&self, check: &mut Check) {
        check.require(self.size.0 > 0, "size", || {
            "0 B is out of range; expected a file of at least 1 B".to_owned()
        });
        check.require(self.request.0 <= 64_000, "request", || {
            format!("a request of {} does not fit one packet; expected at most 64 kB", self.request)
        });
    }
}

/// A download's request is sent with or after the ACK that completes the set-up.
#[derive(Debug)]
pub struct Once(Option<u64>);

impl Once {
    pub fn new(params: &Ftp) -> Self {
        Self(Some(params.size.0))
    }
}

impl Source for Once {
    fn next(&mut self) -> Option<Transfer> {
        let bytes = self.0.take()?;
        Some(Transfer {
            bytes,
            wait: Duration::ZERO,
            after: After::Beginning,
            request_bytes: None,
            is_last: true,
        })
    }
}
