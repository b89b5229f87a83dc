//! Components for nodeb in a separate crate: one plug-in of each kind.
//!
//! Each plug-in is one file with its parameters and its state. [`register`] gives the plug-ins their names in
//! scenarios. After this call they are read, checked and listed like nodeb's own components.

pub mod aimd;
pub mod head_drop;
pub mod periodic;
pub mod quota;
pub mod urgent;

use nodeb_air::error::ErrorSpec;
use nodeb_air::mac::sched::SchedulerSpec;
use nodeb_net::QueueSpec;
use nodeb_radio::switching::policy::SwitchingSpec;
use nodeb_tcp::linux::control::CongestionSpec;

/// Registers all plug-ins of this crate. Must be called once, before the first scenario is read.
pub fn register() {
    SchedulerSpec::register::<urgent::Urgent>(
        "urgent",
        "The nearest deadline among users with a good channel.",
    );
    QueueSpec::register::<head_drop::HeadDrop>(
        "head_drop",
        "First in, first out; a full queue drops its oldest packet.",
    );
    ErrorSpec::register::<periodic::Periodic>("periodic", "One step in so many is an error.");
    SwitchingSpec::register::<quota::Quota>(
        "quota",
        "A channel is given back after so many packets if another user waits.",
    );
    CongestionSpec::register::<aimd::Aimd>(
        "aimd",
        "Grows by some segments per round trip, falls to a share at a loss.",
    );
}
