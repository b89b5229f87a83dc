//! H-ARQ type I, in which each transmission of a block is decoded without combining it with earlier
//! ones, as in `wang` (2004), section 8.2.

no_parameters! {
    /// Parameters of H-ARQ type I, of which there are none.
    NoCombining
}
