//! Quality of a user's channel as one value per TTI, which is given directly instead of computed
//! from an SNR.

pub mod ci;
