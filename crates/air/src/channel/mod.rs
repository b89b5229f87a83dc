pub mod ci;
