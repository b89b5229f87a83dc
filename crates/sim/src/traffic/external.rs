//! Traffic from outside: a user whose packets nobody here makes up.

use nodeb_base::check::Checked;
use nodeb_base::params;

params! {
    /// A user whose packets come from outside, both ways: a real host, or another program. Only a world
    /// that is driven from outside has such users.
    pub struct External {}
}

impl Checked for External {}
