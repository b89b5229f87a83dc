//! H-ARQ type I, in which each transmission of a block is decoded without combining it with earlier
//! ones, as in `wang` (2004), section 8.2.

no_parameters! {
    /// H-ARQ type I has no parameters.
    NoCombining
}
