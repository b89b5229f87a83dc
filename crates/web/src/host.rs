//! Of the page; outside a browser they do nothing.

use std::panic::set_hook;
use std::sync::Once;

#[cfg(target_arch = "wasm32")]
#[allow(unsafe_code, reason = "functions of another language")]
mod imported {
    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        fn progress(fraction: f64);
        fn panicked(message: *const u8, bytes: usize);
    }

    /// 0 to 1.
    pub fn report_progress(fraction: f64) {
        // SAFETY: the function takes a number and does not access the module's memory.
        unsafe { progress(fraction) }
    }

    pub fn report_panic(message: &str) {
        // SAFETY: the address and length are those of a text that lives until the function returns.
        unsafe { panicked(message.as_ptr(), message.len()) }
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod imported {
    pub fn report_progress(_: f64) {}
    pub fn report_panic(_: &str) {}
}

pub use imported::report_progress;

/// Later calls have no effect. A panic ends the module: it has no stack unwinding, so the worker that holds it must be
/// replaced.
pub fn report_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_hook(Box::new(|panic| imported::report_panic(&panic.to_string()))));
}
