//! What users ask for.

pub mod ftp;

use crate::registry;

registry! {
    /// What a group of users does, as a scenario names it.
    "traffic" TrafficSpec {
        /// One file fetched from the server: connection set-up, request, then the bytes.
        "ftp" => Ftp(ftp::Ftp),
    }
}
