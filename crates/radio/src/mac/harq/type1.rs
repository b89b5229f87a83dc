//! H-ARQ type I without combining, as in `wang` (2004), section 8.2.

no_parameters! {
    /// Parameters of H-ARQ type I: none.
    NoCombining
}
