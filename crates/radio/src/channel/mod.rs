//! Quality of a user's channel given directly as a value per TTI, instead of computed from an SNR.

pub mod ci;
