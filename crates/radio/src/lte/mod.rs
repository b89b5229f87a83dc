//! LTE of Releases 8 to 12, for FDD with the normal cyclic prefix.

// Not modelled: TS 36.101, 5.5: time division duplex
// Not modelled: TS 36.101, 5.6A: carrier aggregation
// Not modelled: TS 36.211, 6.3.4.2.1: closed-loop precoding, and more than four layers
// Not modelled: TS 36.211, 5.5.3; TS 36.213, 8.2: sounding: the base station knows the SNR of phones
// Not modelled: TS 36.211, 5.3.4; TS 36.213, 8.4: frequency hopping of PUSCH
// Not modelled: TS 36.212, 5.3.3; TS 36.213, 9.1: errors and size of grants
// Not modelled: TS 36.212, 5.1.4: redundancy versions, and limits of the soft buffer
// Not modelled: TS 36.213, 4.2.3; TS 36.321, 5.2: timing advance
// Not modelled: TS 36.213, 4.2.1; TS 36.331, 5.3.11: radio link failure
// Not modelled: TS 36.213, 5.1.1.1: commands of power control
// Not modelled: TS 36.213, 7.2: errors of CQI reports, subbands other than groups, and precoding matrices
// Not modelled: TS 36.213, 9.1.2, 10.1: errors of the uplink's answers, and load on PUCCH by answers and reports
// Not modelled: TS 36.321, 5.4.2.1: TTI bundling
// Not modelled: TS 36.321, 5.4.3: several bearers of a phone, and their priorities
// Not modelled: TS 36.321, 5.10.1: semi-persistent scheduling of the downlink
// Not modelled: TS 36.322, 5.1.1: transparent mode
// Not modelled: TS 36.322, 5.4: re-establishment of RLC
// Not modelled: TS 36.323, 5.2, 5.3: PDCP at handover
// Not modelled: TS 36.323, 5.5, 5.6: header compression and ciphering
// Not modelled: TS 36.331, 5.3.7: re-establishment of connections
// Not modelled: TS 36.331, 5.3.5, 5.5: handover and measurements
pub mod adaptation;
#[cfg(test)]
mod allowed;
pub mod bandwidth;
pub mod block_errors;
pub mod block_size;
mod build;
pub mod category;
pub mod coding;
pub mod compatible;
pub mod cqi;
pub mod curves;
pub mod drx;
pub mod effective;
pub mod formats;
pub mod mcs;
pub mod radio;
pub mod random_access;
pub mod reports;
pub mod resources;
pub mod rlc;
pub mod rrc;
pub mod site;
pub mod timing;
pub mod uplink;

pub use radio::Lte;
