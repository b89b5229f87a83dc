//! LTE of Releases 8 to 12, for FDD with the normal cyclic prefix.
//!
//! The downlink of a cell:
//!
//! - [`radio`]: keys of the radio `lte`, their checks, and its bearer;
//! - [`mac`]: transmission in TTIs; [`channel`], [`reports`], [`formats`] and [`block_errors`] give its
//!   SNRs, CQIs, blocks and errors;
//! - [`layers`]: SNRs of spatial multiplexing;
//! - [`site`], [`rlc`]: base station and RLC modes, as in a scenario.
//!
//! The uplink, in [`uplink`]: requests, reports, grants and transmission.
//!
//! Tables and closed forms of the specifications:
//!
//! - [`bandwidth`]: channel bandwidths and their resource blocks, groups and subbands;
//! - [`cqi`], [`mcs`], [`block_size`]: tables of link adaptation;
//! - [`coding`]: code blocks, CRCs and code rates;
//! - [`resources`]: resource elements that are left for data;
//! - [`adaptation`]: block sizes, peak rates and MCSs that follow from these tables;
//! - [`effective`]: effective SNR of blocks by MCS;
//! - [`curves`]: block error rates of the turbo code;
//! - [`category`]: capabilities of UE categories;
//! - [`timing`], [`random_access`]: subframes of HARQ, reports, scheduling requests and random
//!   access;
//! - [`allowed`], [`drx`], [`compatible`]: values and combinations that can be configured.

pub mod adaptation;
pub mod allowed;
pub mod bandwidth;
pub mod block_errors;
pub mod block_size;
pub mod category;
pub mod channel;
pub mod coding;
pub mod compatible;
pub mod cqi;
pub mod curves;
pub mod drx;
pub mod effective;
pub mod formats;
pub mod layers;
pub mod mac;
pub mod mcs;
pub mod radio;
pub mod random_access;
pub mod reports;
pub mod resources;
pub mod rlc;
pub mod site;
pub mod timing;
pub mod uplink;

pub use radio::Lte;
