//! Without combining, as in `wang` (2004), section 8.2.

nodeb_base::no_parameters! {
    /// H-ARQ type I has no parameters.
    NoCombining
}
