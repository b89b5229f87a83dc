//! Supplied by the driver of an emulation.

use nodeb_base::check::Checked;
use nodeb_base::params;

params! {
    /// Packets of a real host or another program, in both directions. Only a simulation that is
    /// driven from outside, as by `nodeb emulate`, accepts such users.
    pub struct External {}
}

impl Checked for External {}
